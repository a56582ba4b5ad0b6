//! `cargo xtask gpu`: a bundle that tests and times every kernel on a machine with an NVIDIA GPU
//! and no Rust.

use crate::{
    setup, test_driver,
    workspace::{Workspace, stage},
};
use anyhow::{Context as _, Result, ensure};
use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

/// How to build the bundle.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The binaries to embed for NVIDIA devices, as kernelmill's configuration writes them.
    #[arg(long, default_value = "cpu,compute_75,sm_90")]
    targets: String,
    /// The folder to write; it is replaced.
    #[arg(long, default_value = "target/gpu-bundle")]
    out: PathBuf,
    /// Then runs the bundle on the fake CUDA driver, on small inputs.
    #[arg(long)]
    check: bool,
}

/// The programs: the suite, and random kernels in Rust compared with plain Rust.
const PROGRAMS: [&str; 2] = ["gpu-suite", "differential"];

/// The compilers of random kernels in CUDA C++; each has a program of its own.
pub(crate) const CUDA_COMPILERS: [&str; 2] = ["nvcc", "clang"];

/// Bytes that a bundle may have.
const LIMIT: u64 = 60 << 20;

/// What a person starts on the machine with the GPU.
const SCRIPT: &str = r#"#!/bin/sh
# Runs every kernel on the NVIDIA GPU of this machine and on its CPU, compares, and times; then
# compares random kernels, in Rust and in CUDA C++, with plain Rust. Ends with an error where
# anything differs.
# Writes gpu.json, gpu.md and random.txt into the folder given (default: this one); further
# arguments are those of gpu-suite: `run.sh out --compare` does not time.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here}
[ $# -eq 0 ] || shift
mkdir -p "$out"
wrong=0
"$here/gpu-suite" --json "$out/gpu.json" --markdown "$out/gpu.md" "$@" || wrong=1
"$here/differential" --cuda > "$out/random.txt" || wrong=1
"$here/random-cuda-nvcc" >> "$out/random.txt" || wrong=1
"$here/random-cuda-clang" >> "$out/random.txt" || wrong=1
cat "$out/random.txt"
exit $wrong
"#;

/// Builds the bundle.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    stage("set-up", || setup::run(workspace))?;
    stage("build", || build(workspace, &options.targets))?;
    let folder = workspace.root.join(&options.out);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let mut size = 0;
    for program in PROGRAMS {
        let built = workspace.target.join("release").join(program);
        size += fs::copy(built, folder.join(program))?;
    }
    for compiler in CUDA_COMPILERS {
        let built = random_cuda(workspace, compiler, &["--release"], None)?;
        size += fs::copy(built, folder.join(format!("random-cuda-{compiler}")))?;
    }
    let script = folder.join("run.sh");
    fs::write(&script, SCRIPT)?;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
    ensure!(size < LIMIT, "the bundle has {size} bytes");
    libraries(workspace, &folder.join(PROGRAMS[0]))?;
    println!("{}: {:.1} MB; run `{}` there", folder.display(), size as f64 / 1e6, script.display());
    if options.check {
        stage("the bundle on the fake driver", || check(workspace, &script))?;
    }
    Ok(())
}

/// Runs the bundle on the fake driver. That it compares, and that it objects to a kernel that
/// is wrong.
fn check(workspace: &Workspace, script: &Path) -> Result<()> {
    let driver = test_driver::build(workspace)?;
    let out = workspace.target.join("tmp/gpu-bundle");
    let run = || workspace.shell.cmd(script).arg(&out).arg("--compare");
    run().envs(test_driver::variables(&driver)).run()?;
    let report = fs::read_to_string(out.join("gpu.json"))?;
    ensure!(report.contains("PTX emulator"), "the bundle ran on another device");
    let random = fs::read_to_string(out.join("random.txt"))?;
    let programs = random.matches("on PTX emulator").count();
    ensure!(programs == 3, "random kernels ran on another device: {random}");
    let rows = report.matches("\"kernel\"").count();
    let failures = rows - report.matches("\"failure\": null").count();
    ensure!(rows > 0 && failures == 0, "{failures} of {rows} kernels are wrong");
    let order = [("FAKE_CUDA_FAIL", "cuLaunchKernel at call 7 with LAUNCH_FAILED")];
    let failing = run().envs(test_driver::variables(&driver)).envs(order).ignore_status();
    let output = failing.output().context("the bundle with a launch that fails")?;
    ensure!(!output.status.success(), "a launch that fails is not noticed");
    println!("{rows} kernels compared, none differs; a launch that fails is noticed");
    Ok(())
}

/// Builds the programs without symbols.
fn build(workspace: &Workspace, targets: &str) -> Result<()> {
    let mut arguments = vec!["build", "--release", "--config", "profile.release.strip=true"];
    for program in PROGRAMS {
        arguments.extend(["--package", program]);
    }
    Ok(workspace.cargo(&arguments).env("KERNELMILL_TARGETS", targets).run()?)
}

/// Builds the program with random kernels in CUDA C++ by one compiler.
pub(crate) fn random_cuda(
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

/// Prints the libraries that the machine with the GPU must have: those of every Linux.
fn libraries(workspace: &Workspace, program: &Path) -> Result<()> {
    let printed = workspace.shell.cmd("ldd").arg(program).quiet().ignore_status().read()?;
    println!("needs of the machine:");
    for line in printed.lines() {
        println!("    {}", line.trim());
    }
    Ok(())
}

/// Builds `gpu-suite` and what it depends on for these targets; the folders with the binaries of
/// kernels.
pub(crate) fn binary_folders(workspace: &Workspace, targets: &str) -> Result<Vec<PathBuf>> {
    let arguments = ["build", "--package", "gpu-suite", "--message-format=json"];
    let command = workspace.cargo(&arguments).env("KERNELMILL_TARGETS", targets);
    let messages = command.quiet().read()?;
    let executed = messages.lines().filter(|line| line.contains("\"build-script-executed\""));
    let folders = executed.filter_map(|line| {
        let (_, rest) = line.split_once("\"out_dir\":\"")?;
        let folder = PathBuf::from(rest.split('"').next()?);
        folder.join("kernels.rs").is_file().then_some(folder)
    });
    Ok(folders.collect())
}
