//! Throw-away packages whose builds are measured.

use super::{files::copy, memory};
use crate::workspace::{Workspace, timed};
use anyhow::{Context as _, Result, bail, ensure};
use cargo_metadata::MetadataCommand;
use std::{fs, io::Write as _, path::PathBuf, time::Duration};
use xshell::Cmd;

/// A package below `target/tmp/bench` with a target folder and a store of its own.
pub(super) struct Package<'a> {
    workspace: &'a Workspace,
    folder: PathBuf,
    /// The folder of the store, which other packages can use too.
    store: PathBuf,
    variables: Vec<(&'static str, String)>,
}

/// A build whose memory was watched.
pub(super) struct Watched {
    pub(super) cost: BuildCost,
    /// The most that all its processes had resident at one time, in bytes.
    pub(super) peak_bytes: f64,
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
        let store = folder.join("cache");
        let package = Self { workspace, folder, store, variables: Vec::new() };
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
        let command =
            self.workspace.cargo_on_two_cores(arguments).arg("--manifest-path").arg(manifest);
        let command = command.env("CARGO_TARGET_DIR", self.folder.join("target"));
        let command = command
            .env("XDG_CACHE_HOME", &self.store)
            .env("KERNELMILL_LOG", "summary")
            .env("KERNELMILL_PROGRESS", "never");
        let set = |command: Cmd<'a>, (name, value): &(&str, String)| command.env(name, value);
        self.variables.iter().fold(command, set).quiet()
    }

    /// Sets a variable for every call of cargo.
    pub(super) fn with_variable(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.variables.push((name, value.into()));
        self
    }

    /// A path in the package.
    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.folder.join("package").join(path)
    }

    /// Appends to a file of the package, at a moment that modification times tell from the last.
    pub(super) fn append(&self, path: &str, text: &str) -> Result<()> {
        std::thread::sleep(Duration::from_millis(20));
        let mut file = fs::OpenOptions::new().append(true).open(self.path(path))?;
        Ok(file.write_all(text.as_bytes())?)
    }

    /// Compiles the dependencies, and nothing of the package itself: it is built with a build script
    /// and a library that are empty, which are then put back.
    pub(super) fn prepare(&self) -> Result<()> {
        let own = ["build.rs", "src/lib.rs"];
        let empty = ["fn main() {}\n", ""];
        let texts = own.map(|path| fs::read_to_string(self.path(path)));
        for (path, text) in own.iter().zip(empty) {
            self.write(path, text)?;
        }
        self.cargo(&["build", "--quiet", "--offline"]).run()?;
        std::thread::sleep(Duration::from_millis(20));
        for (path, text) in own.iter().zip(texts) {
            self.write(path, &text?)?;
        }
        Ok(())
    }

    /// What a build that has nothing to do costs; the build script must not run.
    pub(super) fn fresh(&self) -> Result<BuildCost> {
        let name = self.name()?;
        let said = self.cargo(&["build", "--offline", "--verbose"]).read_stderr()?;
        ensure!(said.contains(&format!("Fresh {name} ")), "the build script ran again:\n{said}");
        self.build()
    }

    /// What a build costs once cargo has forgotten the package, and nothing else.
    pub(super) fn clean_measured(&self) -> Result<BuildCost> {
        let name = self.name()?;
        self.cargo(&["clean", "--quiet", "--offline", "--package", &name]).run()?;
        self.build()
    }

    /// The same package in another folder, with the same store and nothing built.
    pub(super) fn second_checkout(&self, name: &str) -> Result<Self> {
        let folder = self.workspace.target.join("tmp/bench").join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        let (store, variables) = (self.store.clone(), self.variables.clone());
        let second = Self { workspace: self.workspace, folder, store, variables };
        copy(&self.path(""), &second.path(""))?;
        Ok(second)
    }

    /// What the build script printed last.
    pub(super) fn script_output(&self) -> Result<String> {
        let folders = fs::read_dir(self.folder.join("target/debug/build"))?;
        let prefix = format!("{}-", self.name()?);
        let mut found = Vec::new();
        for folder in folders {
            let folder = folder?;
            let output = folder.path().join("output");
            if folder.file_name().to_string_lossy().starts_with(&prefix) && output.is_file() {
                found.push((fs::metadata(&output)?.modified()?, output));
            }
        }
        let (_, newest) = found.into_iter().max().context("the build script has not run")?;
        Ok(fs::read_to_string(newest)?)
    }

    /// The generated bindings.
    pub(super) fn bindings(&self) -> Result<String> {
        let folders = fs::read_dir(self.folder.join("target/debug/build"))?;
        for folder in folders {
            let path = folder?.path().join("out/kernels.rs");
            if path.is_file() {
                return Ok(fs::read_to_string(path)?);
            }
        }
        bail!("there are no bindings")
    }

    /// The name in the manifest.
    fn name(&self) -> Result<String> {
        let asked = ["metadata", "--no-deps", "--offline", "--format-version", "1"];
        let metadata = MetadataCommand::parse(self.cargo(&asked).read()?)?;
        let package = metadata.packages.first().context("a package has a name")?;
        Ok(package.name.to_string())
    }

    /// Builds, and watches the memory of all processes that belong to it.
    pub(super) fn build_watched(&self) -> Result<Watched> {
        let (cost, peak_bytes) = memory::watched(|| self.build())?;
        Ok(Watched { cost, peak_bytes })
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
        format!("kernelmill-build = {{ path = \"{root}/build-helpers/build-script\" }}"),
    )
}
