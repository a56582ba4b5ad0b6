//! Taplo, the reader of TOML of editors. Tests check the schemas of the settings by it.

use crate::workspace::Workspace;
use anyhow::Result;
use std::{fs, path::PathBuf};
use xshell::cmd;

/// The wheel, of 5 MB, which has the program alone.
const WHEEL: &str = "taplo==0.9.3";

/// Where it is installed; `tests/test-support` looks for it. Not below `toolchains`, which another list of NVIDIA's wheels
/// replaces.
fn folder(workspace: &Workspace) -> PathBuf {
    workspace.root.join("target/taplo")
}

/// Whether this version is installed.
pub(crate) fn is_installed(workspace: &Workspace) -> bool {
    let stamp = fs::read_to_string(folder(workspace).join("installed.txt"));
    stamp.is_ok_and(|text| text == WHEEL)
}

/// Installs it below the target folder; a second call does nothing.
pub(crate) fn install(workspace: &Workspace) -> Result<()> {
    let folder = folder(workspace);
    if is_installed(workspace) {
        println!("Taplo: installed already in {}", folder.display());
        return Ok(());
    }
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let (shell, program) = (&workspace.shell, folder.join("bin/taplo"));
    let options = ["--quiet", "--disable-pip-version-check", "--root-user-action=ignore"];
    cmd!(shell, "python3 -m pip install {options...} --target {folder} {WHEEL}").run()?;
    println!("Taplo: {}", cmd!(shell, "{program} --version").quiet().read()?);
    // Last, so that a set-up that is killed starts over.
    Ok(fs::write(folder.join("installed.txt"), WHEEL)?)
}
