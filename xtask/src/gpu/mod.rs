//! `cargo xtask gpu`: a bundle that tests and times every kernel on a machine with an NVIDIA GPU
//! and no Rust.

use crate::{
    fake_driver, random_cuda, setup,
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

/// Bytes that a bundle may have.
const LIMIT: u64 = 60 << 20;

/// What a person starts on the machine with the GPU.
const SCRIPT: &str = include_str!("run.sh");

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
    for compiler in random_cuda::COMPILERS {
        let built = random_cuda::build(workspace, compiler, &["--release"], None)?;
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

/// What is looked at of the report of `gpu-suite`.
#[derive(serde::Deserialize)]
struct Report {
    device: String,
    rows: Vec<Row>,
}

#[derive(serde::Deserialize)]
struct Row {
    failure: Option<String>,
}

/// Runs the bundle on the fake driver. That it compares, and that it objects to a kernel that
/// is wrong.
fn check(workspace: &Workspace, script: &Path) -> Result<()> {
    let driver = fake_driver::build(workspace)?;
    let out = workspace.temporary_folder()?;
    let out = out.path();
    let run = || workspace.shell.cmd(script).arg(out).arg("--compare");
    run().envs(fake_driver::variables(&driver)).run()?;
    let report = fs::read_to_string(out.join("gpu.json"))?;
    let report: Report = serde_json::from_str(&report)?;
    ensure!(report.device.contains("PTX emulator"), "the bundle ran on {}", report.device);
    let random = fs::read_to_string(out.join("random.txt"))?;
    let programs = random.matches("on PTX emulator").count();
    ensure!(programs == 3, "random kernels ran on another device: {random}");
    let rows = report.rows.len();
    let failures = report.rows.iter().filter(|row| row.failure.is_some()).count();
    ensure!(rows > 0 && failures == 0, "{failures} of {rows} kernels are wrong");
    let order = [("FAKE_CUDA_FAIL", "cuLaunchKernel at call 7 with LAUNCH_FAILED")];
    let failing = run().envs(fake_driver::variables(&driver)).envs(order).ignore_status();
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

/// Prints the libraries that the machine with the GPU must have: those of every Linux.
fn libraries(workspace: &Workspace, program: &Path) -> Result<()> {
    let printed = workspace.shell.cmd("ldd").arg(program).quiet().ignore_status().read()?;
    println!("needs of the machine:");
    for line in printed.lines() {
        println!("    {}", line.trim());
    }
    Ok(())
}
