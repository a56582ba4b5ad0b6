//! A throw-away package.

use crate::run::Run;
use std::{
    fs::{self, DirEntry, File},
    io,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};
use test_support::{builds, root, shared_folder, tool, write_file};

/// A package in a folder of its own, with a store of its own, whose builds share one target folder
/// with those of all other projects.
///
/// The folder has the same path in every run of the test: cargo keeps what it builds by the package's
/// path, and would fill the target folder with a copy for each run.
pub struct Project {
    name: String,
    folder: PathBuf,
    /// Held as long as the project: no other has this folder.
    _lock: File,
    target: PathBuf,
    environment: Vec<(String, String)>,
}

impl Project {
    /// An empty folder with a `Cargo.toml` of edition 2024 for the targets `cpu` and `compute_75`
    /// and the build script of the documentation. `name` is that of the package and of its folder.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self::bare(name)
            .manifest("2024", "targets = [\"cpu\", \"compute_75\"]")
            .file("build.rs", "fn main() {\n    kernelmill_build::compile()\n}\n")
    }

    /// As [`Project::new`], with a package of another name than its folder: another checkout.
    #[must_use]
    pub fn checkout(folder: &str, name: &str) -> Self {
        let mut project = Self::new(folder);
        name.clone_into(&mut project.name);
        project.manifest("2024", "targets = [\"cpu\", \"compute_75\"]")
    }

    /// An empty folder.
    #[must_use]
    pub fn bare(name: &str) -> Self {
        let place = shared_folder("end-to-end");
        let folder = place.join(name);
        let lock = File::create(place.join(format!("{name}.lock"))).expect("a lock can be made");
        lock.lock().expect("the lock of a project can be taken");
        if folder.exists() {
            fs::remove_dir_all(&folder).expect("an old project can be removed");
        }
        fs::create_dir_all(folder.join("package")).expect("a project has a folder");
        let target = builds::target();
        let (name, environment) = (name.to_owned(), Vec::new());
        let project = Self { name, folder, _lock: lock, target, environment };
        let store = project.store().display().to_string();
        project.environment("XDG_CACHE_HOME", &store)
    }

    /// The root of the package.
    #[must_use]
    pub fn package(&self) -> PathBuf {
        self.folder.join("package")
    }

    /// The cache folder that builds of this project use, in place of the user's.
    #[must_use]
    pub fn store(&self) -> PathBuf {
        self.folder.join("cache")
    }

    /// The folder that cargo builds into.
    #[must_use]
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Writes `Cargo.toml` with this edition and this text as the table of kernelmill's settings.
    #[must_use]
    pub fn manifest(self, edition: &str, settings: &str) -> Self {
        let text = self.manifest_text(edition, settings);
        self.file("Cargo.toml", &text)
    }

    /// Adds `kernelmill-device` to the dependencies, which modules of kernels in the crate's own source need.
    #[must_use]
    pub fn with_device(self) -> Self {
        let path = self.package().join("Cargo.toml");
        let text = fs::read_to_string(path).expect("the project has a manifest");
        let device = root().join("build-helpers/device");
        let line =
            format!("[dependencies]\nkernelmill-device = {{ path = \"{}\" }}", device.display());
        self.file("Cargo.toml", &text.replacen("[dependencies]", &line, 1))
    }

    fn manifest_text(&self, edition: &str, settings: &str) -> String {
        let (name, root) = (&self.name, root().display());
        format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"{edition}\"\n\n\
             [dependencies]\nkernelmill = {{ path = \"{root}\" }}\n\n\
             [build-dependencies]\nkernelmill-build = {{ path = \"{root}/build-helpers/build-script\" }}\n\n\
             [package.metadata.kernelmill]\n{settings}\n\n[workspace]\n"
        )
    }

    /// Writes a file below the package.
    #[must_use]
    pub fn file(self, path: &str, text: &str) -> Self {
        self.write(path, text);
        self
    }

    /// Writes a file below the package, for edits between builds.
    pub fn write(&self, path: &str, text: &str) {
        write_file(self.package(), path, text);
    }

    /// Sets a variable for every cargo run.
    #[must_use]
    pub fn environment(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Uses the cache folder of another project.
    #[must_use]
    pub fn with_store_of(self, other: &Self) -> Self {
        let store = other.store().display().to_string();
        self.environment("XDG_CACHE_HOME", &store)
    }

    /// Builds into a folder of this project's own, which starts with the shared one's libraries.
    ///
    /// # Panics
    ///
    /// When the copy fails.
    #[must_use]
    pub fn with_own_target(mut self) -> Self {
        let own = self.folder.join("target");
        if let Ok(lock) = File::open(self.target.join("debug/.cargo-lock")) {
            // Cargo's own lock: other tests build into the folder at the same time.
            lock.lock().expect("cargo's lock can be taken");
            for part in [".fingerprint", "deps", "build"] {
                let part = Path::new("debug").join(part);
                copy_small(&self.target.join(&part), &own.join(&part))
                    .expect("libraries are copied");
            }
        }
        self.target = own;
        self
    }

    /// Runs cargo on the package to its end.
    ///
    /// # Panics
    ///
    /// When cargo cannot be started.
    #[must_use]
    pub fn cargo(&self, arguments: &[&str]) -> Run {
        let output = self.command(arguments).output().expect("cargo can be started");
        Run::new(output, &self.folder, &self.target)
    }

    /// Runs cargo as [`Project::cargo`] does, with a store on a file system of `bytes` bytes;
    /// `None` after a line that says that this machine cannot have one.
    ///
    /// # Panics
    ///
    /// When it cannot and `KERNELMILL_REQUIRE_TOOLS` is set, as `cargo xtask test` does.
    #[must_use]
    pub fn cargo_with_small_store(&self, bytes: u32, arguments: &[&str]) -> Option<Run> {
        let inner = self.command(arguments);
        fs::create_dir_all(self.store()).expect("a folder");
        let script =
            "mount -t tmpfs -o size=\"$0\" none \"$XDG_CACHE_HOME\" || exit 99; exec \"$@\"";
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--mount", "sh", "-c", script, &bytes.to_string()]);
        command.arg(inner.get_program()).args(inner.get_args()).stdin(Stdio::null());
        command.current_dir(self.package());
        for (name, value) in inner.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let output = command.output().ok().filter(|output| output.status.code() != Some(99));
        let output = tool::require("a namespace with file systems of its own", output)?;
        Some(Run::new(output, &self.folder, &self.target))
    }

    /// Starts cargo on the package in a process group of its own.
    ///
    /// # Panics
    ///
    /// When cargo cannot be started.
    #[must_use]
    pub fn start(&self, arguments: &[&str]) -> Child {
        use std::os::unix::process::CommandExt as _;
        let mut command = self.command(arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        command.spawn().expect("cargo can be started")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let lock = self.package().join("Cargo.lock");
        if !lock.exists() {
            // The versions of this workspace, which are downloaded already.
            fs::copy(root().join("Cargo.lock"), lock).expect("the workspace has a Cargo.lock");
        }
        let mut command = Command::new("cargo");
        command.args(arguments).arg("--offline").current_dir(self.package());
        builds::set_variables(&mut command, &self.target);
        command
            .env("KERNELMILL_LOG", "summary")
            .env("KERNELMILL_PROGRESS", "never")
            .stdin(Stdio::null());
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }
}

impl Drop for Project {
    /// Removes what was built for this package alone, which has the whole compiler in it; it stays for a look where
    /// the test failed.
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        let own = self.folder.join("target");
        // What is left over is only space.
        let _ = if own == self.target {
            fs::remove_dir_all(own)
        } else if self.folder.ends_with(&self.name) {
            builds::remove(&self.target, &self.name)
        } else {
            // Another checkout of the same package may be in use.
            Ok(())
        };
    }
}

