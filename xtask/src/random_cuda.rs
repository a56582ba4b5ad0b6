//! Random kernels in CUDA C++ (`tests/random-cuda-suite`), compiled by one compiler or another.

use crate::workspace::Workspace;
use anyhow::Result;
use std::path::PathBuf;

/// The compilers of random kernels in CUDA C++; each has a program of its own.
pub(crate) const COMPILERS: [&str; 2] = ["nvcc", "clang"];

/// Builds the program with random kernels in CUDA C++ by one compiler.
pub(crate) fn build(
    workspace: &Workspace,
    compiler: &str,
    profile: &[&str],
    seed: Option<u32>,
) -> Result<PathBuf> {
    let arguments =
        ["build", "--package", "random-cuda-suite", "--features", "random-cuda-suite/kernels"];
    let mut build = workspace.cargo(&arguments).args(profile);
    if let Some(seed) = seed {
        build = build.env("KERNELMILL_SEED", seed.to_string());
    }
    build.env("KERNELMILL_CUDA_COMPILER", compiler).quiet().run()?;
    let folder = if profile.is_empty() { "debug" } else { "release" };
    Ok(workspace.target.join(folder).join("random-cuda-suite"))
}

/// Builds it in release mode, without symbols, for these targets.
pub(crate) fn build_for(workspace: &Workspace, compiler: &str, targets: &str) -> Result<PathBuf> {
    let arguments = [
        "build",
        "--release",
        "--config",
        "profile.release.strip=true",
        "--package",
        "random-cuda-suite",
        "--features",
        "random-cuda-suite/kernels",
    ];
    let build = workspace.cargo(&arguments).env("KERNELMILL_CUDA_COMPILER", compiler);
    build.env("KERNELMILL_TARGETS", targets).quiet().run()?;
    Ok(workspace.target.join("release/random-cuda-suite"))
}
