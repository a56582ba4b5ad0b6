//! The builder of a build, for build scripts.

use crate::{
    base::{
        environment::BuildEnvironment,
        error::Error,
        stack::{self, with_stack},
    },
    pipeline,
    settings::{
        choices::{CudaCompiler, ExcessSpills},
        layer::{KernelLayer, Layer, RuleText, TargetName, VariantLayer},
        located::MappedType,
        thresholds::Thresholds,
    },
    summary::Summary,
};
use kernelmill_artifact::LaunchLimits;
use kernelmill_compiler::{MathLibrary, PanicLevel, limit_behind, plugin::Plugin, tell_limits};
use std::{path::Path, process, sync::Arc};

/// A build with settings of its own, which come before those in TOML files and after those in the
/// environment. Paths are relative to the package.
///
/// ```no_run
/// // build.rs
/// kernelmill_build::Build::new()
///     .source_dir("src/gpu")
///     .targets(["cpu", "sm_80", "compute_90"])
///     .define("TILE", "32")
///     .compile();
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "call `compile` or `try_compile`"]
pub struct Build {
    layer: Layer,
    plugins: Vec<Arc<dyn Plugin>>,
}

impl Build {
    /// A build that changes no setting.
    pub fn new() -> Self {
        Self::default()
    }

    /// Looks for kernels in a folder and the folders in it. Adds to other folders and files that
    /// the builder names. Where no source is named anywhere the folder is `kernels`.
    pub fn source_dir(mut self, folder: impl AsRef<Path>) -> Self {
        add(&mut self.layer.source_dirs, folder);
        self
    }

    /// Names single sources: files, or folders with kernel packages. Adds to the others.
    pub fn source_files<P: AsRef<Path>>(mut self, files: impl IntoIterator<Item = P>) -> Self {
        self.layer.source_files.get_or_insert_default();
        for file in files {
            add(&mut self.layer.source_files, file);
        }
        self
    }

    /// Names sources by a pattern, or several: `*` and `?` within a name, `**` for any folders. Adds to the
    /// others; files that match and have no kernel are passed over.
    pub fn source_glob(mut self, patterns: impl Patterns) -> Self {
        self.layer.source_globs.get_or_insert_default().extend(patterns.into_list());
        self
    }

    /// Leaves out the files and folders that match a pattern, or one of several. A pattern of one
    /// part, `*_test.rs`, is compared with every part of a path.
    pub fn exclude(mut self, patterns: impl Patterns) -> Self {
        self.layer.excludes.get_or_insert_default().extend(patterns.into_list());
        self
    }

    /// Looks for included headers in a folder.
    pub fn include(mut self, folder: impl AsRef<Path>) -> Self {
        add(&mut self.layer.includes, folder);
        self
    }

    /// Defines a name for kernels: `#[cfg(NAME)]` holds and, where the value is not empty,
    /// `#[cfg(NAME = "value")]`.
    pub fn define(mut self, name: impl Into<String>, value: impl ToString) -> Self {
        self.layer.defines.get_or_insert_default().insert(name.into(), value.to_string());
        self
    }

    /// Defines a name as [`Build::define`] does, for the sources alone whose paths from the package's root match a pattern.
    ///
    /// ```
    /// let build = kernelmill_build::Build::new().define_for("kernels/tiles.cu", "TILE", 16);
    /// ```
    pub fn define_for(
        mut self,
        pattern: impl Into<String>,
        name: impl Into<String>,
        value: impl ToString,
    ) -> Self {
        let source = self.layer.sources.get_or_insert_default().entry(pattern.into()).or_default();
        source.defines.get_or_insert_default().insert(name.into(), value.to_string());
        self
    }

    /// Adds an argument as [`Build::arg`] does, for the sources alone whose paths from the package's root match a pattern.
    pub fn arg_for(mut self, pattern: impl Into<String>, argument: impl Into<String>) -> Self {
        let source = self.layer.sources.get_or_insert_default().entry(pattern.into()).or_default();
        source.arguments.get_or_insert_default().push(argument.into());
        self
    }

    /// The same as [`Build::include`], as cudaforge names it.
    pub fn include_path(self, folder: impl AsRef<Path>) -> Self {
        self.include(folder)
    }

