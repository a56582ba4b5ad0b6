//! The fixture: a package with a kernel in Rust and one in CUDA C++, or with the first alone, and its build script as
//! a program.

use crate::folders::{files, remove};
use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};
use test_support::{TempDir, temporary_folder, tool, write_file};

/// The files in `OUT_DIR`, by name.
pub type Outputs = BTreeMap<PathBuf, Vec<u8>>;

/// The number of texts that the sources have. All are equally long.
pub const VARIANTS: usize = 2;

/// How long a build may take, in seconds: one that hangs has failed. On a machine that is busy with other work a build
/// of one second was seen to take 22, of which its threads waited 15 for a processor.
const LIMIT: &str = "240";

/// A package with a store and an `OUT_DIR` of its own.
#[derive(Debug)]
pub struct Fixture {
    program: PathBuf,
    folder: TempDir,
    /// Whether there is a kernel in CUDA C++.
    has_cpp: bool,
}

/// What came of a build.
#[derive(Debug)]
pub struct Built {
    /// The exit code; `None` where a signal ended it.
    pub code: Option<i32>,
    /// What it said of errors and warnings.
    pub messages: String,
}

/// What undisturbed builds of every variant leave.
#[derive(Debug)]
pub struct References {
    /// Of each variant, its outputs.
    pub outputs: Vec<Outputs>,
    /// How long a build takes that finds nothing in its store.
    pub time: Duration,
    /// The folder in which each variant's store and outputs lie.
    folder: TempDir,
}

