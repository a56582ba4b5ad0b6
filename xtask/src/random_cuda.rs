//! Random kernels in CUDA C++ (`tests/random-cuda-suite`), compiled by one compiler or another.

use crate::{one_build, workspace::Workspace};
use anyhow::Result;
use std::path::PathBuf;

/// The compilers of random kernels in CUDA C++; each has a program of its own.
pub(crate) const COMPILERS: [&str; 2] = ["nvcc", "clang"];

/// The program, and its feature that has the kernels compiled.
const PROGRAM: &str = "random-cuda-suite";
const KERNELS: &str = "random-cuda-suite/kernels";

/// Builds the program with the random kernels of a seed in CUDA C++ by one compiler.
pub(crate) fn build(workspace: &Workspace, compiler: &str, seed: u32) -> Result<PathBuf> {
    let build = one_build::build(workspace, PROGRAM).args(["--features", KERNELS]);
    let build = build.env("KERNELMILL_SEED", seed.to_string());
    build.env("KERNELMILL_CUDA_COMPILER", compiler).quiet().run()?;
    Ok(one_build::path(workspace, PROGRAM))
}

/// Builds it in release mode, without symbols, for these targets.
pub(crate) fn build_for(workspace: &Workspace, compiler: &str, targets: &str) -> Result<PathBuf> {
    let arguments = [
        "build",
        "--release",
        "--config",
        "profile.release.strip=true",
        "--package",
        PROGRAM,
        "--features",
        KERNELS,
    ];
    let build = workspace.cargo(&arguments).env("KERNELMILL_CUDA_COMPILER", compiler);
    build.env("KERNELMILL_TARGETS", targets).quiet().run()?;
    Ok(workspace.target.join("release").join(PROGRAM))
}