    /// Adds an argument for the compilers of kernels: rustc, nvcc and clang. One that starts with
    /// `rustc:` or `cuda:` is for the kernels in that language alone.
    pub fn arg(mut self, argument: impl Into<String>) -> Self {
        self.layer.arguments.get_or_insert_default().push(argument.into());
        self
    }

    /// Adds several arguments, each as [`Build::arg`] does.
    pub fn args<A: Into<String>>(self, arguments: impl IntoIterator<Item = A>) -> Self {
        arguments.into_iter().fold(self, Self::arg)
    }

    /// Adds the target `sm_90` for the compute capability 90, as cudaforge and bindgen_cuda name it.
    pub fn compute_cap(self, capability: usize) -> Self {
        self.target(format!("sm_{capability}"))
    }

    /// Adds the target `sm_90a` for the architecture `90a`, as cudaforge names it.
    pub fn compute_cap_arch(self, architecture: &str) -> Self {
        self.target(format!("sm_{architecture}"))
    }

    /// Adds a target, or several in one text: `sm_90a`, `80-real;90-virtual`.
    pub fn target(mut self, target: impl ToString) -> Self {
        let name = TargetName { text: target.to_string(), origin: "the build script".to_owned() };
        self.layer.targets.get_or_insert_default().push(name);
        self
    }

    /// Adds targets.
    pub fn targets<T: ToString>(self, targets: impl IntoIterator<Item = T>) -> Self {
        let mut build = self;
        build.layer.targets.get_or_insert_default();
        targets.into_iter().fold(build, Self::target)
    }

    /// Whether `a * b + c` may become one fused operation, which changes the last bit of results.
    /// It is on by default, as in nvcc.
    pub fn fma(mut self, on: bool) -> Self {
        self.layer.fma = Some(on);
        self
    }

    /// LLVM's optimisation level, 0 to 3; larger numbers are 3.
    pub fn optimization(mut self, level: u8) -> Self {
        self.layer.optimization = Some(level.min(3));
        self
    }

    /// What the host learns of a kernel's panic. [`PanicLevel::Message`] is the default.
    pub fn panics(mut self, level: PanicLevel) -> Self {
        self.layer.panics = Some(level);
        self
    }

    /// Whose mathematical functions kernels call. [`MathLibrary::Own`] is the default.
    pub fn math(mut self, library: MathLibrary) -> Self {
        self.layer.math = Some(library);
        self
    }

    /// The most bytes of a thread that the spills of a kernel store and load together. A kernel with more is what
    /// [`Build::excess_spills`] says. Spills are known of cubins and of code for AMD's GPUs.
    ///
    /// ```no_run
    /// use kernelmill_build::{Build, ExcessSpills};
    ///
    /// Build::new().target("sm_90").max_spills(0).excess_spills(ExcessSpills::Error).compile();
    /// ```
    pub fn max_spills(mut self, bytes: u32) -> Self {
        self.layer.max_spills = Some(bytes);
        self
    }

    /// The most that each kernel may take of a device: a build with a kernel that takes more fails, and names them all.
    pub fn thresholds(mut self, thresholds: Thresholds) -> Self {
        self.layer.thresholds = thresholds;
        self
    }

    /// What is done about kernels with more spills than [`Build::max_spills`] allows. [`ExcessSpills::Warn`] is the
    /// default.
    pub fn excess_spills(mut self, choice: ExcessSpills) -> Self {
        self.layer.excess_spills = Some(choice);
        self
    }

    /// Sets an option of the compiler by its name: `always_inline`, `debug_level`, `strip` and the
    /// others of `kernelmill_compiler::Options`. One that there is not is an error that names the
    /// nearest.
    ///
    /// ```no_run
    /// kernelmill_build::Build::new().option("debug_level", 0).compile();
    /// ```
    pub fn option(mut self, name: impl Into<String>, value: impl ToString) -> Self {
        self.layer.options.get_or_insert_default().insert(name.into(), value.to_string());
        self
    }

    /// Adds a plugin of the compiler, which works where a kernel calls its marker. The order of the
    /// calls means nothing; two plugins of one name are an error.
    pub fn plugin(mut self, plugin: impl Plugin + 'static) -> Self {
        self.plugins.push(Arc::new(plugin));
        self
    }

    /// Tells a plugin something, in a notation of its own. It is part of the key of every artifact.
    pub fn plugin_meta(mut self, plugin: impl Into<String>, meta: impl Into<String>) -> Self {
        self.layer.plugin_meta.get_or_insert_default().insert(plugin.into(), meta.into());
        self
    }