/// Copies a folder of cargo's with its times, by which cargo knows what is fresh, but without the
/// build scripts and programs of other projects: each has the whole compiler in it.
///
/// A project that is dropped removes what was built of it without cargo's lock, so that a file may be gone when its turn
/// comes: it is left out.
fn copy_small(from: &Path, to: &Path) -> io::Result<()> {
    let Some(entries) = unless_removed(fs::read_dir(from))? else { return Ok(()) };
    fs::create_dir_all(to)?;
    for entry in entries {
        let entry = entry?;
        let _ = unless_removed(copy_entry(&entry, &to.join(entry.file_name())))?;
    }
    Ok(())
}

fn copy_entry(entry: &DirEntry, to: &Path) -> io::Result<()> {
    const COMPILER: u64 = 10 << 20;
    let (path, facts) = (entry.path(), entry.metadata()?);
    if facts.is_dir() {
        return copy_small(&path, to);
    }
    if facts.len() < COMPILER || path.extension().is_some_and(|kind| kind == "rlib") {
        fs::copy(&path, to)?;
        File::options().write(true).open(to)?.set_modified(facts.modified()?)?;
    }
    Ok(())
}

/// `None` where what was asked for is not there.
fn unless_removed<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_support::temporary_folder;

    #[test]
    fn files_that_are_gone_are_not_copied() {
        let folder = temporary_folder();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        write_file(from.clone(), "first", "1");
        write_file(from.clone(), "inner/second", "2");
        // Listed, and not there when it is opened.
        std::os::unix::fs::symlink(folder.path().join("none"), from.join("inner/gone"))
            .expect("a link can be made");
        copy_small(&from, &to).expect("the others are copied");
        assert_eq!(fs::read_to_string(to.join("inner/second")).ok().as_deref(), Some("2"));
        assert!(to.join("first").exists() && !to.join("inner/gone").exists());
        copy_small(&folder.path().join("none"), &to).expect("a folder may be gone too");
    }
}
