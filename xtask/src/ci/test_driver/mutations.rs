//! Makes each kernel of the suite wrong, one change at a time, and sees whether the suite notices.
//!
//! A change is a barrier deleted, an address shifted or a comparison flipped, in an instruction that
//! the suite executes. Every barrier is deleted; of the other changes a sample is made. The driver makes it (`FAKE_CUDA_MUTATE`), the check of the kernel runs as it
//! always does, and somebody has to object: the driver, with the line of the source, or the check.

use super::{
    coverage::{Coverage, Instructions},
    suite::{self, ORDERS},
};
use crate::{fake_driver::variables, workspace::Workspace};
use anyhow::{Result, bail, ensure};
use std::{
    collections::BTreeSet,
    fmt, fs,
    path::Path,
    process::Command,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// Kernels that have to be changed, and the part of the changes of their own code that has to be
/// noticed, in percent. Of barriers all have to be.
const LEAST: (usize, usize) = (30, 95);

/// Every barrier is deleted; of the other changes one in so many is made.
const SAMPLE: usize = 8;

/// The same for code that is not this project's, of which nothing is asked but that kernels made wrong reach what correct
/// ones do not.
const SAMPLE_OF_OTHERS: usize = 32;

/// Kernels whose last barrier nothing needs, with the reason.
const NEEDLESS: &[(&str, &str)] =
    &[("reduce", "after the last step of the tree, one thread reads what it wrote itself")];

/// Kernels of which nothing needs any barrier, with the reason.
const ALL_NEEDLESS: &[(&str, &str)] = &[(
    "exit_votes",
    "nothing crosses at it: other targets have early returns to lead to a barrier",
)];

/// What is changed.
const KINDS: [&str; 3] = ["barrier", "address", "comparison"];

/// One change of one kernel.
struct Mutant {
    kernel: String,
    what: &'static str,
    line: usize,
    /// Whether it is in the code of this project, not in that of `core`, of another crate or of the
    /// compiler. Much of that computes the same in another way when it is changed: which pivot a
    /// sort takes, how an angle is reduced.
    own: bool,
    /// Nothing needs it.
    needless: bool,
    /// Instructions that the kernel takes unchanged, in all orders together.
    steps: u64,
}

/// Who noticed a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Noticed {
    /// The driver, with the line of the source.
    Fault,
    /// The driver, without one.
    FaultWithoutSource,
    /// The kernel itself, which panicked, with the line of the source.
    Panic,
    /// The check, by the result.
    Result,
    Nobody,
}

