//! Runs every kernel of examples and tests as PTX, on the stand-in CUDA driver.

use crate::{examples, workspace::Workspace};
use anyhow::{Context as _, Result};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// The orders in which the threads of a block run. A missing barrier shows in some of them only.
const ORDERS: [&str; 5] = ["forward", "reverse", "random:1", "random:2", "random:3"];

/// Builds the driver, and runs the suite on it in every order, with races detected and leaks
/// reported, and every example.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let folder = build(workspace)?;
    let tests = ["test", "--package", "kernelmill", "--features", "cuda", "--lib", "cuda"];
    let tests = workspace.cargo(&tests).env("LD_LIBRARY_PATH", &folder);
    tests.env("KERNELMILL_REQUIRE_TOOLS", "1").run()?;
    workspace.cargo(&["build", "--package", "gpu-suite"]).run()?;
    let suite = workspace.target.join("debug/gpu-suite");
    let coverage = workspace.target.join("tmp/ptx-coverage.txt");
    if coverage.exists() {
        fs::remove_file(&coverage)?;
    }
    for order in ORDERS {
        println!("order of threads: {order}");
        workspace
            .shell
            .cmd(&suite)
            .arg("--compare")
            .env("LD_LIBRARY_PATH", &folder)
            .env("FAKE_CUDA_ORDER", order)
            .env("FAKE_CUDA_RACES", "1")
            .env("FAKE_CUDA_LEAK_CHECK", "1")
            .env("FAKE_CUDA_COVERAGE", &coverage)
            .run()?;
    }
    print_coverage(&fs::read_to_string(&coverage)?);
    examples::run_all(workspace, Some(&folder))?;
    differential(workspace, &folder)
}

/// Says which kinds of PTX instruction the kernels have, and which of them no kernel has run. Each
/// line is a kernel, whether an instruction was executed, which, and how often.
fn print_coverage(lines: &str) {
    let (mut all, mut executed) = (BTreeSet::new(), BTreeSet::new());
    for line in lines.lines() {
        let mut fields = line.split('\t').skip(1);
        if let (Some(state), Some(mnemonic)) = (fields.next(), fields.next()) {
            all.insert(mnemonic);
            if state == "executed" {
                executed.insert(mnemonic);
            }
        }
    }
    let never: Vec<_> = all.difference(&executed).copied().collect();
    println!("{} kinds of PTX instruction, {} never executed: {never:?}", all.len(), never.len());
}

/// Compares random kernels, a new seed each time, for about a minute: the CPU against plain Rust,
/// and PTX on the stand-in driver too. A seed that fails can be run alone, by setting
/// `KERNELMILL_SEED`.
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
        let on_driver = workspace.shell.cmd(&program).env("LD_LIBRARY_PATH", driver);
        on_driver.env("FAKE_CUDA_ORDER", format!("random:{seed}")).run()?;
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