    /// Uses a type of the package's own, `path` from its root (`crate::Params`), for the struct
    /// `name` in kernel signatures. Its layout is checked when it is compiled.
    pub fn map_type(mut self, name: impl Into<String>, path: impl Into<String>) -> Self {
        let given = MappedType { path: path.into(), origin: None };
        self.layer.types.get_or_insert_default().insert(name.into(), given);
        self
    }

    /// Compiles the files that match a pattern, or one of several, with their host code: launchers
    /// and `extern "C"` functions, which the package then calls. They become a static library that
    /// is linked with the CUDA runtime. They are no kernel sources, and their kernels get no
    /// wrappers; what [`Build::exclude`] leaves out of the kernels may be among them.
    pub fn host_files(mut self, patterns: impl Patterns) -> Self {
        self.layer.host_files.get_or_insert_default().extend(patterns.into_list());
        self
    }

    /// Whether device code in host files may call functions of other host files: relocatable
    /// device code, which is linked in a step of its own. It is off by default, as in nvcc.
    pub fn rdc(mut self, on: bool) -> Self {
        self.layer.rdc = Some(on);
        self
    }

    /// Links cubins with a library of device code where something is undefined in them: an object or
    /// archive of `nvcc -dc`, a cubin of `ptxas -c`, or by its name one of the toolkit's, `cudadevrt`.
    /// Adds to the others. Kernels that need none of them are compiled as they are without.
    ///
    /// ```no_run
    /// kernelmill_build::Build::new().target("sm_90").device_library("lib/solver.a").compile();
    /// ```
    pub fn device_library(mut self, library: impl AsRef<Path>) -> Self {
        add(&mut self.layer.device_libraries, library);
        self
    }

    /// Who compiles kernels in CUDA C++ for NVIDIA's targets. [`CudaCompiler::Auto`] is the default.
    pub fn cuda_compiler(mut self, compiler: CudaCompiler) -> Self {
        self.layer.cuda_compiler = Some(compiler);
        self
    }

    /// Uses this nvcc: a path from the package's root, or a name on `PATH`.
    pub fn nvcc(mut self, program: impl AsRef<Path>) -> Self {
        self.layer.nvcc = Some(program.as_ref().to_string_lossy().into_owned());
        self
    }

    /// Uses this clang: a path from the package's root, or a name on `PATH`.
    pub fn clang(mut self, program: impl AsRef<Path>) -> Self {
        self.layer.clang = Some(program.as_ref().to_string_lossy().into_owned());
        self
    }

    /// Says what holds for one kernel, which is named as its wrapper is or by its full name in C++.
    ///
    /// ```no_run
    /// kernelmill_build::Build::new()
    ///     .kernel("saxpy", |kernel| kernel.requires(["x.len >= n", "y.len >= n"]))
    ///     .compile();
    /// ```
    pub fn kernel(
        mut self,
        name: impl Into<String>,
        settings: impl FnOnce(Kernel) -> Kernel,
    ) -> Self {
        let kernels = self.layer.kernels.get_or_insert_default();
        let slot = kernels.entry(name.into()).or_default();
        *slot = settings(Kernel { layer: std::mem::take(slot) }).layer;
        self
    }

    #[cfg(test)]
    pub(crate) fn layer(&self) -> &Layer {
        &self.layer
    }

    /// Builds. On failure it prints every error to standard error and ends the process with
    /// status 1.
    ///
    /// From then on a file of this process, or of a tool that it starts, that gets larger than `RLIMIT_FSIZE` allows is
    /// an error, and no signal. The end of the time that `RLIMIT_CPU` allows is told, and an abort where there is `RLIMIT_AS`.
    pub fn compile(self) {
        tell_limits();
        if let Err(error) = self.build(false) {
            #[expect(clippy::print_stderr, reason = "this is where errors leave the build script")]
            {
                eprintln!("{}", error.rendered());
            }
            process::exit(1);
        }
    }

    /// Builds, and says what was done.
    ///
    /// # Errors
    ///
    /// Everything that is wrong, all at once: see [`Error`].
    pub fn try_compile(self) -> Result<Summary, Error> {
        self.build(true)
    }

