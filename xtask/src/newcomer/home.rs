//! An empty home folder, a checkout in it, and a shell.

use crate::{bare, workspace::Workspace};
use anyhow::{Context as _, Result, ensure};
use std::{
    env, fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};
use tempfile::TempDir;

/// The crates that people name in a `Cargo.toml`, with their folders in the checkout.
const CRATES: [(&str, &str); 3] = [
    ("kernelmill", ""),
    ("kernelmill-build", "build-helpers/build-script"),
    ("kernelmill-device", "build-helpers/device"),
];

/// What a newcomer has: a home folder with Cargo's, and nothing else in reach.
pub(super) struct Home {
    /// Removed with this.
    place: TempDir,
    programs: PathBuf,
}

impl Home {
    /// A home folder whose Cargo takes this workspace's crates for those of the registry, and other crates from what the
    /// caller's Cargo has downloaded.
    pub(super) fn new(workspace: &Workspace) -> Result<Self> {
        // Not below this workspace, which Cargo would find above each package.
        let place = tempfile::tempdir()?;
        let programs = bare::programs(workspace, place.path())?;
        let home = Self { place, programs };
        fs::create_dir_all(home.cargo())?;
        let own = env::var_os("CARGO_HOME").map(PathBuf::from);
        let own = own.or_else(|| Some(env::home_dir()?.join(".cargo")));
        let registry = own.context("HOME is not set")?.join("registry");
        ensure!(registry.is_dir(), "{} is not there: build once", registry.display());
        symlink(registry, home.cargo().join("registry"))?;
        copy(workspace, &home.checkout())?;
        let mut config = "[net]\noffline = true\n\n[patch.crates-io]\n".to_owned();
        for (name, folder) in CRATES {
            let path = home.checkout().join(folder);
            config += &format!("{name} = {{ path = {:?} }}\n", path.display().to_string());
        }
        fs::write(home.cargo().join("config.toml"), config)?;
        Ok(home)
    }

    /// The home folder itself.
    pub(super) fn folder(&self) -> PathBuf {
        self.place.path().join("home")
    }

    /// What `git clone` makes.
    pub(super) fn checkout(&self) -> PathBuf {
        self.folder().join("kernelmill")
    }

    fn cargo(&self) -> PathBuf {
        self.folder().join(".cargo")
    }

    fn target(&self) -> PathBuf {
        self.place.path().join("target")
    }

    /// Runs lines of a shell in a folder, and gives what they printed, and the folder that they end in.
    ///
    /// # Errors
    ///
    /// With all that they printed, where one fails.
    pub(super) fn shell(&self, lines: &str, folder: &Path) -> Result<(String, PathBuf)> {
        let end = self.place.path().join("end");
        let script = format!("set -e\n{lines}\npwd > \"{}\"\n", end.display());
        let path = env::join_paths([self.programs.clone(), self.cargo().join("bin")])?;
        let mut command = Command::new(self.programs.join("sh"));
        command.args(["-c", &script]).current_dir(folder).env_clear();
        command.env("PATH", path).env("HOME", self.folder()).env("CARGO_HOME", self.cargo());
        // One for all packages, which saves the time of compiling the same crates again.
        command.env("CARGO_TARGET_DIR", self.target()).env("CARGO_TERM_COLOR", "never");
        // What the pages say does not depend on how fast the tools are, and half of the time is saved.
        command.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0").env("CARGO_PROFILE_DEV_DEBUG", "0");
        command.env("CARGO_INCREMENTAL", "0");
        let output = command.output()?;
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{}\n{lines}\n{printed}\n{errors}", output.status);
        let own = self.target().display().to_string();
        let end = PathBuf::from(fs::read_to_string(end)?.trim_end());
        Ok((printed.replace(&own, "target"), end))
    }
}

/// Copies the files of the checkout that git knows, or would.
fn copy(workspace: &Workspace, to: &Path) -> Result<()> {
    let list = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
    let files = workspace.shell.cmd("git").args(list).quiet().read()?;
    for name in files.split('\0').filter(|name| !name.is_empty()) {
        let (from, to) = (workspace.root.join(name), to.join(name));
        let Ok(data) = fs::symlink_metadata(&from) else { continue };
        fs::create_dir_all(to.parent().context("a file has a folder")?)?;
        if data.is_symlink() {
            symlink(fs::read_link(&from)?, &to)?;
        } else {
            fs::copy(&from, &to).with_context(|| format!("cannot copy {}", from.display()))?;
        }
    }
    Ok(())
}
