//! Kernels on the CPU, as `benches/cpu` measures them.

use crate::workspace::{Workspace, stage};
use anyhow::{Context as _, Result, ensure};
use std::path::Path;
use xshell::cmd;

/// What pocl has to install: Debian's package, and the file by which programs find it.
const POCL: (&str, &str) = ("pocl-opencl-icd", "/etc/OpenCL/vendors/pocl.icd");

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
    let printed = stage("measure", || Ok(workspace.shell.cmd(program).read()?))?;
    ensure!(!printed.trim().is_empty(), "the benchmark printed nothing");
    Ok(printed)
}

fn install_pocl(workspace: &Workspace) -> Result<()> {
    let (package, file) = POCL;
    if Path::new(file).is_file() {
        return Ok(());
    }
    let shell = &workspace.shell;
    cmd!(shell, "apt-get update").run()?;
    cmd!(shell, "apt-get install --yes --no-install-recommends {package}")
        .env("DEBIAN_FRONTEND", "noninteractive")
        .run()
        .with_context(|| format!("install as root: {package}"))
}
