//! The programs of the bundle: how each is built, and what it is called there.

use crate::{
    bench::nvcc_files,
    random_cuda,
    workspace::{Workspace, stage},
};
use anyhow::{Context as _, Result, ensure};
use cargo_metadata::Message;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// What is timed, and random kernels in Rust: built in release mode, for the targets of the bundle.
const TIMED: [&str; 2] = ["gpu-suite", "differential"];

/// Other binaries of the kernels that are compared, each in a program of its own: with the instructions of Hopper alone, and as
/// PTX, which the driver compiles.
const OTHER_FORMS: [(&str, &str); 2] =
    [("gpu-suite-sm_90a", "cpu,sm_90a"), ("gpu-suite-ptx", "cpu,compute_75")];

/// Programs that run their kernels on the device that their first argument names, and compare.
const CHECKS: [&str; 8] = [
    "llvm-ir",
    "opencl-c",
    "hip-cpp",
    "mixed-sources",
    "sanitized",
    "device-library",
    "wgsl",
    "math-table",
];

/// The tests of the run-time back end, which run on the machine's driver where `KERNELMILL_TEST_DRIVER` is `real`.
const TESTS: &str = "cuda-backend";

/// Examples, each of which verifies its result.
const EXAMPLES: [&str; 13] = [
    "saxpy",
    "mandelbrot",
    "photo",
    "reduce",
    "matmul",
    "nbody",
    "fluid",
    "autodiff",
    "transformer",
    "dispatch",
    "blas",
    "devices",
    "cudarc-interop",
];

/// Benchmarks of the run time.
const COSTS: [&str; 2] = ["launch", "cache"];

/// Kernels of the examples for which nvcc's code can stand, and the file in `benches/spine/nvcc` that has each.
const OF_NVCC: [(&str, &str); 10] = crate::bench::KERNELS;

/// Builds all into `folder`, for `targets` where the targets matter.
pub(super) fn build(workspace: &Workspace, targets: &str, folder: &Path) -> Result<()> {
    stage("kernels timed, by nvcc", || by_nvcc(workspace, folder))?;
    for (name, targets) in OTHER_FORMS {
        stage(name, || suite(workspace, targets, folder, name))?;
    }
    stage("kernels timed", || timed(workspace, targets, folder))?;
    stage("random kernels in CUDA C++", || random(workspace, folder))?;
    stage("checks", || checks(workspace, &folder.join("checks")))?;
    stage("examples", || bins(workspace, &EXAMPLES, &folder.join("examples")))?;
    stage("tests", || tests(workspace, &folder.join("tests")))?;
    stage("costs", || costs(workspace, &folder.join("costs")))?;
    stage("tuning", || tuning(workspace, folder))
}

/// Without symbols, which a machine without the sources has no use for.
const STRIPPED: [&str; 2] = ["--config", "profile.release.strip=true"];

fn timed(workspace: &Workspace, targets: &str, folder: &Path) -> Result<()> {
    let mut arguments = vec!["build", "--release"];
    for program in TIMED {
        arguments.extend(["--package", program]);
    }
    workspace.cargo(&arguments).args(STRIPPED).env("KERNELMILL_TARGETS", targets).run()?;
    TIMED.into_iter().try_for_each(|program| copy(&released(workspace, program), folder, program))
}

/// `gpu-suite` for other targets, under another name.
fn suite(workspace: &Workspace, targets: &str, folder: &Path, name: &str) -> Result<()> {
    let arguments = ["build", "--release", "--package", "gpu-suite"];
    workspace.cargo(&arguments).args(STRIPPED).env("KERNELMILL_TARGETS", targets).run()?;
    copy(&released(workspace, "gpu-suite"), folder, name)
}

/// `gpu-suite` with nvcc's PTX in place of ours, where there is one.
fn by_nvcc(workspace: &Workspace, folder: &Path) -> Result<()> {
    let files = nvcc_files(workspace, "ptx")?;
    let mut build = workspace.cargo(&["build", "--release", "--package", "gpu-suite"]);
    for (kernel, stem) in OF_NVCC {
        let file = files.iter().find(|path| path.file_stem().is_some_and(|it| it == stem));
        let file = file.with_context(|| format!("nvcc made no {stem}.ptx"))?;
        build = build.env(format!("KERNELMILL_OVERRIDE_{kernel}"), file);
    }
    build.args(STRIPPED).env("KERNELMILL_TARGETS", "cpu,sm_90").run()?;
    copy(&released(workspace, "gpu-suite"), folder, "gpu-suite-nvcc")
}

