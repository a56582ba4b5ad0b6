//! Throw-away packages whose builds are measured.

use crate::workspace::{Workspace, timed};
use anyhow::{Context as _, Result};
use std::{fs, path::PathBuf};
use xshell::Cmd;

/// A package below `target/tmp/bench` with a target folder and a store of its own.
pub(super) struct Package<'a> {
    workspace: &'a Workspace,
    folder: PathBuf,
}

impl<'a> Package<'a> {
    /// A package of this name with these files, and nothing built.
    pub(super) fn new(
        workspace: &'a Workspace,
        name: &str,
        files: &[(&str, String)],
    ) -> Result<Self> {
        let folder = workspace.target.join("tmp/bench").join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        let package = Self { workspace, folder };
        for (path, text) in files {
            package.write(path, text)?;
        }
        // The versions of the workspace; cargo drops what the package does not need.
        fs::copy(workspace.root.join("Cargo.lock"), package.folder.join("package/Cargo.lock"))?;
        package.cargo(&["fetch", "--quiet"]).run()?;
        Ok(package)
    }

    /// Writes a file below the package.
    pub(super) fn write(&self, path: &str, text: &str) -> Result<()> {
        let path = self.folder.join("package").join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        Ok(fs::write(path, text)?)
    }

    /// A call of cargo on the package.
    pub(super) fn cargo(&self, arguments: &[&str]) -> Cmd<'a> {
        let manifest = self.folder.join("package/Cargo.toml");
        let command = self.workspace.cargo(arguments).arg("--manifest-path").arg(manifest);
        let command = command.env("CARGO_TARGET_DIR", self.folder.join("target"));
        command.env("XDG_CACHE_HOME", self.folder.join("cache")).quiet()
    }

    /// What `cargo build` costs with nothing built and an empty store.
    pub(super) fn clean_build(&self) -> Result<BuildCost> {
        for name in ["target", "cache"] {
            let folder = self.folder.join(name);
            if folder.exists() {
                fs::remove_dir_all(folder)?;
            }
        }
        self.build()
    }

    /// What `cargo build` costs as things are.
    pub(super) fn build(&self) -> Result<BuildCost> {
        let command = self.cargo(&["build", "--quiet", "--offline"]);
        let before = processor_seconds()?;
        let (wall, ()) = timed(|| Ok(command.run()?))?;
        Ok(BuildCost { wall: wall.as_secs_f64(), processor: processor_seconds()? - before })
    }
}

/// What a build costs, in seconds.
#[derive(Clone, Copy)]
pub(super) struct BuildCost {
    /// From start to end.
    pub(super) wall: f64,
    /// Of all its processes on all cores: other work on the machine hardly changes it.
    pub(super) processor: f64,
}

/// Seconds that the children of this process have used so far, those that have ended.
fn processor_seconds() -> Result<f64> {
    let text = fs::read_to_string("/proc/self/stat")?;
    // The name of the program comes second, in parentheses; the numbers follow.
    let (_, numbers) = text.rsplit_once(')').context("a line of /proc/self/stat")?;
    let mut ticks = 0.0;
    for number in numbers.split_whitespace().skip(13).take(2) {
        ticks += number.parse::<f64>()?;
    }
    // Linux gives hundredths of a second to programs, whatever its own clock.
    Ok(ticks / 100.0)
}

/// A `Cargo.toml` with these dependencies and settings.
pub(super) fn manifest(dependencies: &str, build_dependencies: &str, settings: &str) -> String {
    format!(
        "[package]\nname = \"measured\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
         [dependencies]\n{dependencies}\n\n[build-dependencies]\n{build_dependencies}\n\n\
         [package.metadata.kernelmill]\n{settings}\n\n[workspace]\n"
    )
}

/// The lines that depend on the run time and on the build side of this workspace.
pub(super) fn dependencies(workspace: &Workspace) -> (String, String) {
    let root = workspace.root.display();
    (
        format!("kernelmill = {{ path = \"{root}\", features = [\"cuda\"] }}"),
        format!("kernelmill-build = {{ path = \"{root}/build-helpers/build\" }}"),
    )
}
