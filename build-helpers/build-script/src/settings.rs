//! The settings of a build, from every place that has some.
//!
//! Each key is taken from the last of these that sets it: the defaults,
//! `[workspace.metadata.kernelmill]`, `[package.metadata.kernelmill]` or `kernelmill.toml`, the
//! builder, the environment.

mod kernel;
mod layer;
mod native;
mod read;

pub(crate) use kernel::{KernelLayer, KernelSettings, RuleText, is_about, report_fault};
pub(crate) use layer::{Layer, TargetName};
pub(crate) use read::TomlText;

use crate::{env::World, error::Error, glob::Glob, manifest::Package, report::Report};
use kernelmill_artifact::{Signature, Target};
use kernelmill_compiler::{MathLibrary, OptionError, Options, PanicLevel, Params};
use std::collections::BTreeMap;

/// The keys, as they are written in TOML.
pub(crate) const KEYS: [&str; 21] = [
    "targets",
    "source-dir",
    "source-files",
    "source-glob",
    "exclude",
    "include",
    "define",
    "arguments",
    "fma",
    "optimization",
    "panics",
    "math",
    "types",
    "cuda-compiler",
    "nvcc",
    "clang",
    "host-files",
    "rdc",
    "device-libraries",
    "options",
    "kernels",
];

/// The settings of a build, checked.
#[derive(Debug)]
pub(crate) struct Settings {
    /// Each once, in the order they were written.
    pub(crate) targets: Vec<Target>,
    pub(crate) source_dirs: Vec<String>,
    pub(crate) source_files: Vec<String>,
    pub(crate) source_globs: Vec<Glob>,
    pub(crate) excludes: Vec<Glob>,
    pub(crate) includes: Vec<String>,
    pub(crate) defines: BTreeMap<String, String>,
    pub(crate) arguments: Vec<String>,
    /// Rust types of the user's own, by the names of the structs they stand for.
    pub(crate) types: BTreeMap<String, String>,
    /// Who compiles kernels in CUDA C++ for NVIDIA's targets.
    pub(crate) cuda_compiler: CudaCompiler,
    /// The nvcc to use, as written: a path from the package's root, or a name on `PATH`.
    pub(crate) nvcc: Option<String>,
    /// The clang to use, in the same way.
    pub(crate) clang: Option<String>,
    /// A plugin that works on all kernels, which those that nvcc makes escape.
    pub(crate) plugin_on_everything: Option<String>,
    /// Files with host code, which become a library.
    pub(crate) host_files: Vec<Glob>,
    /// Whether device code of host files may call into other files.
    pub(crate) rdc: bool,
    /// Libraries of device code: paths from the package's root, or names of the toolkit's.
    pub(crate) device_libraries: Vec<String>,
    /// What is said of single kernels, by the names that the settings have for them.
    pub(crate) kernels: BTreeMap<String, KernelSettings>,
    pub(crate) params: Params,
    pub(crate) options: Options,
}

/// Whose arguments: each has the prefix that makes an argument its own alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArgumentsOf {
    /// rustc's, `rustc:-Copt-level=1`.
    Rustc,
    /// Those of nvcc and clang, `cuda:-std=c++20`.
    Cuda,
}

impl ArgumentsOf {
    fn prefix(self) -> &'static str {
        match self {
            Self::Rustc => "rustc:",
            Self::Cuda => "cuda:",
        }
    }
}

impl Settings {
    /// The arguments for a language's compilers: those that are for all, and its own.
    pub(crate) fn arguments_for(&self, whose: ArgumentsOf) -> Vec<String> {
        let others = [ArgumentsOf::Rustc, ArgumentsOf::Cuda].into_iter().filter(|it| *it != whose);
        let others: Vec<_> = others.map(ArgumentsOf::prefix).collect();
        let is_for = |argument: &&String| !others.iter().any(|it| argument.starts_with(it));
        let own = |argument: &String| {
            argument.strip_prefix(whose.prefix()).unwrap_or(argument).to_owned()
        };
        self.arguments.iter().filter(is_for).map(own).collect()
    }

    /// Whether a kernel is to be compiled for a target: what is said of it may narrow its targets.
    pub(crate) fn wants(&self, kernel: &Signature, target: &Target) -> bool {
        let about = self.kernels.iter().filter(|(key, said)| is_about(key, said, kernel));
        about.filter_map(|(_, said)| said.targets.as_ref()).all(|list| list.contains(target))
    }

    /// Adds what the settings say of launches to kernels; it goes before what their sources say.
    pub(crate) fn limit(&self, kernels: &mut [Signature], report: &mut Report) {
        for kernel in kernels {
            let about = self.kernels.iter().filter(|(key, said)| is_about(key, said, kernel));
            let said: Vec<_> = about.map(|(_, said)| said).collect();
            for said in said {
                kernel.limits = said.limits.or(kernel.limits);
                said.check(kernel, report);
            }
        }
    }

    /// Whether front ends write down variables and types, and not only source lines.
    pub(crate) fn is_fully_debuggable(&self) -> bool {
        self.options.debug_level >= 2
    }

