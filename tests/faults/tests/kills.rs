//! Builds that are killed, with the compilers that they run, at random moments: the next build is right.

use faults::{Fixture, References, VARIANTS, for_seeds};
use std::{
    os::unix::process::CommandExt as _,
    process::{Child, Command, Stdio},
    thread,
};
use test_support::Random;

/// Kills in CI.
const KILLS: u64 = 20;

/// Builds of a fixture that are killed.
struct Killing {
    fixture: Fixture,
    references: References,
}

impl Killing {
    fn of(fixture: Fixture) -> Self {
        let references = References::of(&fixture);
        Self { fixture, references }
    }

    /// The store and the outputs before a kill: nothing, or what a build of other sources has left.
    fn prepare(&self, random: &mut Random) {
        let other = random.below(VARIANTS);
        self.fixture.clear();
        match random.below(4) {
            0 => self.fixture.take_store(&self.references, other),
            1 => self.fixture.take_outputs(&self.references, other),
            _ => {}
        }
        self.fixture.set_variant(random.below(VARIANTS));
    }

    /// Kills a build after a part of the time that one takes.
    fn kill_one(&self, random: &mut Random) {
        let mut command = self.fixture.command();
        command.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let mut child = command.spawn().expect("the build script");
        let part = random.below(1_100) as u32;
        thread::sleep(self.references.time * part / 1_000);
        kill_group(&mut child);
    }
}

/// Kills a process and those that it has started.
fn kill_group(child: &mut Child) {
    let group = format!("-{}", child.id());
    // It may have ended.
    let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
    child.wait().expect("the child is waited for once");
}

#[test]
fn after_a_kill_the_next_build_is_right() {
    let program = env!("CARGO_BIN_EXE_faults");
    let Some(whole) = Fixture::new(program).map(Killing::of) else { return };
    let in_rust = Killing::of(Fixture::in_rust(program));
    for_seeds("kills, three of four of builds in Rust alone", KILLS, |seed, random| {
        let killing = if seed % 4 == 0 { &whole } else { &in_rust };
        killing.prepare(random);
        killing.kill_one(random);
        let variant = random.below(VARIANTS);
        killing.fixture.set_variant(variant);
        killing.fixture.build_is_right(&killing.references, variant);
    });
}
