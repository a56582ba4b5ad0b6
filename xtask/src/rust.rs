//! Toolchains of Rust, as rustup installs them.

use crate::workspace::Workspace;
use anyhow::Result;

/// Installs the newest stable toolchain under its name, with what the tests need of it.
pub(crate) fn install_stable(workspace: &Workspace) -> Result<()> {
    let components = ["--component", "rustfmt", "--component", "clippy"];
    install(workspace, "stable", &components)
}

/// Installs a toolchain with components.
pub(crate) fn install(workspace: &Workspace, name: &str, components: &[&str]) -> Result<()> {
    let options = ["toolchain", "install", name, "--profile", "minimal", "--no-self-update"];
    let command = workspace.shell.cmd("rustup").args(options).args(components);
    Ok(command.ignore_stdout().run()?)
}
