//! Small packages of kernels, built by a program that calls `kernelmill_build::compile` as a build script does.

use crate::{TempDir, snapshot, temporary_folder, tool, write_file};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// A package in a folder of its own.
#[derive(Debug)]
pub struct Package {
    program: &'static str,
    folder: TempDir,
    /// Variables of the environment that its builds see.
    pub variables: Vec<(&'static str, String)>,
}

/// What a build prints.
#[derive(Debug)]
pub struct Build {
    /// For Cargo.
    pub lines: String,
    /// For people, where the build fails.
    pub error: Option<String>,
}

impl Package {
    /// A package with these settings, the text of its `kernelmill.toml`, and these files, each with its path from the
    /// package's root and its text. `program` builds it: the path of a binary that calls `compile` alone.
    #[must_use]
    pub fn new(program: &'static str, settings: &str, files: &[(&str, &str)]) -> Self {
        let package = Self { program, folder: temporary_folder(), variables: Vec::new() };
        let head = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
        package.write("Cargo.toml", head);
        package.write("kernelmill.toml", settings);
        files.iter().for_each(|(name, text)| package.write(name, text));
        package
    }

    /// The folder that the package and its store are in.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Where a file of the package is, or would be.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder().join("app").join(name)
    }

    /// Writes a file of the package.
    ///
    /// # Panics
    ///
    /// Where that is not possible.
    pub fn write(&self, name: &str, text: &str) {
        write_file(&self.folder, format!("app/{name}"), text);
    }

    /// A file that the build has left in `OUT_DIR`.
    ///
    /// # Panics
    ///
    /// Where there is no such text.
    #[must_use]
    #[track_caller]
    pub fn output(&self, name: &str) -> String {
        let path = self.path("target/out").join(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Builds it.
    ///
    /// # Panics
    ///
    /// Where the program ends in another way than a build script does.
    #[must_use]
    #[track_caller]
    pub fn build(&self) -> Build {
        let rustc = tool::rustc();
        let mut command = Command::new(self.program);
        command.env("CARGO_MANIFEST_DIR", self.path("")).env("OUT_DIR", self.path("target/out"));
        command.env("XDG_CACHE_HOME", self.folder().join("cache")).env("CARGO", env!("CARGO"));
        command.env("CARGO_PKG_NAME", "app").env("CARGO_PKG_VERSION", "0.1.0");
        command.env("TARGET", &rustc.host).env("RUSTC", &rustc.program);
        command
            .env("KERNELMILL_LOG", "summary")
            .env("KERNELMILL_PROGRESS", "never")
            .env("RUST_BACKTRACE", "0");
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        let output = command.current_dir(self.path("")).output().expect("the program starts");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
        let (lines, errors) = (text(output.stdout), text(output.stderr));
        let error = match output.status.code() {
            Some(0) => None,
            Some(1) => Some(errors),
            _ => panic!("{}: {errors}", output.status),
        };
        Build { lines, error }
    }

    /// Builds it, and gives the line that counts what was compiled and what was in the store.
    ///
    /// # Panics
    ///
    /// Where the build fails.
    #[must_use]
    #[track_caller]
    pub fn summary(&self) -> String {
        let Build { lines, error } = self.build();
        assert_eq!(error, None, "{lines}");
        let found = lines.lines().find(|line| line.starts_with("kernelmill: compiled "));
        found.unwrap_or_else(|| panic!("{lines}")).to_owned()
    }

    /// What its build says, which must fail.
    ///
    /// # Panics
    ///
    /// Where it does not fail.
    #[must_use]
    #[track_caller]
    pub fn error(&self) -> String {
        self.build().error.expect("the build fails")
    }

    /// Builds it, which must fail, and compares what is said with `snapshots/NAME.txt` in a folder, that of the test's
    /// package.
    ///
    /// # Panics
    ///
    /// Where it does not fail, or says something else.
    #[track_caller]
    pub fn fails(&self, folder: &str, name: &str) {
        snapshot::check(format!("{folder}/snapshots/{name}.txt"), &self.error());
    }
}