    /// Builds, and tells Cargo what to watch; where it fails only if the build script may end well all the same.
    fn build(self, may_go_on: bool) -> Result<Summary, Error> {
        let Self { layer, plugins } = self;
        let build = || {
            let environment = BuildEnvironment::process();
            let result = pipeline::run(&environment, layer, &plugins);
            if may_go_on || result.is_ok() {
                environment.cargo.release();
            }
            result
        };
        with_stack(stack::OF_BUILD, build).unwrap_or_else(|error| {
            let limit = limit_behind(&error);
            Err(Error::Toolchain(format!("cannot start the thread of the build: {error}{limit}")))
        })
    }
}

/// What holds for one kernel: see [`Build::kernel`]. In TOML it is a table:
///
/// ```toml
/// [package.metadata.kernelmill.kernels.saxpy]
/// requires = ["x.len >= n", "y.len >= n", "grid.x * block.x >= n", "shared == 0"]
/// name = "axpy"
/// targets = ["cpu", "sm_90"]
/// parameters = ["a: f32", "x: *const f32", "y: *mut f32"]    # of a kernel in LLVM IR
/// instances = ["f32, 16", "f64, 16"]    # of a generic kernel
/// variants = [{ launch-bounds = 128 }, { index-width = 32 }]
/// launch-bounds = 256    # or: block-size = [16, 16, 1]
/// min-blocks = 2
/// max-registers = 64
/// cluster = [2, 1, 1]
/// ```
#[derive(Clone, Debug)]
#[must_use = "give it back to `Build::kernel`"]
pub struct Kernel {
    layer: KernelLayer,
}

impl Kernel {
    /// Says what the kernel is launched with, in place of what its source says: the compiler makes
    /// use of it, and each launch is checked against it. Kernels that nvcc compiles say it in their
    /// source.
    ///
    /// ```no_run
    /// use kernelmill_build::{Build, LaunchLimits};
    /// let limits = LaunchLimits { max_block_threads: 256, min_blocks: 2, ..LaunchLimits::NONE };
    /// Build::new().kernel("saxpy", |kernel| kernel.limits(limits)).compile();
    /// ```
    pub fn limits(mut self, limits: LaunchLimits) -> Self {
        self.layer.limits = limits;
        self
    }

    /// Adds rules to the kernel's contract. A kernel with a contract has a wrapper that checks it
    /// and is a safe function: who writes the contract answers for it that every launch which
    /// keeps it is sound.
    ///
    /// A rule compares whole numbers, exactly: `+ - * / %`, `< <= > >= == !=`, `and`, `or`,
    /// parentheses. It has numbers, the kernel's parameters, fields of its structs
    /// (`params.width`), the number of elements of a buffer (`x.len`), the launch (`grid.x`,
    /// `block.y`, ...) and its bytes of dynamic shared memory (`shared`).
    pub fn requires<R: Into<String>>(mut self, rules: impl IntoIterator<Item = R>) -> Self {
        let rules = rules.into_iter().map(|rule| RuleText { text: rule.into(), origin: None });
        self.layer.requires.get_or_insert_default().extend(rules);
        self
    }

    /// The most that it may take of a device; where there is none, that of [`Build::thresholds`] holds.
    pub fn thresholds(mut self, thresholds: Thresholds) -> Self {
        self.layer.thresholds = thresholds;
        self
    }

