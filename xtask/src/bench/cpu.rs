//! Kernels on the CPU, as `benches/cpu-bench` measures them.

use crate::{
    intel_opencl::IntelOpenCl,
    workspace::{Workspace, stage},
};
use anyhow::{Context as _, Result, ensure};
use std::path::Path;
use xshell::cmd;

/// Debian's packages of pocl, and of the library through which programs find it.
const POCL: [&str; 2] = ["pocl-opencl-icd", "ocl-icd-libopencl1"];

/// The files by which they are known to be there: one that pocl brings, and what the loader knows.
const FILES: (&str, &str) = ("/etc/OpenCL/vendors/pocl.icd", "libOpenCL.so.1");

/// Installs pocl where it is missing, builds for this machine, and keeps what the benchmark prints.
pub(super) fn measure(workspace: &Workspace) -> Result<String> {
    stage("set-up", || install_pocl(workspace))?;
    stage("build", || {
        // The plain loops and the vectors are in this crate; ours choose when they run.
        let build = ["rustc", "--release", "--package", "cpu-bench", "--bin", "cpu-bench"];
        let build = workspace.cargo(&build).args(["--", "-C", "target-cpu=native"]);
        Ok(build.run()?)
    })?;
    let program = workspace.target.join("release/cpu-bench");
    let intel = IntelOpenCl::find(workspace).map(|intel| intel.beside_pocl()).transpose()?;
    let printed = stage("measure", || Ok(workspace.shell.cmd(program).envs(intel).read()?))?;
    ensure!(!printed.trim().is_empty(), "the benchmark printed nothing");
    Ok(printed)
}

fn install_pocl(workspace: &Workspace) -> Result<()> {
    let (file, library) = FILES;
    let shell = &workspace.shell;
    let known = cmd!(shell, "ldconfig -p").quiet().read()?;
    if Path::new(file).is_file() && known.contains(library) {
        return Ok(());
    }
    cmd!(shell, "apt-get update").run()?;
    cmd!(shell, "apt-get install --yes --no-install-recommends {POCL...}")
        .env("DEBIAN_FRONTEND", "noninteractive")
        .run()
        .with_context(|| format!("install as root: {}", POCL.join(" ")))
}
