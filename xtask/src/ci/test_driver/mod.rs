//! Runs every kernel of examples and tests as PTX, on the fake CUDA driver.

mod coverage;
mod mutations;

use crate::{
    examples, gpu,
    workspace::{Workspace, stage},
};
use anyhow::{Context as _, Result};
use coverage::Coverage;
use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// The orders in which the threads of a block run. A missing barrier shows in some of them only.
const ORDERS: [&str; 5] = ["forward", "reverse", "random:1", "random:2", "random:3"];

/// What is checked beyond what the driver always checks.
const CHECKS: [(&str, &str); 2] = [("FAKE_CUDA_RACES", "1"), ("FAKE_CUDA_LEAK_CHECK", "1")];

/// Builds the driver, and runs on it the tests of the CUDA back end, the suite in every order, the
/// suite with each of its kernels made wrong, the examples, and random kernels. What a program does not give back fails it.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let folder = build(workspace)?;
    back_end(workspace, &folder)?;
    let coverage = stage("every kernel in every order", || suite(workspace, &folder))?;
    let wrong = stage("kernels made wrong", || mutations::run(workspace, &folder, &coverage))?;
    coverage.all_executed(&wrong)?;
    examples::run_all(workspace, Some(&folder))?;
    stage("random kernels", || differential(workspace, &folder))
}

/// The variables that put a program on the driver.
pub(crate) fn variables(folder: &Path) -> impl Iterator<Item = (&str, &str)> {
    let folder = folder.to_str().expect("cargo's target folder is UTF-8");
    [("LD_LIBRARY_PATH", folder)].into_iter().chain(CHECKS)
}

/// The tests of the CUDA back end itself.
fn back_end(workspace: &Workspace, folder: &Path) -> Result<()> {
    let tests = ["test", "--package", "kernelmill", "--features", "cuda", "--lib", "cuda"];
    let tests = workspace.cargo(&tests).envs(variables(folder));
    Ok(tests.env("KERNELMILL_REQUIRE_TOOLS", "1").run()?)
}

/// The program with the suite.
fn suite_program(workspace: &Workspace) -> PathBuf {
    workspace.target.join("debug/gpu-suite")
}

/// Runs the suite in every order; what was executed.
fn suite(workspace: &Workspace, folder: &Path) -> Result<Coverage> {
    workspace.cargo(&["build", "--package", "gpu-suite"]).run()?;
    let file = workspace.target.join("tmp/ptx-coverage.txt");
    if file.exists() {
        fs::remove_file(&file)?;
    }
    for order in ORDERS {
        println!("order of threads: {order}");
        let suite = workspace.shell.cmd(suite_program(workspace)).arg("--compare");
        let suite = suite.envs(variables(folder)).env("FAKE_CUDA_ORDER", order);
        suite.env("FAKE_CUDA_COVERAGE", &file).run()?;
    }
    // Kernels that multiply matrices have other instructions for older processors.
    let suite = workspace.shell.cmd(suite_program(workspace)).arg("--compare");
    suite.envs(variables(folder)).env("FAKE_CUDA_ARCH", "75").run()?;
    let mut coverage = Coverage::default();
    coverage.add(&fs::read_to_string(&file)?)?;
    Ok(coverage)
}

/// Compares random kernels in Rust, a new seed each time, for about a minute: the CPU against plain
/// Rust, and PTX on the fake driver too. Then, once by each compiler, random kernels in CUDA C++
/// through the run time; by the emulator alone a test has run many more. A seed that fails can be run
/// alone, by setting `KERNELMILL_SEED`.
fn differential(workspace: &Workspace, driver: &Path) -> Result<()> {
    let program = workspace.target.join("debug/differential");
    let begun = Instant::now();
    for seed in 1_u32.. {
        if seed > 3 && begun.elapsed() > Duration::from_secs(60) {
            break;
        }
        let build = workspace.cargo(&["build", "--package", "differential"]);
        build.env("KERNELMILL_SEED", seed.to_string()).quiet().run()?;
        workspace.shell.cmd(&program).run()?;
        let on_driver = workspace.shell.cmd(&program).envs(variables(driver));
        on_driver.env("FAKE_CUDA_ORDER", format!("random:{seed}")).run()?;
    }
    for (compiler, seed) in gpu::CUDA_COMPILERS.into_iter().zip(1..) {
        let program = gpu::random_cuda(workspace, compiler, &[], Some(seed))?;
        let on_driver = workspace.shell.cmd(&program).envs(variables(driver));
        on_driver.env("FAKE_CUDA_ORDER", "random:1").run()?;
        workspace.shell.cmd(&program).arg("--cpu").run()?;
    }
    Ok(())
}

/// Builds the driver and gives the folder that holds it under the name that programs open.
pub(crate) fn build(workspace: &Workspace) -> Result<PathBuf> {
    workspace.cargo(&["build", "--release", "--package", "fake-cuda"]).run()?;
    let folder = workspace.target.join("tmp/test-driver");
    fs::create_dir_all(&folder)?;
    let built = workspace.target.join("release/libfake_cuda.so");
    for name in ["libcuda.so.1", "libcuda.so"] {
        fs::copy(&built, folder.join(name)).context(built.display().to_string())?;
    }
    Ok(folder)
}