impl Fixture {
    /// The package, with the first variant of its sources. `program` is the program of this package. `None`
    /// after a line that says so where a tool is missing.
    ///
    /// # Panics
    ///
    /// As [`tool::require`] does, and where files cannot be written.
    #[must_use]
    #[track_caller]
    pub fn new(program: impl Into<PathBuf>) -> Option<Self> {
        (tool::nvidia("nvcc").is_some() && tool::clang().is_some()).then_some(())?;
        Some(Self::with_targets(program.into(), true, r#"["cpu", "sm_80"]"#))
    }

    /// The package without the kernel in CUDA C++, for PTX: no tool but rustc runs, and a build is short.
    #[must_use]
    pub fn in_rust(program: impl Into<PathBuf>) -> Self {
        Self::with_targets(program.into(), false, r#"["compute_80"]"#)
    }

    /// The package with no kernel yet, for these targets, as a list of TOML has them; `settings` are further
    /// lines of its table.
    #[must_use]
    pub fn without_sources(program: impl Into<PathBuf>, targets: &str, settings: &str) -> Self {
        let fixture = Self { program: program.into(), folder: temporary_folder(), has_cpp: false };
        let manifest = format!(
            "[package]\nname = \"fixture\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
             [package.metadata.kernelmill]\ntargets = {targets}\n{settings}"
        );
        write_file(fixture.package(), "Cargo.toml", manifest);
        fixture
    }

    fn with_targets(program: PathBuf, has_cpp: bool, targets: &str) -> Self {
        let fixture = Self { has_cpp, ..Self::without_sources(program, targets, "") };
        fixture.set_variant(0);
        fixture
    }

    /// Makes a text the only source.
    pub fn set_only_source(&self, name: &str, text: &str) {
        remove(&self.package().join("kernels"));
        write_file(self.package(), Path::new("kernels").join(name), text);
    }

    /// Writes the sources of a variant.
    pub fn set_variant(&self, variant: usize) {
        let factor = variant + 2;
        let rust = format!(
            "use kernelmill_device::prelude::*;\n\n#[kernel]\n\
             pub fn scale(x: &[f32], mut y: DisjointSlice<f32>) {{\n    let i = thread::index_1d();\n    \
             if let Some(out) = y.get_mut(i) {{\n        *out = x[i.get()] * {factor}.0;\n    }}\n}}\n"
        );
        let cpp = format!(
            "extern \"C\" __global__ void add(const float *x, float *y, int n) {{\n  \
             int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = x[i] + {factor}.0f;\n}}\n"
        );
        write_file(self.package(), "kernels/scale.rs", rust);
        if self.has_cpp {
            write_file(self.package(), "kernels/add.cu", cpp);
        }
    }

    /// The folder that everything of this fixture lies in.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The root of the package.
    #[must_use]
    pub fn package(&self) -> PathBuf {
        self.folder().join("package")
    }

    /// The cache folder, in which `kernelmill` is the store.
    #[must_use]
    pub fn cache(&self) -> PathBuf {
        self.folder().join("cache")
    }

    /// `OUT_DIR`.
    #[must_use]
    pub fn out(&self) -> PathBuf {
        self.package().join("target/debug/build/fixture-1/out")
    }

    /// The build script, as Cargo would start it.
    #[must_use]
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("build");
        self.prepare(&mut command);
        command
    }

    /// A program that starts the build script, as `timeout` does: these arguments, then the build script's program
    /// and its argument.
    #[must_use]
    pub fn command_of(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).arg(&self.program).arg("build");
        self.prepare(&mut command);
        command
    }

    fn prepare(&self, command: &mut Command) {
        fs::create_dir_all(self.out()).expect("a folder");
        let rustc = tool::rustc();
        for (name, _) in env::vars_os().filter(|(name, _)| is_of_the_outer_cargo(name)) {
            command.env_remove(name);
        }
        command
            .env("CARGO_MANIFEST_DIR", self.package())
            .env("OUT_DIR", self.out())
            .env("XDG_CACHE_HOME", self.cache())
            .envs([("CARGO_PKG_NAME", "fixture"), ("CARGO_PKG_VERSION", "0.1.0")])
            .envs([("TARGET", &rustc.host), ("HOST", &rustc.host)])
            .env("RUSTC", rustc.sysroot.join("bin/rustc"))
            .env("CARGO", rustc.sysroot.join("bin/cargo"))
            .current_dir(self.package())
            .stdin(Stdio::null());
    }

    /// Builds to the end.
    ///
    /// # Panics
    ///
    /// Where the build hangs, or a signal or a panic ends it.
    #[must_use]
    #[track_caller]
    pub fn build(&self) -> Built {
        let in_time = ["--kill-after=5", LIMIT];
        Built::new(&self.command_of("timeout", &in_time).output().expect("a program"))
    }

    /// The files that a build has left.
    #[must_use]
    pub fn outputs(&self) -> Outputs {
        Self::outputs_in(&self.out())
    }

    /// The files that a build has left in a folder for Cargo and the package. Temporary files are among them, so
    /// that none is overlooked; what compilers share between builds, in the folder `kernelmill`, is not.
    #[must_use]
    pub fn outputs_in(out: &Path) -> Outputs {
        let shared = out.join("kernelmill");
        let is_temporary = |path: &Path| {
            let below = path.strip_prefix(&shared).expect("it is below").components().next();
            below.is_some_and(|name| name.as_os_str().to_string_lossy().ends_with(".tmp"))
        };
        let mut found = files(out);
        found.retain(|path| !path.starts_with(&shared) || is_temporary(path));
        let name = |path: &Path| path.strip_prefix(out).expect("it is below").to_owned();
        found.iter().map(|path| (name(path), fs::read(path).expect("an output"))).collect()
    }

    /// Builds, and compares everything with the reference; every entry of the store is whole after it.
    ///
    /// # Panics
    ///
    /// Where the build fails, or anything differs.
    #[track_caller]
    pub fn build_is_right(&self, references: &References, variant: usize) -> Built {
        let built = self.build_gives(references, variant);
        self.verify();
        built
    }

    /// Builds, and compares everything with the reference.
    ///
    /// # Panics
    ///
    /// Where the build fails, or anything differs.
    #[track_caller]
    pub fn build_gives(&self, references: &References, variant: usize) -> Built {
        let built = self.build();
        assert_eq!(built.code, Some(0), "{}", built.messages);
        references.compare(variant, &self.outputs());
        built
    }

    /// Whether every entry of the store is whole.
    ///
    /// # Panics
    ///
    /// Where one is not.
    #[track_caller]
    pub fn verify(&self) {
        let output = self.verifier().output().expect("a program");
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{:?}: {messages}", output.status);
    }

    /// The check of the store, which removes what is damaged.
    #[must_use]
    pub fn verifier(&self) -> Command {
        self.other("verify")
    }

    /// A program that collects garbage in the store and clears it, until it is ended.
    #[must_use]
    pub fn upkeep(&self) -> Command {
        self.other("upkeep")
    }

    fn other(&self, word: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.arg(word);
        self.prepare(&mut command);
        command
    }

    /// Removes the store and the outputs.
    pub fn clear(&self) {
        remove(&self.cache());
        remove(&self.out());
    }

    /// Puts the store that a reference build has left in place of this one's.
    pub fn take_store(&self, references: &References, variant: usize) {
        remove(&self.cache());
        crate::copy(&references.place(variant).join("cache"), &self.cache());
    }

    /// Puts the outputs of a reference build in place of this one's.
    pub fn take_outputs(&self, references: &References, variant: usize) {
        remove(&self.out());
        crate::copy(&references.place(variant).join("out"), &self.out());
    }
}

impl Built {
    /// What a build printed and how it ended.
    ///
    /// # Panics
    ///
    /// Where it hung, or a signal or a panic ended it.
    #[must_use]
    #[track_caller]
    pub fn new(output: &Output) -> Self {
        let [stdout, stderr] =
            [&output.stdout, &output.stderr].map(|it| String::from_utf8_lossy(it).into_owned());
        let warnings = stdout.lines().filter(|line| line.starts_with("cargo::warning"));
        let messages = warnings.fold(stderr, |text, line| text + line + "\n");
        Self::checked(output.status.code(), messages)
    }

