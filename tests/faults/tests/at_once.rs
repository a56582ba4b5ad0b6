//! Several builds at once on one store that is empty: all are right, also those beside one that is killed, and those
//! whose store is cleared all the time.

use faults::{Built, Fixture, References, VARIANTS, entries, for_seeds, remove};
use std::{
    collections::BTreeSet,
    fs::DirBuilder,
    io::Write as _,
    os::unix::{
        fs::{DirBuilderExt as _, symlink},
        process::CommandExt as _,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
};

/// Groups of builds in CI.
const GROUPS: u64 = 1;

/// Builds of a group, which begin together.
const BUILDS: usize = 4;

/// Starts a build on the store of another fixture, in a process group of its own.
fn start(fixture: &Fixture, store_of: &Fixture) -> Child {
    let mut command = fixture.command();
    command.env("XDG_CACHE_HOME", store_of.cache()).process_group(0);
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the build script")
}

#[test]
fn builds_at_once_on_an_empty_store_are_right() {
    let program = env!("CARGO_BIN_EXE_faults");
    let fixtures: Option<Vec<_>> = (0..BUILDS).map(|_| Fixture::new(program)).collect();
    let Some(fixtures) = fixtures else { return };
    let (first, references) = (&fixtures[0], References::of(&fixtures[0]));
    for_seeds("groups of four builds", GROUPS, |_, random| {
        first.clear();
        let variants: Vec<_> = fixtures.iter().map(|_| random.below(VARIANTS)).collect();
        for (fixture, variant) in fixtures.iter().zip(&variants) {
            remove(&fixture.out());
            fixture.set_variant(*variant);
        }
        let builds: Vec<_> = fixtures.iter().map(|fixture| start(fixture, first)).collect();
        let killed = random.below(BUILDS);
        thread::sleep(references.time * random.below(2_000) as u32 / 1_000);
        let group = format!("-{}", builds[killed].id());
        // It may have ended.
        let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
        for (number, build) in builds.into_iter().enumerate() {
            let output = build.wait_with_output().expect("a build ends");
            let messages = String::from_utf8_lossy(&output.stderr);
            if number != killed {
                assert!(output.status.success(), "{:?}: {messages}", output.status);
                references.compare(variants[number], &fixtures[number].outputs());
            }
        }
        first.verify();
        first.set_variant(variants[0]);
        first.build_is_right(&references, variants[0]);
    });
}

/// Builds beside upkeep in CI.
const BESIDE_UPKEEP: u64 = 3;

#[test]
fn a_build_whose_store_is_cleared_meanwhile_is_right() {
    let fixture = Fixture::in_rust(env!("CARGO_BIN_EXE_faults"));
    let references = References::of(&fixture);
    for_seeds("builds beside upkeep", BESIDE_UPKEEP, |_, random| {
        let variant = random.below(VARIANTS);
        fixture.clear();
        fixture.set_variant(variant);
        let mut upkeep = fixture.upkeep();
        // Everything is over the limit.
        upkeep.env("KERNELMILL_CACHE_SIZE", "1").stderr(Stdio::piped());
        let mut upkeep = upkeep.spawn().expect("a program");
        let built = fixture.build_gives(&references, variant);
        upkeep.kill().expect("it runs");
        let said = upkeep.wait_with_output().expect("a program").stderr;
        assert!(said.is_empty(), "{}", String::from_utf8_lossy(&said));
        assert!(!built.messages.contains("store"), "{}", built.messages);
        fixture.build_is_right(&references, variant);
    });
}

/// A link into a folder that is not there, in the place of a temporary file, makes a write fail as one whose folder
/// is removed meanwhile. The store removes the link.
#[test]
fn what_is_disturbed_as_it_is_written_is_in_the_store_after_the_build() {
    let fixture = Fixture::in_rust(env!("CARGO_BIN_EXE_faults"));
    let references = References::of(&fixture);
    let expected = names(&references.store(0));
    fixture.set_variant(0);
    fixture.clear();
    let wait_then_build = fixture
        .command_of("sh", &["-c", r#"read start && exec "$@""#, "sh"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a shell");

    // The first attempts are disturbed, as many as there are entries, whichever entry each of them is for.
    let (store, process) = (fixture.cache().join("kernelmill"), wait_then_build.id());
    let mut links = Vec::new();
    for (name, attempt) in
        expected.iter().flat_map(|name| (0..expected.len()).map(move |it| (name, it)))
    {
        let entry = store.join(name);
        let file = entry.file_name().expect("a name").to_string_lossy();
        let link = entry.with_file_name(format!(".{file}.{process}.{attempt}.tmp"));
        let folder = entry.parent().expect("a folder");
        DirBuilder::new().recursive(true).mode(0o700).create(folder).expect("a folder");
        symlink(fixture.folder().join("none/file"), &link).expect("a link");
        links.push(link);
    }
    writeln!(wait_then_build.stdin.as_ref().expect("a pipe"), "start").expect("it waits");
    let built = Built::new(&wait_then_build.wait_with_output().expect("a build ends"));
    assert_eq!((built.code, built.messages.as_str()), (Some(0), ""));
    references.compare(0, &fixture.outputs());

    let is_met = |link: &&PathBuf| link.symlink_metadata().is_err();
    assert_eq!(links.iter().filter(is_met).count(), expected.len());
    assert_eq!(names(&store), expected);
}

/// The entries of a store, relative to it.
fn names(store: &Path) -> BTreeSet<PathBuf> {
    let name = |path: &PathBuf| path.strip_prefix(store).expect("it is below").to_owned();
    entries(store).iter().map(name).collect()
}
