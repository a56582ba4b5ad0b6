//! What the figures were measured with and on.

use crate::workspace::Workspace;
use anyhow::{Context as _, Result};
use std::{fs, thread};

/// The head of a table: title, command, date, machine, compiler.
pub(super) fn heading(workspace: &Workspace, title: &str, set: &str) -> Result<String> {
    Ok(format!(
        "# {title}\n\n`cargo xtask bench {set}`, {}.\n\
         Times vary by a quarter from run to run on a shared machine; ratios are of one run.\n",
        machine(workspace)?,
    ))
}

/// The date, the machine and the compiler.
pub(crate) fn machine(workspace: &Workspace) -> Result<String> {
    let shell = &workspace.shell;
    let date = shell.cmd("date").args(["-u", "+%Y-%m-%d"]).quiet().read()?;
    let rustc = shell.cmd("rustc").arg("--version").quiet().read()?;
    let cores = thread::available_parallelism()?;
    Ok(format!("{date}, {cores} cores of {}, {rustc}", processor()?))
}

fn processor() -> Result<String> {
    let text = fs::read_to_string("/proc/cpuinfo")?;
    let line = text.lines().find(|line| line.starts_with("model name"));
    let (_, name) = line.and_then(|line| line.split_once(':')).context("the processor's name")?;
    let family = |key| {
        let line = text.lines().find(|line| line.starts_with(key))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let model = family("model\t").unwrap_or_default();
    Ok(format!("{} (model {model})", name.trim()))
}
