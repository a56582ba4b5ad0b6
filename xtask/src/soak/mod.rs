//! `cargo xtask soak`: the tests of faults and the fuzzers at length, and the page `benches/results/reliability.md`.
//!
//! The tests are those of CI, with more cases and other seeds: `tests/faults`, every driver call of the programs in
//! `tests/cuda-backend` failed once, and the fuzzers of what builds and the emulator read. A test prints a line
//! `counted: <name>: <n> tried, <n> failed`. One that fails is counted and told at the end, and the others go on.

mod count;
mod options;
mod runs;

pub(crate) use options::Options;

use crate::{
    bench::machine,
    workspace::{Workspace, stage},
};
use anyhow::{Result, bail};
use count::Count;
use runs::{RUNS, Run};
use std::{fmt::Write as _, fs, process::Output};
use xshell::cmd;

/// What is after the figures on the page, and is written by people.
const REMARKS: &str = "\n## What was found";

/// Runs all and writes the page.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let seed = options.seed.unwrap_or_else(|| seed_of_commit(workspace));
    let heading = heading(workspace, options, seed)?;
    let mut table =
        String::from("| what | tried | failed | seconds |\n| --- | --- | --- | --- |\n");
    let mut failures = String::new();
    for run in &RUNS {
        let (counts, seconds) = stage(run.title, || tried(workspace, run, options, seed))?;
        for Count { name, tried, failed } in counts.counts {
            writeln!(table, "| {}: {name} | {tried} | {failed} | {seconds} |", run.title)?;
        }
        if !counts.failures.is_empty() {
            writeln!(failures, "{}:\n{}", run.title, counts.failures)?;
        }
    }
    let page = workspace.root.join("benches/results/reliability.md");
    let old = fs::read_to_string(&page).unwrap_or_default();
    let remarks = old.find(REMARKS).map_or("", |at| &old[at..]);
    fs::write(&page, format!("{heading}\n{table}{remarks}"))?;
    println!("\n{heading}\n{table}\nwritten to {}", page.display());
    if !failures.is_empty() {
        bail!("these failed:\n{failures}");
    }
    Ok(())
}

/// What a test has tried, and what it said of failures.
struct Tried {
    counts: Vec<Count>,
    failures: String,
}

/// Runs a test, with the time that it took in seconds.
fn tried(workspace: &Workspace, run: &Run, options: &Options, seed: u64) -> Result<(Tried, u64)> {
    let test = ["--nocapture", "--test-threads=1"];
    // Built before it is timed.
    cargo_test(workspace, run).arg("--no-run").run()?;
    let mut command = cargo_test(workspace, run).arg(run.test).arg("--").args(test);
    for (name, value) in run.variables(options, seed) {
        command = command.env(name, value.to_string());
    }
    let start = std::time::Instant::now();
    let output = command.env("KERNELMILL_REQUIRE_TOOLS", "1").ignore_status().output()?;
    Ok((read(&output, run.test), start.elapsed().as_secs()))
}

/// `cargo test` of a run's program: optimised, with the checks of a program that is not.
fn cargo_test<'a>(workspace: &'a Workspace, run: &Run) -> xshell::Cmd<'a> {
    let arguments = ["test", "--quiet", "--release", "--package", run.package];
    let checks = ["DEBUG_ASSERTIONS", "OVERFLOW_CHECKS"];
    let command = workspace.cargo(&arguments).args(run.target);
    checks.iter().fold(command, |command, check| {
        command.env(format!("CARGO_PROFILE_RELEASE_{check}"), "true")
    })
}

fn read(output: &Output, test: &str) -> Tried {
    let stdout = String::from_utf8_lossy(&output.stdout);
    let counts: Vec<_> = stdout.lines().filter_map(Count::read).collect();
    counts.iter().for_each(|Count { name, tried, failed }| println!("{name}: {tried}, {failed}"));
    if output.status.success() && !counts.is_empty() {
        return Tried { counts, failures: String::new() };
    }
    let mut failures = count::last_lines(&String::from_utf8_lossy(&output.stderr));
    let has_failed = counts.iter().any(|count| count.failed > 0);
    let mut counts = counts;
    if !has_failed {
        // It ended before it could count: by a signal, or for a reason of its own.
        counts.push(Count {
            name: format!("`{test}` failed ({})", output.status),
            tried: 0,
            failed: 1,
        });
        failures += &count::last_lines(&stdout);
    }
    Tried { counts, failures }
}

/// Seeds of two commits are far apart.
fn seed_of_commit(workspace: &Workspace) -> u64 {
    let shell = &workspace.shell;
    let commit = cmd!(shell, "git rev-parse --short=8 HEAD").quiet().read().unwrap_or_default();
    u64::from(u32::from_str_radix(commit.trim(), 16).unwrap_or(1)) << 20
}

fn heading(workspace: &Workspace, options: &Options, seed: u64) -> Result<String> {
    let shell = &workspace.shell;
    let commit = cmd!(shell, "git rev-parse --short HEAD").quiet().read()?;
    let Options { kills, compilations, fuzz, minutes, .. } = options;
    let minutes = minutes.map_or(String::new(), |minutes| format!(" --minutes {minutes}"));
    let machine = machine::machine(workspace)?;
    Ok(format!(
        "# Reliability\n\n```sh\ncargo xtask soak --kills {kills} --compilations {compilations} --fuzz {fuzz} --seed {seed}{minutes}\n```\n\n\
         Commit {commit}, {machine}. A test that has used up its share of the minutes stops. What each test does \
         to a build, a driver or an input:\n`tests/faults`, `tests/cuda-backend/tests/failures.rs`, \
         `build-helpers/build-script/src/fuzz_tests.rs`, `test-driver/emulator/tests`.\n"
    ))
}