    /// Whether a target is not NVIDIA's.
    pub(crate) fn has_others(&self) -> bool {
        !self.targets.iter().all(|target| matches!(target, Target::Ptx(_) | Target::Cubin(_)))
    }

    /// Whether a target is NVIDIA's.
    pub(crate) fn has_nvidia(&self) -> bool {
        self.targets.iter().any(|target| matches!(target, Target::Ptx(_) | Target::Cubin(_)))
    }
}

/// The targets of a build that names none.
const DEFAULT_TARGETS: [&str; 2] = ["cpu", "compute_75"];
/// The folder of a build that names no source.
pub(crate) const DEFAULT_FOLDER: &str = "kernels";

/// Reads and merges the settings.
///
/// # Errors
///
/// [`Error::Settings`] with everything that is wrong in any of the places.
pub(crate) fn read(world: &World, package: &Package, builder: Layer) -> Result<Settings, Error> {
    let mut report = Report::default();
    let workspace = package.workspace.as_ref().and_then(|text| {
        read::table_at(text, &["workspace", "metadata", "kernelmill"], &mut report)
    });
    let manifest =
        read::table_at(&package.manifest, &["package", "metadata", "kernelmill"], &mut report);
    let file = package.settings.as_ref().and_then(|text| read::table_at(text, &[], &mut report));
    if manifest.is_some() && file.is_some() {
        report.plain(
            "settings are in both `[package.metadata.kernelmill]` of Cargo.toml and kernelmill.toml",
            "keep one of the two",
        );
    }
    let environment = environment(world, &mut report);
    let own = manifest.or(file).unwrap_or_default();
    let merged = environment.over(builder).over(own).over(workspace.unwrap_or_default());
    let settings = finish(world, merged, &mut report);
    report.into_result(Error::Settings)?;
    Ok(settings)
}

/// What the environment sets.
fn environment(world: &World, report: &mut Report) -> Layer {
    let mut layer = Layer::default();
    let origin = |variable: &str| format!("the environment variable {variable}");
    if let Some(text) = world.text("KERNELMILL_TARGETS") {
        layer.targets = Some(vec![TargetName { text, origin: origin("KERNELMILL_TARGETS") }]);
    }
    layer.nvcc = world.text("KERNELMILL_NVCC");
    layer.clang = world.text("KERNELMILL_CLANG");
    layer.device_libraries = world.variable("KERNELMILL_DEVICE_LIBRARIES").map(|list| {
        let paths = std::env::split_paths(&list);
        paths.map(|path| path.to_string_lossy().into_owned()).collect()
    });
    if let Some(text) = world.text("KERNELMILL_FMA") {
        match text.as_str() {
            "1" | "true" => layer.fma = Some(true),
            "0" | "false" => layer.fma = Some(false),
            _ => report.plain(
                format!("{} is `{text}`", origin("KERNELMILL_FMA")),
                "write `true` or `false`",
            ),
        }
    }
    if let Some(text) = world.text("KERNELMILL_OPTIMIZATION") {
        match text.parse() {
            Ok(level) if level <= 3 => layer.optimization = Some(level),
            _ => report.plain(
                format!("{} is `{text}`", origin("KERNELMILL_OPTIMIZATION")),
                "write a level from 0 to 3",
            ),
        }
    }
    if let Some(text) = world.text("KERNELMILL_PANICS") {
        layer.panics = panic_level(&text);
        if layer.panics.is_none() {
            report.plain(
                format!("{} is `{text}`", origin("KERNELMILL_PANICS")),
                format!("write {PANIC_LEVELS}"),
            );
        }
    }
    if let Some(text) = world.text("KERNELMILL_MATH") {
        layer.math = math_library(&text);
        if layer.math.is_none() {
            report.plain(
                format!("{} is `{text}`", origin("KERNELMILL_MATH")),
                format!("write {MATH_LIBRARIES}"),
            );
        }
    }
    if let Some(text) = world.text("KERNELMILL_CUDA_COMPILER") {
        layer.cuda_compiler = CudaCompiler::named(&text);
        if layer.cuda_compiler.is_none() {
            report.plain(
                format!("{} is `{text}`", origin("KERNELMILL_CUDA_COMPILER")),
                format!("write {}", CudaCompiler::NAMES),
            );
        }
    }
    layer
}

/// Who compiles kernels in CUDA C++ for NVIDIA's targets. The other targets are clang's always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CudaCompiler {
    /// nvcc where it is there, clang where it is not.
    #[default]
    Auto,
    /// nvcc; without it the build ends with an error.
    Nvcc,
    /// clang, then kernelmill's own compiler, so that plugins, deferred references and launch limits
    /// in the settings work for NVIDIA's targets too.
    Clang,
}

impl CudaCompiler {
    /// The names, for messages.
    const NAMES: &str = "`auto`, `nvcc` or `clang`";

