//! Runs each example, on the CPU also beside guard pages and with queued launches; each verifies its own result.

use crate::{fake_driver, workspace::Workspace};
use anyhow::{Result, ensure};
use std::path::Path;

/// The name of an example, and its arguments.
type Example = (&'static str, &'static [&'static str]);

/// What the loader of OpenCL is to find.
const POCL: &str = "/etc/OpenCL/vendors/pocl.icd";

/// Every example.
const EXAMPLES: [Example; 11] = [
    ("saxpy", &[]),
    ("mandelbrot", &["--size", "320x200"]),
    ("photo", &[]),
    ("reduce", &[]),
    ("matmul", &[]),
    ("nbody", &[]),
    ("autodiff", &[]),
    ("dispatch", &[]),
    ("blas", &[]),
    ("devices", &[]),
    ("cudarc-interop", &[]),
];

/// Runs every example in release mode, in a folder for what they write: on the CPU, or on the CUDA
/// driver in the folder `driver`.
pub(crate) fn run_all(workspace: &Workspace, driver: Option<&Path>) -> Result<()> {
    let folder = workspace.temporary_folder()?;
    let folder = folder.path();
    let mut build = vec!["build", "--release"];
    for (name, _) in EXAMPLES {
        build.extend(["--package", name]);
    }
    workspace.cargo(&build).run()?;
    for example in EXAMPLES {
        match driver {
            Some(driver) => run_one(workspace, folder, example, Machine::FakeDriver(driver))?,
            None => run_on_cpu(workspace, folder, example)?,
        }
    }
    if let Some(driver) = driver {
        on_three_back_ends(workspace, driver)?;
    }
    let picture = std::fs::metadata(folder.join("mandelbrot.png"))?;
    ensure!(picture.len() > 1000, "mandelbrot.png is only {} bytes", picture.len());
    Ok(())
}

/// Runs the example of several devices with pocl beside the driver and the CPU.
fn on_three_back_ends(workspace: &Workspace, driver: &Path) -> Result<()> {
    let program = workspace.target.join("release/devices");
    let cache = workspace.temporary_folder()?;
    let output = workspace.shell.cmd(program).envs(fake_driver::variables(driver));
    let output = output.env("OCL_ICD_VENDORS", POCL).env("POCL_CACHE_DIR", cache.path()).read()?;
    println!("{output}");
    for device in ["cuda:0", "cpu", "opencl:0"] {
        let has_rows = |line: &str| line.trim_start().starts_with(device);
        ensure!(output.lines().any(has_rows), "devices ran without {device}");
    }
    Ok(())
}

/// What an example runs on.
#[derive(Clone, Copy)]
enum Machine<'d> {
    Cpu,
    /// The CPU with launches that are queued.
    CpuAsync,
    /// With pages that cannot be touched on this side of each buffer, on a processor with these vectors.
    CpuBesideGuardPages(&'d str, &'d str),
    /// The CUDA driver in this folder.
    FakeDriver(&'d Path),
}

/// Runs an example on the CPU, with queued launches, and beside guard pages in each vector width.
fn run_on_cpu(workspace: &Workspace, folder: &Path, example: Example) -> Result<()> {
    run_one(workspace, folder, example, Machine::Cpu)?;
    run_one(workspace, folder, example, Machine::CpuAsync)?;
    for side in ["before", "after"] {
        for processor in ["baseline", "avx2", "avx512"] {
            let machine = Machine::CpuBesideGuardPages(side, processor);
            run_one(workspace, folder, example, machine)?;
        }
    }
    Ok(())
}

fn run_one(
    workspace: &Workspace,
    folder: &Path,
    (name, arguments): Example,
    machine: Machine<'_>,
) -> Result<()> {
    let program = workspace.target.join("release").join(name);
    let _in_folder = workspace.shell.push_dir(folder);
    let output = workspace.shell.cmd(program).args(arguments);
    let output = match machine {
        Machine::Cpu => output.read()?,
        Machine::CpuAsync => output.env("KERNELMILL_DEVICE", "cpu-async").quiet().read()?,
        Machine::CpuBesideGuardPages(side, processor) => output
            .env("KERNELMILL_GUARD_PAGES", side)
            .env("KERNELMILL_CPU", processor)
            .quiet()
            .read()?,
        Machine::FakeDriver(driver) => output.envs(fake_driver::variables(driver)).read()?,
    };
    if !matches!(machine, Machine::CpuBesideGuardPages(..) | Machine::CpuAsync) {
        println!("{output}");
    }
    ensure!(!output.trim().is_empty(), "{name} printed nothing");
    let emulated = output.contains("PTX emulator");
    ensure!(
        emulated == matches!(machine, Machine::FakeDriver(_)),
        "{name} ran on another device than it should"
    );
    Ok(())
}