    /// A build that ended with a code and said something.
    ///
    /// # Panics
    ///
    /// As [`Built::new`] does.
    #[must_use]
    #[track_caller]
    pub fn checked(code: Option<i32>, messages: String) -> Self {
        assert!(!matches!(code, None | Some(124 | 125 | 128..)), "{code:?}: {messages}");
        assert!(!messages.contains("panicked at"), "{messages}");
        assert!(!messages.contains("internal error"), "{messages}");
        Self { code, messages }
    }
}

impl References {
    /// Builds every variant.
    ///
    /// # Panics
    ///
    /// Where a build fails.
    #[must_use]
    #[track_caller]
    pub fn of(fixture: &Fixture) -> Self {
        let folder = temporary_folder();
        let mut references = Self { outputs: Vec::new(), time: Duration::ZERO, folder };
        for variant in 0..VARIANTS {
            fixture.clear();
            fixture.set_variant(variant);
            let start = Instant::now();
            let built = fixture.build();
            references.time = start.elapsed();
            assert_eq!(built.code, Some(0), "{}", built.messages);
            references.outputs.push(fixture.outputs());
            crate::copy(&fixture.cache(), &references.place(variant).join("cache"));
            crate::copy(&fixture.out(), &references.place(variant).join("out"));
        }
        let distinct: std::collections::BTreeSet<_> = references.outputs.iter().collect();
        assert_eq!(distinct.len(), VARIANTS, "variants differ");
        references
    }

    fn place(&self, variant: usize) -> PathBuf {
        self.folder.path().join(variant.to_string())
    }

    /// The store of a variant.
    #[must_use]
    pub fn store(&self, variant: usize) -> PathBuf {
        self.place(variant).join("cache/kernelmill")
    }

    /// Compares outputs with those of a variant.
    ///
    /// # Panics
    ///
    /// Where a file differs, is missing, or is there without need.
    #[track_caller]
    pub fn compare(&self, variant: usize, outputs: &Outputs) {
        let expected = &self.outputs[variant];
        let lacks: Vec<_> = expected.keys().filter(|name| !outputs.contains_key(*name)).collect();
        let more: Vec<_> = outputs.keys().filter(|name| !expected.contains_key(*name)).collect();
        assert!(lacks.is_empty() && more.is_empty(), "without {lacks:?}, with {more:?}");
        for (name, content) in outputs {
            assert!(expected[name] == *content, "{} is wrong", name.display());
        }
    }
}

/// Variables that the cargo which runs the tests has set, and what would change a build.
fn is_of_the_outer_cargo(name: &std::ffi::OsStr) -> bool {
    let name = name.to_string_lossy();
    let others = ["CARGO", "RUST", "MAKEFLAGS", "MFLAGS", "NEXTEST", "KERNELMILL", "FAULTS"];
    let kept = ["CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"];
    others.iter().any(|prefix| name.starts_with(prefix)) && !kept.contains(&&*name)
}