    /// Gives the kernel's wrapper another name.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.layer.name = Some(name.into());
        self
    }

    /// Declares the parameters of a kernel in LLVM IR or PTX, which do not say what pointers point to, nor signs: each a
    /// name and a type. Types are scalars, arrays of them, `*const T` for memory that is read, and `*mut T`.
    ///
    /// ```no_run
    /// kernelmill_build::Build::new()
    ///     .kernel("saxpy", |kernel| kernel.parameters(["a: f32", "x: *const f32", "y: *mut f32"]))
    ///     .compile();
    /// ```
    pub fn parameters<P: Into<String>>(mut self, parameters: impl IntoIterator<Item = P>) -> Self {
        let written = parameters.into_iter();
        let written = written.map(|text| RuleText { text: text.into(), origin: None });
        self.layer.parameters = Some(written.collect());
        self
    }

    /// Lists instances of a generic kernel or of a template of C++, besides those that its source has: each the types and
    /// constants for the kernel's parameters, in the language of the source.
    ///
    /// ```no_run
    /// kernelmill_build::Build::new()
    ///     .kernel("scale", |kernel| kernel.instances(["f32, 16", "f64, 16"]))
    ///     .compile();
    /// ```
    pub fn instances<I: Into<String>>(mut self, instances: impl IntoIterator<Item = I>) -> Self {
        let written = instances.into_iter();
        let written = written.map(|text| RuleText { text: text.into(), origin: None });
        self.layer.instances.get_or_insert_default().extend(written);
        self
    }

    /// Lists variants of the kernel: builds for some of its launches, among which a launch chooses. Each is what is said
    /// of its launches, in place of what is said of the kernel's: the most threads of a block or its exact size, the number
    /// of blocks on a multiprocessor, the most registers of a thread, the bits of indices. Clusters are not looked at.
    ///
    /// ```no_run
    /// use kernelmill_build::{Build, LaunchLimits};
    /// let small = LaunchLimits { max_block_threads: 128, ..LaunchLimits::NONE };
    /// let narrow = LaunchLimits { index_width: 32, ..LaunchLimits::NONE };
    /// Build::new().kernel("saxpy", |kernel| kernel.variants([small, narrow])).compile();
    /// ```
    pub fn variants(mut self, variants: impl IntoIterator<Item = LaunchLimits>) -> Self {
        let variant = |limits: LaunchLimits| {
            let limits = LaunchLimits { cluster: [0; 3], ..limits };
            VariantLayer { limits, ..VariantLayer::default() }
        };
        self.layer.variants.get_or_insert_default().extend(variants.into_iter().map(variant));
        self
    }

    /// Adds a variant of a kernel in CUDA C++, HIP or OpenCL C whose source is compiled with macros of its own, each a
    /// name and a value. Launches ask for it by `name`, with `Launch::variant`.
    ///
    /// ```no_run
    /// use kernelmill_build::Build;
    /// Build::new()
    ///     .kernel("multiply", |kernel| kernel.defined_variant("wide", [("TILE", 32)]))
    ///     .compile();
    /// ```
    pub fn defined_variant<N: Into<String>, V: ToString>(
        mut self,
        name: impl Into<String>,
        defines: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        let defines = defines.into_iter().map(|(name, value)| (name.into(), value.to_string()));
        let (name, defines) = (Some(name.into()), defines.collect());
        let variant = VariantLayer { name, defines, ..VariantLayer::default() };
        self.layer.variants.get_or_insert_default().push(variant);
        self
    }

    /// Compiles the kernel for some of the build's targets only. Where none of them runs, the
    /// other kernels load, and a launch of this one is an error.
    pub fn targets<T: ToString>(mut self, targets: impl IntoIterator<Item = T>) -> Self {
        let origin = "the build script".to_owned();
        let names = targets
            .into_iter()
            .map(|target| TargetName { text: target.to_string(), origin: origin.clone() });
        self.layer.targets.get_or_insert_default().extend(names);
        self
    }
}

fn add(list: &mut Option<Vec<String>>, item: impl AsRef<Path>) {
    list.get_or_insert_default().push(item.as_ref().to_string_lossy().into_owned());
}

/// One pattern, or a list of them: `"*_test.rs"`, `["old", "*_test.rs"]`.
///
/// ```
/// use kernelmill_build::Build;
/// let _ = Build::new().exclude("old");
/// let _ = Build::new().exclude(["old", "*_test.rs"]);
/// let _ = Build::new().exclude(vec![String::from("old")]);
/// ```
pub trait Patterns {
    /// The patterns, in their order.
    fn into_list(self) -> Vec<String>;
}

impl Patterns for &str {
    fn into_list(self) -> Vec<String> {
        vec![self.to_owned()]
    }
}

impl Patterns for String {
    fn into_list(self) -> Vec<String> {
        vec![self]
    }
}

impl<T: AsRef<str>, const N: usize> Patterns for [T; N] {
    fn into_list(self) -> Vec<String> {
        self.as_slice().into_list()
    }
}

impl<T: AsRef<str>, const N: usize> Patterns for &[T; N] {
    fn into_list(self) -> Vec<String> {
        self.as_slice().into_list()
    }
}

impl<T: AsRef<str>> Patterns for &[T] {
    fn into_list(self) -> Vec<String> {
        self.iter().map(|pattern| pattern.as_ref().to_owned()).collect()
    }
}

impl<T: AsRef<str>> Patterns for Vec<T> {
    fn into_list(self) -> Vec<String> {
        self.as_slice().into_list()
    }
}