fn random(workspace: &Workspace, folder: &Path) -> Result<()> {
    for compiler in random_cuda::COMPILERS {
        // Some of these kernels have what devices have from 8.0 on.
        let built = random_cuda::build_for(workspace, compiler, "cpu,compute_80,sm_90")?;
        copy(&built, folder, &format!("random-cuda-{compiler}"))?;
    }
    Ok(())
}

fn checks(workspace: &Workspace, folder: &Path) -> Result<()> {
    bins(workspace, &CHECKS, folder)?;
    // Alone, `conformance` runs on the CPU.
    let arguments = ["build", "--release", "--package", "conformance", "--features"];
    workspace.cargo(&arguments).arg("conformance/cuda").args(STRIPPED).run()?;
    copy(&released(workspace, "conformance"), folder, "conformance")
}

/// Programs in release mode, for their packages' own targets.
fn bins(workspace: &Workspace, packages: &[&str], folder: &Path) -> Result<()> {
    for package in packages {
        // One at a time: a program has the features that it asks for, and none of another's.
        let arguments = ["build", "--release", "--package", package];
        workspace.cargo(&arguments).args(STRIPPED).run()?;
        copy(&released(workspace, package), folder, package)?;
    }
    Ok(())
}

fn tests(workspace: &Workspace, folder: &Path) -> Result<()> {
    let arguments =
        ["test", "--no-run", "--tests", "--package", TESTS, "--message-format=json", "--quiet"];
    let printed = workspace.cargo(&arguments).quiet().read()?;
    copy_all(&printed, "test", folder)?;
    // Built as all other tests are, to have what those have built: with symbols.
    for entry in fs::read_dir(folder)? {
        workspace.shell.cmd("strip").arg(entry?.path()).quiet().run()?;
    }
    Ok(())
}

fn costs(workspace: &Workspace, folder: &Path) -> Result<()> {
    let arguments = ["bench", "--no-run", "--package", "kernelmill", "--features", "cuda"];
    let mut build = workspace.cargo(&arguments).args(STRIPPED);
    for bench in COSTS {
        build = build.args(["--bench", bench]);
    }
    let printed = build.arg("--message-format=json").quiet().read()?;
    copy_all(&printed, "bench", folder)
}

/// What times the block sizes and tiles of `examples/blas`.
fn tuning(workspace: &Workspace, folder: &Path) -> Result<()> {
    let arguments = ["bench", "--no-run", "--package", "blas", "--bench", "tune"];
    let build = workspace.cargo(&arguments).args(STRIPPED).arg("--message-format=json");
    let printed = build.env("KERNELMILL_TARGETS", "cpu,sm_90").quiet().read()?;
    copy_all(&printed, "bench", folder)
}

/// Copies the executables of a kind that cargo's messages name.
fn copy_all(messages: &str, kind: &str, folder: &Path) -> Result<()> {
    let mut count = 0;
    for message in Message::parse_stream(messages.as_bytes()) {
        let Message::CompilerArtifact(artifact) = message? else { continue };
        let is_wanted = artifact.target.kind.iter().any(|it| it.to_string() == kind);
        if let (true, Some(built)) = (is_wanted, artifact.executable) {
            copy(built.as_std_path(), folder, &artifact.target.name)?;
            count += 1;
        }
    }
    ensure!(count > 0, "cargo built no {kind}");
    Ok(())
}

fn released(workspace: &Workspace, program: &str) -> PathBuf {
    workspace.target.join("release").join(program)
}

fn copy(built: &Path, folder: &Path, name: &str) -> Result<()> {
    fs::create_dir_all(folder)?;
    fs::copy(built, folder.join(name)).with_context(|| built.display().to_string())?;
    Ok(())
}
