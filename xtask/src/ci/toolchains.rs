//! The matrix of Rust toolchains: the oldest that `rust-version` claims, beta, and, as information,
//! nightly. Everything else is tested on the current stable, which set-up installs.
//!
//! On each toolchain the types that its rustc states in debug information are read, a barrier in a source stays one, and its
//! LLVM is asked which versions of PTX it knows. On those that have to pass, some examples run. On those whose LLVM is another
//! than stable's, every kernel of `tests/conformance` runs on the CPU and on the fake CUDA driver too, and every kernel must have
//! the lowering strategy that it has on stable.

use crate::{
    fake_driver,
    one_build::Tests,
    rust,
    workspace::{Workspace, stage},
};
use anyhow::{Result, ensure};
use std::path::Path;

/// Examples with thread loops and with barrier regions, and with few dependencies.
const EXAMPLES: [&str; 3] = ["saxpy", "reduce", "matmul"];

/// The program with every kernel as PTX.
const SUITE: &str = "gpu-suite";

/// A toolchain of the matrix.
struct Toolchain {
    /// As rustup names it.
    name: String,
    /// Whether what fails on it fails the tests.
    is_required: bool,
}

/// Runs the matrix.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let driver = fake_driver::build(workspace)?;
    for toolchain in matrix(workspace)? {
        let title = format!("Rust {}", toolchain.name);
        let result = stage(&title, || on(workspace, &toolchain, &driver));
        match result {
            Err(error) if !toolchain.is_required => {
                println!("{title}, for information: {error:#}");
            }
            other => other?,
        }
    }
    Ok(())
}

fn matrix(workspace: &Workspace) -> Result<Vec<Toolchain>> {
    let oldest = workspace.rust_version()?;
    let of = |name: &str, is_required| Toolchain { name: name.to_owned(), is_required };
    Ok(vec![of(&oldest, true), of("beta", true), of("nightly", false)])
}

/// Runs tests of the compiler on one toolchain, and examples and kernels where it has to pass.
fn on(workspace: &Workspace, toolchain: &Toolchain, driver: &Path) -> Result<()> {
    let Toolchain { name, is_required } = toolchain;
    rust::install(workspace, name, &[])?;
    let version = workspace.shell.cmd("rustc").args([format!("+{name}").as_str(), "-vV"]).read()?;
    println!("{version}");
    // rustup takes a toolchain that was linked under this name for the one that is meant.
    let is_other = name.starts_with(|first: char| first.is_ascii_digit())
        && !version.lines().any(|line| line.starts_with(&format!("release: {name}")));
    ensure!(
        !is_other,
        "the installed toolchain {name} is of another release: run `rustup toolchain uninstall {name}`, then this \
         stage again"
    );
    compiler_tests(workspace, name)?;
    if !is_required {
        return Ok(());
    }
    // Removed at the end: it is large.
    let target = workspace.temporary_folder()?;
    let target = target.path();
    let cargo = |arguments: &[&str]| {
        let toolchain = format!("+{name}");
        let all: Vec<&str> = [&*toolchain].into_iter().chain(arguments.iter().copied()).collect();
        // The toolchain that runs this program is in these variables.
        let command = workspace.cargo(&all).env_remove("RUSTUP_TOOLCHAIN");
        command.env_remove("RUSTC").env_remove("CARGO").env("CARGO_TARGET_DIR", target)
    };
    // With the same LLVM, kernels become what they become on stable, unless the tests of the compiler have said otherwise.
    let own = workspace.shell.cmd("rustc").arg("-vV").quiet().read()?;
    let is_other_llvm = llvm(&version) != llvm(&own);
    // Always the same packages, so that what they depend on has the same features and is compiled once.
    let with_suite: &[&str] = if is_other_llvm { &["conformance", SUITE] } else { &[] };
    let packages = [&EXAMPLES[..], with_suite].concat();
    let packages: Vec<_> = packages.into_iter().flat_map(|name| ["--package", name]).collect();
    cargo(&["build", "--quiet", "--bins"]).args(&packages).run()?;
    let programs = target.join("debug");
    let outputs = workspace.temporary_folder()?;
    for example in EXAMPLES {
        let _in_folder = workspace.shell.push_dir(outputs.path());
        workspace.shell.cmd(programs.join(example)).run()?;
    }
    if !is_other_llvm {
        return Ok(());
    }
    let tests = cargo(&["test", "--quiet", "--test", "cpu", "--test", "strategies"]);
    tests.args(&packages).env("KERNELMILL_REQUIRE_TOOLS", "1").run()?;
    let suite = workspace.shell.cmd(programs.join(SUITE)).arg("--compare");
    suite.envs(fake_driver::variables(driver)).env("FAKE_CUDA_ORDER", "random:1").run()?;
    Ok(())
}

/// The major version of LLVM in what `rustc -vV` prints.
fn llvm(version: &str) -> Option<&str> {
    let found = version.lines().find_map(|line| line.strip_prefix("LLVM version: "));
    found.and_then(|version| version.split('.').next())
}

/// Tests of the compiler that depend on what rustc writes and on what LLVM knows: the types in debug information,
/// rustc's jump threading, which duplicates barriers, and the versions of PTX.
const COMPILER_TESTS: Tests<'_> = Tests {
    package: "kernelmill-compiler",
    library: true,
    files: &["kernels", "type_identity"],
    named: "",
};

/// Runs tests of the compiler, built as all other tests, with this toolchain's rustc and LLVM.
fn compiler_tests(workspace: &Workspace, name: &str) -> Result<()> {
    let rustc =
        workspace.shell.cmd("rustup").args(["which", "rustc", "--toolchain", name]).read()?;
    let runner = format!("target.'cfg(unix)'.runner = ['env', 'RUSTC={rustc}']");
    Ok(COMPILER_TESTS.command(workspace, &["--config", &runner]).run()?)
}
