//! `cargo xtask gpu`: a bundle that tests and times every kernel on a machine with an NVIDIA GPU
//! and no Rust.

mod programs;
mod results;

use crate::{
    fake_driver, setup,
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
    /// Builds nothing: writes benches/results/gpu.md of a folder that `run.sh` has written on a machine with a GPU.
    #[arg(long, value_name = "FOLDER")]
    results: Option<PathBuf>,
}

/// Bytes that a packed bundle may have.
const LIMIT: u64 = 60 << 20;

/// What a person starts on the machine with the GPU.
const SCRIPT: &str = include_str!("run.sh");

/// Builds the bundle.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    if let Some(results) = &options.results {
        let date = workspace.shell.cmd("date").arg("+%F").quiet().read()?;
        let page = workspace.root.join("benches/results/gpu.md");
        return Ok(fs::write(page, results::page(results, &date)?)?);
    }
    stage("set-up", || setup::run(workspace))?;
    let folder = workspace.root.join(&options.out);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    programs::build(workspace, &options.targets, &folder)?;
    let script = folder.join("run.sh");
    fs::write(&script, SCRIPT)?;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
    libraries(workspace, &folder.join("gpu-suite"))?;
    let packed = folder.with_extension("tar.xz");
    stage("pack", || pack(workspace, &folder, &packed))?;
    let size = fs::metadata(&packed)?.len();
    ensure!(size < LIMIT, "{} has {size} bytes", packed.display());
    println!(
        "{}: {:.1} MB; unpack it there, and run `run.sh`",
        packed.display(),
        size as f64 / 1e6
    );
    if options.check {
        stage("the bundle on the fake driver", || check(workspace, &script))?;
    }
    Ok(())
}

/// Runs the bundle on the fake driver. That it compares, and that it objects to a kernel that
/// is wrong.
fn check(workspace: &Workspace, script: &Path) -> Result<()> {
    let driver = fake_driver::build(workspace)?;
    let out = workspace.temporary_folder()?;
    let out = out.path();
    let run = || workspace.shell.cmd(script).arg(out).args(["kernels", "random"]);
    run().envs(fake_driver::variables(&driver)).run()?;
    let report = results::Report::read(&out.join("kernels.json"))?;
    ensure!(
        report.device.contains("PTX emulator"),
        "the bundle ran on {}, not on the fake driver",
        report.device
    );
    for name in ["random", "random-nvcc", "random-clang"] {
        let random = fs::read_to_string(out.join(name).with_extension("txt"))?;
        ensure!(
            random.contains("on PTX emulator"),
            "{name} did not run on the fake driver: {random}"
        );
    }
    let rows = report.rows.len();
    let failures = report.rows.iter().filter(|row| row.failure.is_some()).count();
    ensure!(rows > 0 && failures == 0, "{failures} of {rows} kernels are wrong");
    let order = [("FAKE_CUDA_FAIL", "cuLaunchKernel at call 7 with LAUNCH_FAILED")];
    let failing = run().envs(fake_driver::variables(&driver)).envs(order).ignore_status();
    let output = failing.output().context("the bundle with a launch that fails")?;
    ensure!(!output.status.success(), "the bundle did not report a launch that failed");
    println!("{rows} kernels compared, none differs; a launch that fails is noticed");
    Ok(())
}

/// Packs the bundle. What all of its programs have in common is there once: the dictionary is larger than a program.
fn pack(workspace: &Workspace, folder: &Path, packed: &Path) -> Result<()> {
    let parent = folder.parent().context("a folder in another")?;
    let name = folder.file_name().context("a folder with a name")?;
    let tar = workspace.shell.cmd("tar").arg("--create").arg("--file").arg(packed);
    let tar = tar.args(["--use-compress-program", "xz --threads=0 -9 --lzma2=dict=256MiB"]);
    Ok(tar.arg("--directory").arg(parent).arg(name).run()?)
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
