//! Runs each example, on the CPU also beside guard pages and with queued launches; each verifies its own result. Those of
//! [`EVERYWHERE`] run on each back end for kernels in Rust that is there: here on the CPU, pocl, lavapipe and the fake CUDA
//! driver, in `tests/hip-backend` on the fake HIP run time. `devices` runs on four back ends at once, of which CUDA
//! has two devices.

use crate::{fake_driver, intel_opencl::IntelOpenCl, one_build, workspace::Workspace};
use anyhow::{Result, ensure};
use std::path::Path;
use xshell::Cmd;

/// The name of an example, and its arguments.
type Example = (&'static str, &'static [&'static str]);

/// What the loader of OpenCL is to find.
const POCL: &str = "/etc/OpenCL/vendors/pocl.icd";

/// What the loader of Vulkan is to find: lavapipe, a device on the processor.
const LAVAPIPE: &str = "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json";

/// The variables by which the loader of Vulkan is told of drivers, the newer first.
const VULKAN_DRIVERS: [&str; 2] = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"];

/// Every example.
const EXAMPLES: [Example; 13] = [
    ("saxpy", &[]),
    ("mandelbrot", &["--size", "320x200"]),
    ("photo", &[]),
    ("reduce", &[]),
    ("matmul", &[]),
    ("nbody", &[]),
    ("fluid", &["--size", "64x48", "--frames", "3", "--steps", "2"]),
    ("autodiff", &[]),
    ("transformer", &["--steps", "120"]),
    ("dispatch", &[]),
    ("blas", &[]),
    ("devices", &[]),
    ("cudarc-interop", &[]),
];

/// Examples that learn on the CPU, and elsewhere, where that takes too long, only have to compute the same.
const SHORT: [Example; 1] = [("transformer", &["--steps", "6", "--batch", "4", "--sample", "20"])];

/// Examples that have less to do on the fake CUDA driver, which needs seconds for what devices do at once.
const EMULATED: [Example; 1] =
    [("transformer", &["--steps", "3", "--batch", "1", "--sample", "2"])];

/// The examples that run unchanged on every back end for kernels in Rust.
const EVERYWHERE: [&str; 4] = ["saxpy", "photo", "matmul", "reduce"];

/// The examples that run on OpenCL devices, and on those of Vulkan. `transformer` is not among the others, as its arguments would not reach the programs of
/// `tests/hip-backend`.
const ON_OPENCL: [&str; 6] = ["saxpy", "photo", "matmul", "reduce", "nbody", "transformer"];

/// Translates SPIR-V for pocl of Debian, which reads none, behind `opencl-layer`.
const TRANSLATOR: &str = "llvm-spirv-15";

/// Runs every example, in a folder for what they write: on the CPU, or on the CUDA driver in the folder `driver`.
pub(crate) fn run_all(workspace: &Workspace, driver: Option<&Path>) -> Result<()> {
    let folder = workspace.temporary_folder()?;
    let folder = folder.path();
    build(workspace, EXAMPLES.map(|(name, _)| name)).run()?;
    for example in EXAMPLES {
        match driver {
            Some(driver) => run_one(workspace, folder, example, Machine::FakeDriver(driver))?,
            None => run_on_cpu(workspace, folder, example)?,
        }
    }
    match driver {
        Some(driver) => on_four_back_ends(workspace, driver)?,
        None => {
            on_opencl_and_vulkan(workspace, folder)?;
            on_intel(workspace, folder)?;
        }
    }
    let picture = std::fs::metadata(folder.join("mandelbrot.png"))?;
    ensure!(picture.len() > 1000, "mandelbrot.png is only {} bytes", picture.len());
    Ok(())
}

/// A build of some examples. They have the features of all packages, among them those of every back end; what the host
/// computes is not optimised, kernels are.
fn build(workspace: &Workspace, names: impl IntoIterator<Item = &'static str>) -> Cmd<'_> {
    let names = names.into_iter().flat_map(|name| ["--bin", name]);
    workspace.cargo(&["build", "--workspace"]).args(names)
}

/// Runs the example of several devices with two of the driver's, pocl and lavapipe beside the CPU.
fn on_four_back_ends(workspace: &Workspace, driver: &Path) -> Result<()> {
    let program = one_build::path(workspace, "devices");
    let cache = workspace.temporary_folder()?;
    let output = workspace.shell.cmd(program).envs(fake_driver::variables(driver));
    let output = output.env("FAKE_CUDA_DEVICES", "2");
    let output = output.envs(VULKAN_DRIVERS.map(|variable| (variable, LAVAPIPE)));
    let output = output.env("OCL_ICD_VENDORS", POCL).env("POCL_CACHE_DIR", cache.path()).read()?;
    println!("{output}");
    for device in ["cuda:0", "cuda:1", "cpu", "opencl:0", "wgpu:0"] {
        let has_rows = |line: &str| line.trim_start().starts_with(device);
        ensure!(output.lines().any(has_rows), "devices ran without {device}");
    }
    Ok(())
}

/// Runs the examples of [`ON_OPENCL`], built as SPIR-V too, on pocl and on lavapipe.
fn on_opencl_and_vulkan(workspace: &Workspace, folder: &Path) -> Result<()> {
    workspace.cargo(&["build", "--package", "opencl-layer"]).run()?;
    build(workspace, ON_OPENCL).env("KERNELMILL_TARGETS", "cpu,spirv64,vulkan").run()?;
    for example in EXAMPLES.into_iter().filter(|(name, _)| ON_OPENCL.contains(name)) {
        run_one(workspace, folder, example, Machine::OpenCl)?;
        run_one(workspace, folder, example, Machine::Vulkan)?;
    }
    Ok(())
}

/// Runs them on Intel's run time, where it is installed, which reads SPIR-V.
fn on_intel(workspace: &Workspace, folder: &Path) -> Result<()> {
    let Some(intel) = IntelOpenCl::find(workspace) else { return Ok(()) };
    for (name, arguments) in EXAMPLES.into_iter().filter(|(name, _)| ON_OPENCL.contains(name)) {
        let program = one_build::path(workspace, name);
        let _in_folder = workspace.shell.push_dir(folder);
        let output = workspace.shell.cmd(program).args(arguments).envs(intel.alone()).read()?;
        println!("{output}");
        ensure!(output.contains("Intel"), "{name} ran on another device than Intel's");
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
    /// pocl, with SPIR-V.
    OpenCl,
    /// lavapipe.
    Vulkan,
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
    let shorter: &[Example] = match machine {
        Machine::Cpu => &[],
        Machine::FakeDriver(_) => &EMULATED,
        _ => &SHORT,
    };
    let shorter = shorter.iter().find(|(shorter, _)| *shorter == name);
    let arguments = shorter.map_or(arguments, |(_, arguments)| arguments);
    let program = one_build::path(workspace, name);
    let _in_folder = workspace.shell.push_dir(folder);
    let output = workspace.shell.cmd(program).args(arguments);
    let device = match machine {
        Machine::FakeDriver(_) if EVERYWHERE.contains(&name) => Some("cuda:0"),
        Machine::OpenCl => Some("opencl:0"),
        Machine::Vulkan => Some("wgpu:0"),
        Machine::Cpu if EVERYWHERE.contains(&name) => Some("cpu"),
        _ => None,
    };
    let output = output.envs(device.map(|device| ("KERNELMILL_DEVICE", device)));
    // All examples are built with the features of all, so a GPU of Vulkan or OpenCL could be the best device.
    let vulkan = if matches!(machine, Machine::Vulkan) { LAVAPIPE } else { "/no/such.json" };
    let output = output.envs(VULKAN_DRIVERS.map(|variable| (variable, vulkan)));
    let opencl = if matches!(machine, Machine::OpenCl) { POCL } else { "/no/such.icd" };
    let output = output.env("OCL_ICD_VENDORS", opencl);
    let output = match machine {
        Machine::Cpu | Machine::Vulkan => output.read()?,
        Machine::OpenCl => output
            .env("OPENCL_DYLIB_PATH", workspace.target.join("debug/libopencl_layer.so"))
            .env("OPENCL_LAYER_SPIRV", TRANSLATOR)
            .env("POCL_CACHE_DIR", folder.join("pocl-cache"))
            .read()?,
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
        "{name} ran on another device than its stage is for"
    );
    let is_lavapipe = output.contains("llvmpipe");
    ensure!(
        is_lavapipe || !matches!(machine, Machine::Vulkan),
        "{name} ran on another device than lavapipe"
    );
    let is_pocl = output.contains("Portable Computing Language");
    ensure!(
        is_pocl || !matches!(machine, Machine::OpenCl),
        "{name} ran on another device than pocl"
    );
    Ok(())
}
