//! Installs what the tests need: NVIDIA's assembler and disassemblers and Taplo as Python wheels, and
//! Debian packages where one of the few programs used here is missing.

use crate::{
    intel_opencl, rust, taplo,
    targets::{self, AARCH64_GCC, MINGW, QEMU, WINE},
    workspace::{Workspace, find_program},
};
use anyhow::{Context as _, Result, bail};
use std::{fs, path::Path};
use xshell::cmd;

/// The wheels: nvcc with ptxas, the two disassemblers, the headers nvcc includes by itself, and the compiler as a library.
const WHEELS: [&str; 5] = [
    "nvidia-cuda-nvcc==13.*",
    "nvidia-cuda-cuobjdump==13.*",
    "nvidia-cuda-nvdisasm==13.*",
    "nvidia-cuda-cccl==13.*",
    "nvidia-cuda-nvrtc==13.*",
];

/// Programs the tests call, with the Debian package that has each. nvcc starts g++; clang is of the
/// version of rustc's LLVM, which reads what it makes; spirv-val validates
/// SPIR-V, and llvm-spirv translates it for pocl, whose LLVM it is of; the last four are for the stage `cross-builds`.
const PROGRAMS: [(&str, &str); 11] = [
    ("cc", "gcc"),
    ("g++", "g++"),
    ("python3", "python3"),
    ("ar", "binutils"),
    ("clang-22", "clang-22"),
    ("spirv-val", "spirv-tools"),
    ("llvm-spirv-15", "llvm-spirv-15"),
    (QEMU, "qemu-user"),
    (AARCH64_GCC, "gcc-aarch64-linux-gnu"),
    (MINGW, "gcc-mingw-w64-x86-64-win32"),
    (WINE, "wine"),
];

/// Files the tests read, in the same way: AMD's mathematical functions, glibc for aarch64, which the compiler
/// for aarch64 only recommends, an implementation of OpenCL, a driver of Vulkan, and the libraries that
/// load them.
const FILES: [(&str, &str); 6] = [
    ("/usr/lib/x86_64-linux-gnu/amdgcn/bitcode/ocml.bc", "rocm-device-libs"),
    ("/usr/aarch64-linux-gnu/lib/crti.o", "libc6-dev-arm64-cross"),
    ("/etc/OpenCL/vendors/pocl.icd", "pocl-opencl-icd"),
    ("/usr/lib/x86_64-linux-gnu/libOpenCL.so.1", "ocl-icd-libopencl1"),
    ("/usr/share/vulkan/icd.d/lvp_icd.x86_64.json", "mesa-vulkan-drivers"),
    ("/usr/lib/x86_64-linux-gnu/libvulkan.so.1", "libvulkan1"),
];

/// What a run of all tests writes below the target folder, in GiB, with the variables of `.ci/run`.
const TARGET_FOLDER: u64 = 12;

/// What set-up installs beside what all tests need.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Installs Intel's run time of OpenCL for processors too, whose licence is Intel's own; tests take it where it is.
    #[arg(long)]
    intel_opencl: bool,
}

/// Installs what is missing, and what is asked for.
pub(crate) fn run_with(workspace: &Workspace, options: &Options) -> Result<()> {
    run(workspace)?;
    if options.intel_opencl { intel_opencl::install(workspace) } else { Ok(()) }
}

/// Installs what is missing; a second call does nothing.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    disk_space(workspace);
    debian_packages(workspace)?;
    rust_components(workspace)?;
    wheels(workspace)?;
    taplo::install(workspace)
}

/// Says early what would otherwise end a run in its middle.
fn disk_space(workspace: &Workspace) {
    let root = &workspace.root;
    // GNU's; elsewhere nothing is said.
    let df = cmd!(workspace.shell, "df --output=avail -B1G {root}").quiet().ignore_stderr().read();
    if let Some(free) = df.ok().as_deref().and_then(|text| text.lines().last()) {
        let free = free.trim();
        println!("disk: {free} GiB free; all tests write about {TARGET_FOLDER} GiB at first");
    }
}

fn debian_packages(workspace: &Workspace) -> Result<()> {
    let mut missing: Vec<&str> = PROGRAMS
        .iter()
        .filter(|(program, _)| find_program(program).is_none())
        .map(|(_, package)| *package)
        .collect();
    missing.extend(
        FILES.iter().filter(|(file, _)| !Path::new(file).exists()).map(|(_, package)| *package),
    );
    let shell = &workspace.shell;
    let has_pip = !missing.contains(&"python3")
        && cmd!(shell, "python3 -m pip --version").quiet().ignore_stdout().run().is_ok();
    let has_wheels = wheels_are_installed(workspace) && taplo::is_installed(workspace);
    if !has_pip && !has_wheels {
        missing.push("python3-pip");
    }
    if missing.is_empty() {
        return Ok(());
    }
    if find_program("apt-get").is_none() {
        bail!("install the equivalents of these Debian packages first: {}", missing.join(" "));
    }
    if cmd!(shell, "id -u").quiet().read()?.trim() != "0" {
        bail!("these packages are missing; as root: apt-get install {}", missing.join(" "));
    }
    cmd!(shell, "apt-get update").run()?;
    let packages = &missing;
    cmd!(shell, "apt-get install --yes --no-install-recommends {packages...}")
        .env("DEBIAN_FRONTEND", "noninteractive")
        .run()
        .with_context(|| format!("this system has not all of: {}", missing.join(" ")))
}

fn rust_components(workspace: &Workspace) -> Result<()> {
    rust::install_stable(workspace)?;
    let shell = &workspace.shell;
    let mut missing = Vec::new();
    for target in targets::ALL {
        let folder = cmd!(shell, "rustc --print target-libdir --target {target}").quiet().read()?;
        if !Path::new(&folder).is_dir() {
            missing.push(target);
        }
    }
    if !missing.is_empty() {
        cmd!(shell, "rustup target add {missing...}").run()?;
    }
    rust::add_components(workspace)
}

/// What the wheels on disk were asked for as; another list installs again.
fn stamp() -> String {
    WHEELS.join("\n")
}

fn wheels_are_installed(workspace: &Workspace) -> bool {
    let stamp_file = workspace.toolchains.join("installed.txt");
    fs::read_to_string(stamp_file).is_ok_and(|text| text == stamp())
        && workspace.cuda_program("ptxas").is_ok()
}

fn wheels(workspace: &Workspace) -> Result<()> {
    if wheels_are_installed(workspace) {
        println!("wheels: installed already in {}", workspace.toolchains.display());
        return Ok(());
    }
    let (shell, folder) = (&workspace.shell, &workspace.toolchains);
    let unfinished = folder.with_extension("part");
    for path in [folder, &unfinished] {
        if path.exists() {
            fs::remove_dir_all(path)?;
        }
    }
    let options = ["--quiet", "--disable-pip-version-check", "--root-user-action=ignore"];
    cmd!(shell, "python3 -m pip install {options...} --target {unfinished} {WHEELS...}").run()?;
    // The stamp comes last and the folder moves in one step: a set-up that is killed starts over.
    fs::write(unfinished.join("installed.txt"), stamp())?;
    fs::rename(&unfinished, folder)?;
    let ptxas = workspace.cuda_program("ptxas")?;
    let version = cmd!(shell, "{ptxas} --version").quiet().read()?;
    println!("wheels: {}", version.lines().last().unwrap_or_default());
    Ok(())
}
