//! The run time's own tests under Miri and the sanitizers of memory and of threads.
//!
//! AddressSanitizer needs the stable toolchain alone. ThreadSanitizer needs a standard library that it is built
//! into, and Miri an interpreter: components of nightly, which are installed where they can be. Kernels
//! beside guard pages and random programs are tests of `tests/soundness`, and models with loom of `tests/models`:
//! here they run again, with a seed of this commit.

use crate::{
    one_build::Tests,
    workspace::{Workspace, stage},
};
use anyhow::{Result, ensure};
use std::thread;
use xshell::{Cmd, cmd};

/// The host's target: given by name, so that build scripts are not instrumented.
const HOST: &str = "x86_64-unknown-linux-gnu";

/// What nightly needs beside the compiler.
const COMPONENTS: [&str; 2] = ["miri", "rust-src"];

/// What Miri takes too long for, and what needs memory or files that it has not. ThreadSanitizer runs all of it.
const TOO_MUCH_FOR_MIRI: [&str; 10] = [
    "pool::",
    "launches_from_many_threads",
    "memory_that_a",
    "every_block_runs_once",
    "large_buffers",
    "blocks_of_coroutines",
    "a_safe_kernel_computes",
    "joined::tests",
    "tuning::tests",
    "frame::tests",
];

/// Runs them all.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    stage("random programs with a seed of this commit", || programs(workspace))?;
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        println!("the sanitizers are used on {HOST} only");
        return Ok(());
    }
    if !has_components(workspace) {
        let is_required = std::env::var_os("KERNELMILL_REQUIRE_TOOLS").is_some();
        ensure!(
            !is_required,
            "the nightly toolchain lacks {COMPONENTS:?}, which cannot be installed"
        );
        println!(
            "the nightly toolchain lacks {COMPONENTS:?}, which cannot be installed: ThreadSanitizer and Miri are left \
             out"
        );
        return stage("AddressSanitizer", || address(workspace));
    }
    // Miri uses one processor for longer than the others take.
    thread::scope(|scope| {
        let miri = scope.spawn(|| stage("Miri", || miri(&Workspace::open()?)));
        let sanitizers = stage("AddressSanitizer", || address(workspace));
        let sanitizers = sanitizers.and_then(|()| stage("ThreadSanitizer", || threads(workspace)));
        let miri = miri.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        sanitizers.and(miri)
    })
}

/// Runs the random programs of `tests/soundness` from a seed on that other commits have not.
fn programs(workspace: &Workspace) -> Result<()> {
    let shell = &workspace.shell;
    let commit = cmd!(shell, "git rev-parse --short=8 HEAD").quiet().read().unwrap_or_default();
    // Seeds that are far apart, so that the programs of two commits are others.
    let seed = u64::from(u32::from_str_radix(commit.trim(), 16).unwrap_or(1)) << 20;
    let tests = Tests { package: "soundness", library: false, files: &["programs"], named: "" };
    let tests = tests.command(workspace, &[]).env("SOUNDNESS_SEED", seed.to_string());
    Ok(tests.env("SOUNDNESS_PROGRAMS", "50").run()?)
}

fn address(workspace: &Workspace) -> Result<()> {
    let tests = run_time_tests(workspace, "address", &["test"]);
    let tests = tests.env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", "-Zsanitizer=address");
    // Launches that need more memory than there is are tested too.
    Ok(tests.env("ASAN_OPTIONS", "allocator_may_return_null=1").run()?)
}

fn threads(workspace: &Workspace) -> Result<()> {
    let tests = run_time_tests(workspace, "threads", &["+nightly", "test", "-Zbuild-std"]);
    let tests = tests.env("RUSTFLAGS", "-Zsanitizer=thread");
    Ok(on_nightly(tests).env("TSAN_OPTIONS", "allocator_may_return_null=1").run()?)
}

/// What Miri says is printed at its end, in one piece.
fn miri(workspace: &Workspace) -> Result<()> {
    let tests = run_time_tests(workspace, "miri", &["+nightly", "miri", "test"]).arg("--");
    let tests = tests.args(TOO_MUCH_FOR_MIRI.iter().flat_map(|test| ["--skip", test]));
    // Kernels are given addresses as numbers. The threads of rayon's pool run until the process ends, and
    // crossbeam-epoch, which they use, is right by the rules of Tree Borrows only.
    let flags = "-Zmiri-permissive-provenance -Zmiri-ignore-leaks -Zmiri-tree-borrows";
    // One test at a time: kernels that do not end would take the turns of other tests.
    let tests = on_nightly(tests).env("RUST_TEST_THREADS", "1");
    let output = tests.env("MIRIFLAGS", flags).quiet().ignore_status().output()?;
    print!("{}", String::from_utf8_lossy(&output.stdout));
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    ensure!(output.status.success(), "Miri: {}", output.status);
    Ok(())
}

/// The tests of the run time's library, built into a folder of their own.
fn run_time_tests<'w>(workspace: &'w Workspace, folder: &str, arguments: &[&str]) -> Cmd<'w> {
    let command = workspace.cargo(arguments);
    let command = command.args(["--quiet", "--package", "kernelmill", "--lib", "--target", HOST]);
    command.env("CARGO_TARGET_DIR", workspace.target.join("soundness").join(folder))
}

/// Lets rustup choose the toolchain: the one that runs this program is in these variables.
fn on_nightly(command: Cmd<'_>) -> Cmd<'_> {
    command.env_remove("RUSTUP_TOOLCHAIN").env_remove("RUSTC").env_remove("CARGO")
}

/// Whether nightly has what is needed, now or after it was installed.
fn has_components(workspace: &Workspace) -> bool {
    let shell = &workspace.shell;
    let list = ["component", "list", "--toolchain", "nightly", "--installed"];
    let installed = shell.cmd("rustup").args(list).quiet().ignore_stderr().read();
    let installed = installed.unwrap_or_default();
    if COMPONENTS.iter().all(|component| installed.contains(component)) {
        return true;
    }
    let install = ["toolchain", "install", "nightly", "--profile", "minimal"];
    let components = COMPONENTS.iter().flat_map(|component| ["--component", component]);
    shell.cmd("rustup").args(install).args(components).run().is_ok()
}
