//! `cargo xtask gpu`: a bundle that tests and times every kernel on a machine with an NVIDIA GPU
//! and no Rust.

use crate::{
    setup,
    workspace::{Workspace, stage},
};
use anyhow::{Result, ensure};
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
}

/// Bytes that a bundle may have.
const LIMIT: u64 = 60 << 20;

/// What a person starts on the machine with the GPU.
const SCRIPT: &str = r#"#!/bin/sh
# Runs every kernel on the NVIDIA GPU of this machine and on its CPU, compares, and times.
# Writes gpu.json and gpu.md into the folder given (default: this one).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here}
mkdir -p "$out"
exec "$here/gpu-suite" --json "$out/gpu.json" --markdown "$out/gpu.md"
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
    let program = folder.join("gpu-suite");
    fs::copy(workspace.target.join("release/gpu-suite"), &program)?;
    let script = folder.join("run.sh");
    fs::write(&script, SCRIPT)?;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
    let size = fs::metadata(&program)?.len();
    ensure!(size < LIMIT, "the bundle has {size} bytes");
    libraries(workspace, &program)?;
    println!("{}: {:.1} MB; run `{}` there", folder.display(), size as f64 / 1e6, script.display());
    Ok(())
}

/// Builds `gpu-suite` without symbols.
fn build(workspace: &Workspace, targets: &str) -> Result<()> {
    let strip = ["--config", "profile.release.strip=true"];
    let arguments = [&["build", "--release", "--package", "gpu-suite"][..], &strip].concat();
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
