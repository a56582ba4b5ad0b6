//! Runs every kernel of examples and tests as PTX, on the fake CUDA driver.

mod coverage;
mod mutations;
mod suite;

use super::examples;
use crate::{
    fake_driver::{self, variables},
    one_build::{self, Tests},
    random_cuda,
    workspace::{Workspace, stage},
};
use anyhow::Result;
use std::{path::Path, thread};

/// Builds the driver, and runs on it the tests of the CUDA back end, the suite in every order, the
/// suite with each of its kernels made wrong, the examples, and random kernels. What a program does not give back fails it.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let folder = fake_driver::build(workspace)?;
    back_end(workspace, &folder)?;
    let coverage = stage("every kernel in every order", || suite::run(workspace, &folder))?;
    let wrong = stage("kernels made wrong", || mutations::run(workspace, &folder, &coverage))?;
    coverage.all_executed(&wrong)?;
    examples::run_all(workspace, Some(&folder))?;
    stage("random kernels", || differential(workspace, &folder))
}

/// The tests of the CUDA back end itself.
fn back_end(workspace: &Workspace, folder: &Path) -> Result<()> {
    let tests = Tests { package: "kernelmill", library: true, files: &[], named: "cuda" };
    let tests = tests.command(workspace, &["--features", "kernelmill/cuda"]);
    Ok(tests.envs(variables(folder)).env("KERNELMILL_REQUIRE_TOOLS", "1").run()?)
}

/// Random kernels in Rust, and in CUDA C++. What one program computes alone, another is built beside.
/// A seed that fails can be run alone, by setting `KERNELMILL_SEED`.
fn differential(workspace: &Workspace, driver: &Path) -> Result<()> {
    thread::scope(|scope| {
        let in_cpp = scope.spawn(|| random_cpp(&Workspace::open()?, driver));
        let in_rust = random_rust(workspace, driver);
        let in_cpp = in_cpp.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        in_rust.and(in_cpp)
    })
}

/// Compares random kernels in Rust, of two seeds: the CPU against plain Rust, and PTX on the fake driver too.
fn random_rust(workspace: &Workspace, driver: &Path) -> Result<()> {
    let program = one_build::path(workspace, "differential");
    for seed in 1..=2 {
        let build = one_build::build(workspace, "differential");
        build.env("KERNELMILL_SEED", format!("{seed}")).quiet().run()?;
        workspace.shell.cmd(&program).run()?;
        let on_driver = workspace.shell.cmd(&program).envs(variables(driver));
        on_driver.env("FAKE_CUDA_ORDER", format!("random:{seed}")).run()?;
    }
    Ok(())
}

/// Compares random kernels in CUDA C++ through the run time, once by each compiler; by the emulator alone a test has run
/// many more.
fn random_cpp(workspace: &Workspace, driver: &Path) -> Result<()> {
    for (compiler, seed) in random_cuda::COMPILERS.into_iter().zip(1..) {
        let program = random_cuda::build(workspace, compiler, seed)?;
        let on_driver = workspace.shell.cmd(&program).envs(variables(driver));
        on_driver.env("FAKE_CUDA_ORDER", "random:1").run()?;
        workspace.shell.cmd(&program).arg("--cpu").run()?;
    }
    Ok(())
}
