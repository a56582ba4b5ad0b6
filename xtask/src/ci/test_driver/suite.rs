//! The suite of kernels (`tests/gpu-suite`) on the fake driver, in every order of threads.

use super::coverage::Coverage;
use crate::{fake_driver::variables, one_build, workspace::Workspace};
use anyhow::Result;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The orders in which the threads of a block run. A missing barrier shows in some of them only.
pub(super) const ORDERS: [&str; 5] = ["forward", "reverse", "random:1", "random:2", "random:3"];

/// The program with the suite.
pub(super) fn program(workspace: &Workspace) -> PathBuf {
    one_build::path(workspace, "gpu-suite")
}

/// Runs the suite in every order; what was executed.
pub(super) fn run(workspace: &Workspace, folder: &Path) -> Result<Coverage> {
    one_build::build(workspace, "gpu-suite").run()?;
    let file = workspace.temporary_file()?;
    for order in ORDERS {
        println!("order of threads: {order}");
        let suite = workspace.shell.cmd(program(workspace)).arg("--compare");
        let suite = suite.envs(variables(folder)).env("FAKE_CUDA_ORDER", order);
        suite.env("FAKE_CUDA_COVERAGE", file.path()).run()?;
    }
    // Kernels that multiply matrices have other instructions for older processors.
    let suite = workspace.shell.cmd(program(workspace)).arg("--compare");
    suite.envs(variables(folder)).env("FAKE_CUDA_ARCH", "75").run()?;
    let mut coverage = Coverage::default();
    coverage.add(&fs::read_to_string(file.path())?)?;
    Ok(coverage)
}