/// Runs every change; an error where too few are noticed. Gives what was executed by the kernels
/// that have instructions which the suite has not executed.
pub(super) fn run(workspace: &Workspace, driver: &Path, coverage: &Coverage) -> Result<Coverage> {
    let never = coverage.never_executed();
    let unexecuted: BTreeSet<&str> = coverage
        .kernels()
        .filter(|(_, found)| found.keys().any(|(_, mnemonic)| never.contains(mnemonic.as_str())))
        .map(|(kernel, _)| kernel)
        .collect();
    let all = coverage.kernels().flat_map(|(kernel, found)| mutants(kernel, found));
    let mut counts = [0_usize; 2];
    let is_run = |mutant: &Mutant| {
        let (count, one_in) = match mutant.own {
            true => (&mut counts[0], SAMPLE),
            false => (&mut counts[1], SAMPLE_OF_OTHERS),
        };
        *count += 1;
        let may_reach_more = !mutant.own && unexecuted.contains(mutant.kernel.as_str());
        mutant.what == KINDS[0] || may_reach_more || count.is_multiple_of(one_in)
    };
    let mutants: Vec<Mutant> = all.filter(is_run).collect();
    let program = suite::program(workspace);
    let next = AtomicUsize::new(0);
    let work = |file: &Path| {
        let mut done = Vec::new();
        while let Some(mutant) = mutants.get(next.fetch_add(1, Ordering::Relaxed)) {
            let file = unexecuted.contains(mutant.kernel.as_str()).then_some(file);
            done.push((mutant, mutant.run(&program, driver, file)?));
        }
        Ok(done)
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let files = (0..cores).map(|_| workspace.temporary_file()).collect::<Result<Vec<_>>>()?;
    let results: Result<Vec<_>> = thread::scope(|scope| {
        let work = &work;
        let workers: Vec<_> =
            files.iter().map(|file| scope.spawn(move || work(file.path()))).collect();
        let join = |worker: thread::ScopedJoinHandle<'_, _>| worker.join().expect("no panic");
        workers.into_iter().map(join).collect()
    });
    judge(&results?.into_iter().flatten().collect::<Vec<_>>())?;
    let mut executed = Coverage::default();
    files.iter().try_for_each(|file| executed.add(&fs::read_to_string(file.path())?))?;
    Ok(executed)
}

/// The changes of a kernel: of every barrier, access and comparison that the suite executes.
fn mutants(kernel: &str, instructions: &Instructions) -> Vec<Mutant> {
    let steps = instructions.values().map(|found| found.count).sum();
    let last_barrier = instructions.keys().rev().find(|(_, name)| is_barrier(name));
    let spare = NEEDLESS.iter().any(|(name, _)| *name == kernel);
    let all_spare = ALL_NEEDLESS.iter().any(|(name, _)| *name == kernel);
    let executed = instructions.iter().filter(|(_, found)| found.count > 0);
    let changed = executed.filter_map(|(place, found)| {
        let what = match place.1.as_str() {
            name if is_barrier(name) => KINDS[0],
            name if is_access(name) => KINDS[1],
            name if name.starts_with("setp.") => KINDS[2],
            _ => return None,
        };
        // `core` and other crates are named by absolute paths, what the compiler adds by none.
        let own = found.source.as_ref().is_some_and(|source| !source.starts_with('/'));
        // The address of a panic record goes through shared memory; its store has the line that it stands before,
        // and code of the compiler's, which has none, reads it.
        let own = own && place.1 != "st.relaxed.sys.shared.b64";
        let needless = spare && Some(place) == last_barrier || all_spare && what == KINDS[0];
        Some(Mutant { kernel: kernel.to_owned(), what, line: place.0, own, needless, steps })
    });
    changed.collect()
}

fn is_barrier(mnemonic: &str) -> bool {
    mnemonic.starts_with("bar.sync") || mnemonic.starts_with("barrier.sync")
}

/// Whether it is an access to memory that threads share.
fn is_access(mnemonic: &str) -> bool {
    let mut parts = mnemonic.split('.');
    matches!(parts.next(), Some("ld" | "st" | "atom" | "red"))
        && !parts.any(|part| matches!(part, "param" | "local" | "const"))
}

impl Mutant {
    /// Runs the check of the kernel in one order after the other, until somebody notices. What is
    /// executed goes to `coverage`.
    fn run(&self, program: &Path, driver: &Path, coverage: Option<&Path>) -> Result<Noticed> {
        for order in ORDERS {
            let mut command = Command::new(program);
            command.args(["--compare", "--only", &self.kernel]).envs(variables(driver));
            command.env("FAKE_CUDA_ORDER", order).env("FAKE_CUDA_MUTATE", self.to_string());
            command.env("FAKE_CUDA_STEPS", (4 * self.steps + 100_000).to_string());
            if let Some(coverage) = coverage {
                command.env("FAKE_CUDA_COVERAGE", coverage);
            }
            let noticed = self.run_once(command)?;
            if noticed != Noticed::Nobody {
                return Ok(noticed);
            }
        }
        Ok(Noticed::Nobody)
    }

    fn run_once(&self, mut command: Command) -> Result<Noticed> {
        let output = command.output()?;
        let [stdout, stderr] = [output.stdout, output.stderr]
            .map(|printed| String::from_utf8_lossy(&printed).into_owned());
        if !stderr.contains("fake-cuda: changed the ") {
            bail!("{self} was not made:\n{stdout}\n{stderr}");
        }
        let fault = stderr.lines().find_map(|line| line.rsplit_once(" at PTX line "));
        Ok(match fault {
            _ if output.status.success() => Noticed::Nobody,
            Some((_, place)) if names_source(place) => Noticed::Fault,
            Some(_) => Noticed::FaultWithoutSource,
            None if stdout.contains("kernel panicked at ") => Noticed::Panic,
            None => Noticed::Result,
        })
    }
}

/// Whether the place of a fault goes on with a file and a line: `120 (kernels/reduce.rs:14), ...`.
fn names_source(place: &str) -> bool {
    let inside = place.split_once(" (").and_then(|(_, rest)| rest.split_once(')'));
    inside.is_some_and(|(inside, _)| inside.contains(".rs:"))
}

impl fmt::Display for Mutant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} at line {} of {}", self.what, self.line, self.kernel)
    }
}

/// Prints who noticed what, and decides whether that is enough.
fn judge(results: &[(&Mutant, Noticed)]) -> Result<()> {
    println!(
        "| change | code | of them | fault with its source | panic | wrong result | not noticed |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for (own, code) in [(true, "own"), (false, "of libraries and the compiler")] {
        for what in KINDS {
            let these: Vec<_> = results
                .iter()
                .filter(|(mutant, _)| mutant.own == own && mutant.what == what)
                .map(|(_, noticed)| *noticed)
                .collect();
            let by = |who| these.iter().filter(|noticed| **noticed == who).count();
            let [fault, panic, result, nobody] =
                [Noticed::Fault, Noticed::Panic, Noticed::Result, Noticed::Nobody].map(by);
            println!(
                "| {what} | {code} | {} | {fault} | {panic} | {result} | {nobody} |",
                these.len()
            );
        }
    }
    let own: Vec<_> = results.iter().filter(|(mutant, _)| mutant.own && !mutant.needless).collect();
    let by = |who| own.iter().filter(move |(_, noticed)| *noticed == who).map(|(mutant, _)| mutant);
    by(Noticed::Nobody).for_each(|mutant| println!("    not noticed: {mutant}"));
    by(Noticed::FaultWithoutSource).for_each(|mutant| println!("    without a source: {mutant}"));
    let kernels: BTreeSet<_> = own.iter().map(|(mutant, _)| &mutant.kernel).collect();
    let (all, missed) = (own.len(), by(Noticed::Nobody).count());
    println!("{} of {all} changes of {} kernels were noticed", all - missed, kernels.len());
    ensure!(kernels.len() >= LEAST.0, "only {} kernels could be changed", kernels.len());
    ensure!(100 * (all - missed) >= LEAST.1 * all, "less than {} percent were noticed", LEAST.1);
    ensure!(
        by(Noticed::Nobody).all(|mutant| mutant.what != KINDS[0]),
        "a deleted barrier was not noticed"
    );
    ensure!(by(Noticed::FaultWithoutSource).count() == 0, "a fault does not name its source");
    Ok(())
}
