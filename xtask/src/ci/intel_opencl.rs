//! Every kernel of `tests/conformance`, and the examples, on Intel's OpenCL run time, where that is installed.

use super::examples;
use crate::{
    intel_opencl::{DEVICE, IntelOpenCl, VARIABLE},
    workspace::Workspace,
};
use anyhow::Result;

pub(super) fn run(workspace: &Workspace) -> Result<()> {
    let Some(intel) = IntelOpenCl::find(workspace)? else {
        println!("it is not installed; {VARIABLE}=1 installs it, under Intel's licence");
        return Ok(());
    };
    let (package, example) = (["--package", "conformance-spirv"], ["--example", "on_device"]);
    workspace.cargo(&["build"]).args(package).args(example).run()?;
    let program = workspace.target.join("debug/examples/on_device");
    workspace.shell.cmd(program).envs(intel.variables()).envs([DEVICE]).run()?;
    examples::on_intel(workspace, &intel)
}
