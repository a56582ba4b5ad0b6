//! Where things lie, and how to run a program among them.

use anyhow::{Context as _, Result, bail};
use cargo_metadata::{Metadata, MetadataCommand, Package};
use std::{
    env,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};
use tempfile::{NamedTempFile, TempDir};
use xshell::{Cmd, Shell};

/// The workspace that this program belongs to.
pub(crate) struct Workspace {
    /// A shell whose current folder is the root of the workspace.
    pub(crate) shell: Shell,
    /// The root of the workspace.
    pub(crate) root: PathBuf,
    /// Cargo's target folder.
    pub(crate) target: PathBuf,
    /// Where the wheels with NVIDIA's tools are installed.
    pub(crate) toolchains: PathBuf,
    /// What cargo says of the packages.
    metadata: Metadata,
}

impl Workspace {
    /// Asks cargo for the workspace that this program was compiled in.
    pub(crate) fn open() -> Result<Self> {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let metadata = MetadataCommand::new().manifest_path(manifest).no_deps().exec()?;
        let root = metadata.workspace_root.clone().into_std_path_buf();
        let target = metadata.target_directory.clone().into_std_path_buf();
        let shell = Shell::new()?;
        shell.change_dir(&root);
        // Not below CARGO_TARGET_DIR: kernelmill-build looks for the wheels beside the workspace.
        let toolchains = root.join("target/toolchains");
        Ok(Self { shell, root, target, toolchains, metadata })
    }

    /// The packages of the workspace.
    pub(crate) fn packages(&self) -> Vec<&Package> {
        self.metadata.workspace_packages()
    }

    /// The oldest Rust that `kernelmill` claims.
    pub(crate) fn rust_version(&self) -> Result<String> {
        let package = self.packages().into_iter().find(|it| it.name.as_str() == "kernelmill");
        let version = package.and_then(|it| it.rust_version.as_ref());
        let version = version.context("Cargo.toml has a rust-version")?;
        Ok(format!("{}.{}", version.major, version.minor))
    }

    /// A folder on the file system of the target folder, which is removed with the value.
    pub(crate) fn temporary_folder(&self) -> Result<TempDir> {
        Ok(TempDir::new_in(self.temporary()?)?)
    }

    /// A file there, in the same way.
    pub(crate) fn temporary_file(&self) -> Result<NamedTempFile> {
        Ok(NamedTempFile::new_in(self.temporary()?)?)
    }

    fn temporary(&self) -> Result<PathBuf> {
        let folder = self.target.join("tmp");
        std::fs::create_dir_all(&folder)?;
        Ok(folder)
    }

    /// The folder of NVIDIA's programs, once the wheels are installed.
    pub(crate) fn cuda_home(&self) -> PathBuf {
        self.toolchains.join("nvidia/cu13")
    }

    /// A program of NVIDIA's wheels, for example `ptxas`.
    pub(crate) fn cuda_program(&self, name: &str) -> Result<PathBuf> {
        let path = self.cuda_home().join("bin").join(name);
        if !path.is_file() {
            bail!("{} does not exist: run `cargo xtask setup`", path.display());
        }
        Ok(path)
    }

    /// A call of cargo with the tools of the set-up in reach.
    pub(crate) fn cargo<'a>(&'a self, arguments: &[&str]) -> Cmd<'a> {
        self.with_tools(self.shell.cmd("cargo").args(arguments))
    }

    /// The same on the first two cores, whatever the machine has.
    pub(crate) fn cargo_on_two_cores<'a>(&'a self, arguments: &[&str]) -> Cmd<'a> {
        let command = self.shell.cmd("taskset").args(["--cpu-list", "0,1", "cargo"]);
        self.with_tools(command.args(arguments))
    }

    fn with_tools<'a>(&self, mut command: Cmd<'a>) -> Cmd<'a> {
        if env::var_os("CUDA_HOME").is_none() {
            command = command.env("CUDA_HOME", self.cuda_home());
        }
        command
    }

    /// Reads a file below the root.
    pub(crate) fn read(&self, path: &str) -> Result<String> {
        let path = self.root.join(path);
        std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    }
}

/// The path of a program on `PATH`.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    which::which(name).ok()
}

/// Prints a heading, does the work, prints how long it took and, on Linux, how much of the processors' time the programs
/// used that have ended meanwhile.
pub(crate) fn stage<T>(title: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    println!("\n==> {title}");
    let (start, before) = (Instant::now(), programs_time());
    let value = work().with_context(|| format!("stage \"{title}\" failed"))?;
    let seconds = start.elapsed().as_secs_f64();
    match before.zip(programs_time()) {
        Some((before, after)) => {
            let used = (after - before).as_secs_f64();
            println!("<== {title}: {seconds:.1} s, {used:.1} s of processors");
        }
        None => println!("<== {title}: {seconds:.1} s"),
    }
    Ok(value)
}

/// The time that processors have spent on the programs which this one has started and waited for, by `proc_pid_stat(5)`,
/// whose ticks are hundredths of a second.
fn programs_time() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program, which is in parentheses, may have spaces. The state after it is field 3.
    let fields: Vec<_> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    Some(Duration::from_millis(10 * (ticks(16)? + ticks(17)?)))
}

/// How long the work takes.
pub(crate) fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<(Duration, T)> {
    let start = Instant::now();
    let value = work()?;
    Ok((start.elapsed(), value))
}
