//! Toolchains of Rust, as rustup installs them.

use crate::workspace::Workspace;
use anyhow::Result;

/// What the tests need of a toolchain.
const COMPONENTS: [&str; 3] = ["rustfmt", "clippy", "rust-analyzer"];

/// Installs the newest stable toolchain under its name, with what the tests need of it.
pub(crate) fn install_stable(workspace: &Workspace) -> Result<()> {
    let components = COMPONENTS.map(|component| ["--component", component]);
    install(workspace, "stable", components.as_flattened())
}

/// Adds what the tests need to the toolchain that runs them (`cargo +1.95 xtask test`).
pub(crate) fn add_components(workspace: &Workspace) -> Result<()> {
    let command = workspace.shell.cmd("rustup").args(["component", "add"]).args(COMPONENTS);
    Ok(command.ignore_stderr().run()?)
}

/// Whether the toolchain that runs the tests is the one that rustup has as `stable`.
pub(crate) fn is_stable(workspace: &Workspace) -> Result<bool> {
    let own = workspace.shell.cmd("rustc").arg("-vV").quiet().read()?;
    let stable =
        workspace.shell.cmd("rustup").args(["run", "stable", "rustc", "-vV"]).quiet().read()?;
    Ok(own == stable)
}

/// Installs a toolchain with components.
pub(crate) fn install(workspace: &Workspace, name: &str, components: &[&str]) -> Result<()> {
    let options = ["toolchain", "install", name, "--profile", "minimal", "--no-self-update"];
    let command = workspace.shell.cmd("rustup").args(options).args(components);
    Ok(command.ignore_stdout().run()?)
}