    /// The one of this name.
    fn named(name: &str) -> Option<Self> {
        let all = [("auto", Self::Auto), ("nvcc", Self::Nvcc), ("clang", Self::Clang)];
        all.iter().find(|(known, _)| *known == name).map(|(_, compiler)| *compiler)
    }
}

/// The libraries, for messages.
const MATH_LIBRARIES: &str = "`own` or `vendor`";

/// The library of this name.
fn math_library(name: &str) -> Option<MathLibrary> {
    MathLibrary::ALL.iter().find(|(known, _)| *known == name).map(|(_, library)| *library)
}

/// The levels, for messages.
const PANIC_LEVELS: &str = "`none`, `message` or `backtrace`";

/// The level of this name.
fn panic_level(name: &str) -> Option<PanicLevel> {
    PanicLevel::ALL.iter().find(|(known, _)| *known == name).map(|(_, level)| *level)
}

/// Fills in the defaults, and reads what is only text so far.
fn finish(world: &World, layer: Layer, report: &mut Report) -> Settings {
    let names_sources =
        layer.source_dirs.is_some() || layer.source_files.is_some() || layer.source_globs.is_some();
    let default_dirs = if names_sources { vec![] } else { vec![DEFAULT_FOLDER.to_owned()] };
    let names = layer.targets.unwrap_or_else(|| {
        let default = |name: &&str| TargetName { text: (*name).to_owned(), origin: String::new() };
        DEFAULT_TARGETS.iter().map(default).collect()
    });
    let globs = |patterns: Option<Vec<String>>| {
        patterns.unwrap_or_default().iter().map(|pattern| Glob::new(pattern)).collect()
    };
    let defines = layer.defines.unwrap_or_default();
    for name in defines.keys().filter(|name| !is_identifier(name)) {
        report.plain(
            format!("`{name}` is defined, which is no name"),
            "a name has letters, digits and underscores, and starts with no digit",
        );
    }
    let kernels = layer.kernels.unwrap_or_default().into_iter().map(|(key, mut kernel)| {
        let targets = kernel.targets.take().map(|names| targets(world, &names, report));
        let settings = KernelSettings::of(&key, kernel, targets, report);
        (key, settings)
    });
    let kernels = kernels.collect();
    let params = Params::default();
    let mut options = Options::default();
    if let Some(level) = layer.optimization {
        options.opt_level = level;
    }
    let said = layer.options.unwrap_or_default();
    let refused =
        said.iter().filter_map(|(name, value)| set_option(&mut options, name, value).err());
    let refused: Vec<_> = refused.collect();
    for error in refused.into_iter().chain(options.check_complete().err()) {
        report.plain(error.to_string(), "see `kernelmill_compiler::Options` for what there is");
    }
    Settings {
        targets: targets(world, &names, report),
        kernels,
        source_dirs: layer.source_dirs.unwrap_or(default_dirs),
        source_files: layer.source_files.unwrap_or_default(),
        source_globs: globs(layer.source_globs),
        excludes: globs(layer.excludes),
        includes: layer.includes.unwrap_or_default(),
        defines,
        arguments: layer.arguments.unwrap_or_default(),
        types: layer.types.unwrap_or_default(),
        cuda_compiler: layer.cuda_compiler.unwrap_or_default(),
        nvcc: layer.nvcc,
        clang: layer.clang,
        plugin_on_everything: layer.plugin_on_everything,
        host_files: globs(layer.host_files),
        rdc: layer.rdc.unwrap_or(false),
        device_libraries: layer.device_libraries.unwrap_or_default(),
        params: Params {
            contract: layer.fma.unwrap_or(params.contract),
            panics: layer.panics.unwrap_or(params.panics),
            math: layer.math.unwrap_or(params.math),
            meta: layer.plugin_meta.unwrap_or_default(),
            ..params
        },
        options,
    }
}

/// Sets an option of the compiler by its name, in which a hyphen is as good as an underscore.
fn set_option(options: &mut Options, name: &str, value: &str) -> Result<(), OptionError> {
    options.set(&name.replace('-', "_"), value)
}

/// The targets that were written, each once.
fn targets(world: &World, names: &[TargetName], report: &mut Report) -> Vec<Target> {
    let mut found: Vec<Target> = Vec::new();
    for name in names {
        for part in name.text.split([',', ';', ' ', '\t', '\n']).filter(|part| !part.is_empty()) {
            let parsed = if part == "native" {
                Ok(native::targets(world))
            } else {
                Target::parse_entry(part)
            };
            match parsed {
                Ok(targets) => found.extend(targets),
                Err(error) => report.plain(
                    format!("unknown target `{}` in {}", error.text, name.origin),
                    format!("the nearest is `{}`", error.nearest),
                ),
            }
        }
    }
    if found.is_empty() && report.is_empty() {
        report.plain("the list of targets is empty", "name one, for example \"cpu\"");
    }
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|target| seen.insert(target.clone()));
    found
}

/// Whether a text is a name in Rust and in C.
pub(crate) fn is_identifier(text: &str) -> bool {
    let mut letters = text.bytes();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == b'_')
}

#[cfg(test)]
mod tests;
