//! A package that blocks are written into, and its builds.

use crate::block::Block;
use kernelmill_build::Code;
use std::{
    cell::Cell,
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};
use test_support::{TempDir, temporary_folder, tool, write_file};

/// A kernel for blocks without a source.
const SAXPY: &str = "\
use kernelmill_device::prelude::*;

#[kernel]
pub fn saxpy(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out += a * x[i.get()];
    }
}
";

/// `cargo` in commands: `cargo build` is the build script, and other commands do nothing.
const CARGO: &str = "#!/bin/sh
while [ $# -gt 0 ]; do
  case $1 in
    build) build=1 ;;
    --target) export TARGET=$2 ;;
  esac
  shift
done
[ -z \"$build\" ] || exec $BUILD_SCRIPT
";

/// `rustup` in commands installs nothing.
const RUSTUP: &str = "#!/bin/sh
[ \"$1\" != which ] || echo \"$RUSTC\"
";

/// Writes what some words of a block stand for.
pub type Writer = fn() -> String;

/// What stands around the blocks of a code.
#[derive(Clone, Debug, Default)]
pub struct Around {
    /// Lines of `[package.metadata.kernelmill]`, where the block does not have that table.
    pub settings: &'static str,
    /// Further files.
    pub files: &'static [(&'static str, &'static str)],
    /// Variables of the environment; `FOLDER` in a value is the package's own.
    pub variables: &'static [(&'static str, &'static str)],
    /// Programs that the builds find first, as shell scripts.
    pub programs: &'static [(&'static str, &'static str)],
    /// Whether the builds find the programs of the system alone besides: a machine on which nothing was installed.
    pub is_bare: bool,
    /// Words in the first block that stand for more than a page has room for, and what that is.
    pub written_out: Option<(&'static str, Writer)>,
    /// Commands that are run before the first block.
    pub before: &'static str,
}

/// A folder in which packages are made one after the other. They share what compilers leave for each other.
#[derive(Debug)]
pub struct Package {
    folder: TempDir,
    program: &'static str,
    around: Around,
    /// Whether the build script of the last block that had one registers the plugin `autodiff`.
    has_plugin: Cell<bool>,
    /// Whether the last block that calls `kernelmill-build` does so in a program: without what Cargo sets for build scripts.
    is_program: Cell<bool>,
}

impl Package {
    /// A folder without a package. `program` is the build script.
    #[must_use]
    pub fn new(program: &'static str) -> Self {
        let folder = temporary_folder();
        Self {
            folder,
            program,
            around: Around::default(),
            has_plugin: Cell::new(false),
            is_program: Cell::new(false),
        }
    }

    /// Makes a package without blocks, in place of the one before.
    ///
    /// # Panics
    ///
    /// Where files cannot be written, or a command of `around` fails.
    pub fn start(&mut self, around: Around) {
        for folder in [self.path(), self.programs()] {
            if folder.exists() {
                fs::remove_dir_all(&folder).expect("a folder of the test");
            }
        }
        self.has_plugin.set(false);
        self.is_program.set(false);
        self.around = around;
        for (name, text) in self.around.files {
            write_file(self.path(), name, text);
        }
        let own = [("cargo", CARGO), ("rustup", RUSTUP)];
        for (name, text) in own.iter().chain(self.around.programs) {
            write_file(self.programs(), name, text);
            make_executable(&self.programs().join(name));
        }
        self.write_settings(Some(""));
        if !self.around.before.is_empty() {
            let said = self.run(self.around.before);
            assert_eq!(said, None, "the commands before the examples fail");
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("app")
    }

    fn programs(&self) -> PathBuf {
        self.folder.path().join("bin")
    }

    /// Writes `Cargo.toml` with these lines; without any it has no settings.
    fn write_settings(&self, lines: Option<&str>) {
        let has = |table: &str| lines.is_some_and(|lines| lines.contains(table));
        let mut text = lines.unwrap_or_default().to_owned();
        if !has("[package]\n") {
            let head = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n";
            text.insert_str(0, head);
        }
        if lines.is_some() && !has("[package.metadata.kernelmill]") && !has("[package.metadata]") {
            text += &format!("\n[package.metadata.kernelmill]\n{}\n", self.around.settings);
        }
        write_file(self.path(), "Cargo.toml", text);
    }

    /// Builds the package with a block, and gives what the build says where it fails. In the first block words are
    /// written out.
    ///
    /// # Panics
    ///
    /// Where the build ends in another way than a build script does.
    #[must_use]
    #[track_caller]
    pub fn build(&self, block: &Block, is_first: bool) -> Option<String> {
        let mut block = block.clone();
        if let Some((words, more)) = self.around.written_out.filter(|_| is_first) {
            assert!(block.text.contains(words), "the example has no `{words}`");
            block.text = block.text.replace(words, &more());
        }
        let files = block.files();
        let text_of = |wanted: &str| files.iter().find(|(name, _)| name == wanted);
        // Settings are in one place, where the block does not have both.
        let lines = text_of("Cargo.toml").map(|(_, text)| &**text);
        self.write_settings(match text_of("kernelmill.toml") {
            Some(_) => lines,
            None => lines.or(Some("")),
        });
        for (name, text) in files.iter().filter(|(name, _)| name != "Cargo.toml") {
            if text.contains("kernelmill_build::compile()") {
                self.is_program.set(name == "src/main.rs");
            }
            if name == "build.rs" {
                self.has_plugin.set(text.contains(".plugin(kernelmill_autodiff::plugin())"));
            }
            // The first line of every kernel file, which the examples leave out.
            let is_short = name.starts_with("kernels/")
                && name.ends_with(".rs")
                && text.contains("#[")
                && !text.contains("kernelmill_device");
            let head = if is_short { "use kernelmill_device::prelude::*;\n" } else { "" };
            write_file(self.path(), name, format!("{head}{text}"));
        }
        let is_source = |(name, text): (&str, &str)| {
            name.starts_with("kernels/") || text.contains("#[kernelmill::kernels]")
        };
        let mut own = files.iter().map(|(name, text)| (&**name, &**text));
        if !own.any(is_source) && !self.around.files.iter().copied().any(is_source) {
            write_file(self.path(), "kernels/saxpy.rs", SAXPY);
        }
        match &*block.language {
            "sh" if block.text.contains("cargo build") => self.run(&block.text),
            // What mends something is followed by the build.
            "sh" => self.run(&format!("{}cargo build", block.text)),
            _ => self.run("cargo build"),
        }
    }

    /// Runs commands in the package, and gives what they say where they fail.
    #[track_caller]
    fn run(&self, commands: &str) -> Option<String> {
        let rustc = tool::rustc();
        let inherited = env::var("PATH").unwrap_or_default();
        let rest = if self.around.is_bare { "/usr/bin:/bin" } else { &inherited };
        let plugin = if self.has_plugin.get() { " autodiff" } else { "" };
        let own = self.path().display().to_string();
        let mut command = Command::new("/bin/sh");
        command
            .args(["-e", "-c", commands])
            .current_dir(self.path())
            .env("PATH", format!("{}:{rest}", self.programs().display()))
            .env("BUILD_SCRIPT", format!("{}{plugin}", self.program))
            .env("CARGO", env!("CARGO"))
            .env("CARGO_MANIFEST_DIR", self.path())
            .env("OUT_DIR", self.folder.path().join("target/out"))
            .env("XDG_CACHE_HOME", self.folder.path().join("cache"))
            .env("CARGO_PKG_NAME", "app")
            .env("CARGO_PKG_VERSION", "0.1.0")
            .env("TARGET", &rustc.host)
            .env("RUSTC", rustc.sysroot.join("bin/rustc"))
            .env("RUST_BACKTRACE", "0");
        let settings = fs::read_to_string(self.path().join("Cargo.toml")).unwrap_or_default();
        if settings.contains("\nlinks = ") {
            // Cargo says so to build scripts.
            command.env("CARGO_MANIFEST_LINKS", "app");
        }
        if self.is_program.get() {
            command.env_remove("OUT_DIR");
        }
        if self.around.is_bare {
            command.env_remove("CUDA_HOME").env("HOME", &own);
        }
        let variables = self.around.variables.iter();
        command.envs(variables.map(|(name, value)| (name, value.replace("FOLDER", &own))));
        let output = command.output().expect("a shell starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        match output.status.code() {
            Some(0) => None,
            Some(1) => Some(said),
            // LLVM aborts the build script; the shell's code is 128 and the signal.
            Some(134) if said.contains(&format!("error[{}]", Code::LlvmEnded)) => Some(said),
            _ => panic!("{}: {said}", output.status),
        }
    }
}

#[cfg(unix)]
fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a file of the test");
}

#[cfg(not(unix))]
fn make_executable(_: &Path) {}
