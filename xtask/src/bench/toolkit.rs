//! A CUDA toolkit that is replaced by another version in its place.

use crate::workspace::Workspace;
use anyhow::{Context as _, Result};
use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

/// The version in the place of the one that the set-up has installed.
const OTHER: &str = "13.4";

/// A folder that leads to one toolkit or another.
pub(super) struct Toolkit<'a> {
    workspace: &'a Workspace,
    /// The link that builds know.
    link: PathBuf,
}

impl<'a> Toolkit<'a> {
    /// The toolkit of the set-up.
    pub(super) fn new(workspace: &'a Workspace) -> Result<Self> {
        let link = workspace.target.join("tmp/bench/cuda");
        let toolkit = Self { workspace, link };
        toolkit.restore()?;
        Ok(toolkit)
    }

    /// The path for `CUDA_HOME`.
    pub(super) fn home(&self) -> String {
        self.link.display().to_string()
    }

    /// Puts the toolkit of the set-up in its place.
    pub(super) fn restore(&self) -> Result<()> {
        self.lead_to(&self.workspace.cuda_home())
    }

    /// Installs another version as users do, and puts it in the place of the first.
    pub(super) fn replace(&self) -> Result<()> {
        let cache = self.workspace.target.join("tmp/bench/toolkits");
        let what = format!("cuda@{OTHER}");
        let arguments = ["run", "--quiet", "--package", "cargo-kernelmill", "--", "kernelmill"];
        let command = self.workspace.cargo(&arguments).args(["toolchain", "install", "--force"]);
        command.arg(what).env("XDG_CACHE_HOME", &cache).quiet().run()?;
        let installed = cache.join("kernelmill/toolchains").join(format!("cuda-{OTHER}"));
        self.lead_to(&installed.join("nvidia/cu13"))
    }

    fn lead_to(&self, folder: &Path) -> Result<()> {
        if let Some(parent) = self.link.parent() {
            fs::create_dir_all(parent)?;
        }
        if self.link.is_symlink() {
            fs::remove_file(&self.link)?;
        }
        symlink(folder, &self.link).with_context(|| format!("linking {}", self.link.display()))
    }
}
