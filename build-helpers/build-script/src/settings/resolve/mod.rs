//! The settings of a build, from every place that has some.
//!
//! Each key is taken from the last of these that sets it: the defaults,
//! `[workspace.metadata.kernelmill]`, `[package.metadata.kernelmill]` or `kernelmill.toml`, the
//! builder, the environment.

use super::{
    checks,
    choices::{CudaCompiler, MATH_LIBRARIES, PANIC_LEVELS, math_library, panic_level},
    dumps::Dumps,
    kernel::KernelSettings,
    layer::{Layer, TargetName},
    native, overrides,
    package::Package,
    resolved::{DEFAULT_FOLDER, Settings},
    sources::{SourceSettings, SourcesSettings},
    toml_reader,
    toml_text::TomlText,
    unknown_target,
    variants::VariantSettings,
};
use crate::{
    base::{environment::BuildEnvironment, error::Error, glob::Glob, report::Report},
    tuning,
};
use kernelmill_artifact::Target;
use kernelmill_compiler::diagnostic::Code;
use kernelmill_compiler::{Options, Params};
use std::collections::BTreeMap;

/// The targets of a build that names none.
const DEFAULT_TARGETS: [&str; 2] = ["cpu", "compute_75"];

/// Reads and merges the settings.
///
/// # Errors
///
/// [`Error::Settings`] with everything that is wrong in any of the places.
pub(crate) fn read(
    environment: &BuildEnvironment,
    package: &Package,
    builder: Layer,
) -> Result<Settings, Error> {
    let (settings, report) = read_all(environment, package, builder);
    report.into_result(Error::Settings)?;
    Ok(settings)
}

/// As [`read`], with everything wrong beside what is left of the settings without that.
pub(crate) fn read_all(
    environment: &BuildEnvironment,
    package: &Package,
    builder: Layer,
) -> (Settings, Report) {
    let mut report = Report::default();
    let workspace = package.workspace.as_ref().and_then(|text| {
        toml_reader::table_at(text, &["workspace", "metadata", "kernelmill"], &mut report)
    });
    let manifest = toml_reader::table_at(
        &package.manifest,
        &["package", "metadata", "kernelmill"],
        &mut report,
    );
    let file =
        package.settings.as_ref().and_then(|text| toml_reader::table_at(text, &[], &mut report));
    if manifest.is_some() && file.is_some() {
        report.plain(
            Code::TwoSettings, "settings are in both `[package.metadata.kernelmill]` of Cargo.toml and kernelmill.toml",
            "keep one of the two",
        );
    }
    let variables = from_variables(environment, &mut report);
    let own = manifest.or(file).unwrap_or_default();
    let merged = variables.over(builder).over(own).over(workspace.unwrap_or_default());
    let mut settings = finish(environment, merged, &mut report);
    settings.sources.relative_to(&package.root);
    if let Some(TomlText { text, .. }) = &package.tuning {
        match tuning::read(text) {
            Ok(choices) => settings.tuned = choices,
            Err(faults) => {
                faults.into_iter().for_each(|fault| report.message(Code::TuningFile, fault))
            }
        }
    }
    (settings, report)
}

/// What the environment sets.
fn from_variables(environment: &BuildEnvironment, report: &mut Report) -> Layer {
    let mut layer = Layer::default();
    let origin = |variable: &str| format!("the environment variable {variable}");
    if let Some(text) = environment.text("KERNELMILL_TARGETS") {
        layer.targets = Some(vec![TargetName { text, origin: origin("KERNELMILL_TARGETS") }]);
    }
    layer.nvcc = environment.text("KERNELMILL_NVCC");
    layer.clang = environment.text("KERNELMILL_CLANG");
    layer.device_libraries = environment.variable("KERNELMILL_DEVICE_LIBRARIES").map(|list| {
        let paths = std::env::split_paths(&list);
        paths.map(|path| path.to_string_lossy().into_owned()).collect()
    });
    if let Some(text) = environment.text("KERNELMILL_FMA") {
        match text.as_str() {
            "1" | "true" => layer.fma = Some(true),
            "0" | "false" => layer.fma = Some(false),
            _ => report.plain(
                Code::Variable,
                invalid("KERNELMILL_FMA", &text),
                "write `true` or `false`",
            ),
        }
    }
    if let Some(text) = environment.text("KERNELMILL_OPTIMIZATION") {
        match text.parse() {
            Ok(level) if level <= 3 => layer.optimization = Some(level),
            _ => report.plain(
                Code::Variable,
                invalid("KERNELMILL_OPTIMIZATION", &text),
                "write a level from 0 to 3",
            ),
        }
    }
    if let Some(text) = environment.text("KERNELMILL_PANICS") {
        layer.panics = panic_level(&text);
        if layer.panics.is_none() {
            report.plain(
                Code::Variable,
                invalid("KERNELMILL_PANICS", &text),
                format!("write {PANIC_LEVELS}"),
            );
        }
    }
    if let Some(text) = environment.text("KERNELMILL_MATH") {
        layer.math = math_library(&text);
        if layer.math.is_none() {
            report.plain(
                Code::Variable,
                invalid("KERNELMILL_MATH", &text),
                format!("write {MATH_LIBRARIES}"),
            );
        }
    }
    if let Some(text) = environment.text("KERNELMILL_CUDA_COMPILER") {
        layer.cuda_compiler = CudaCompiler::named(&text);
        if layer.cuda_compiler.is_none() {
            report.plain(
                Code::Variable,
                invalid("KERNELMILL_CUDA_COMPILER", &text),
                format!("write {}", CudaCompiler::NAMES),
            );
        }
    }
    layer
}

/// Fills in the defaults, and reads what is only text so far.
fn finish(environment: &BuildEnvironment, layer: Layer, report: &mut Report) -> Settings {
    let names_sources =
        layer.source_dirs.is_some() || layer.source_files.is_some() || layer.source_globs.is_some();
    let default_dirs = if names_sources { vec![] } else { vec![DEFAULT_FOLDER.to_owned()] };
    let names = layer.targets.unwrap_or_else(|| {
        let default = |name: &&str| TargetName { text: (*name).to_owned(), origin: String::new() };
        DEFAULT_TARGETS.iter().map(default).collect()
    });
    let source_globs = globs("source-glob", layer.source_globs, report);
    let excludes = globs("exclude", layer.excludes, report);
    let host_files = globs("host-files", layer.host_files, report);
    let defines = layer.defines.unwrap_or_default();
    let arguments = layer.arguments.unwrap_or_default();
    check_compilation(&defines, &arguments, report);
    let kernels = layer.kernels.unwrap_or_default().into_iter().map(|(key, mut kernel)| {
        let of_kernel = kernel.targets.take().map(|names| targets(environment, &names, report));
        let variants = kernel.variants.take().unwrap_or_default().into_iter().map(|mut variant| {
            let own = variant.targets.take().map(|names| targets(environment, &names, report));
            VariantSettings::of(&key, variant, own, report)
        });
        let variants = variants.collect();
        let settings = KernelSettings::of(&key, kernel, (of_kernel, variants), report);
        (key, settings)
    });
    let kernels = kernels.collect();
    let sources = layer.sources.unwrap_or_default().into_iter().filter_map(|(pattern, layer)| {
        let pattern = globs("sources", Some(vec![pattern]), report).pop()?;
        let source = SourceSettings::of(pattern, layer);
        check_compilation(&source.defines, &source.arguments, report);
        Some(source)
    });
    let sources = SourcesSettings::new(sources.collect());
    let params = Params::default();
    let mut options = Options::default();
    if let Some(level) = layer.optimization {
        options.opt_level = level;
    }
    let said = layer.options.unwrap_or_default();
    for (name, value) in &said {
        if let Err(fault) = checks::set_option(&mut options, name, value) {
            report.plain(fault.code, fault.message, fault.help);
        }
    }
    if let Err(fault) = checks::complete(&options) {
        report.plain(fault.code, fault.message, fault.help);
    }
    Settings {
        targets: targets(environment, &names, report),
        has_targets_of_environment: environment.text("KERNELMILL_TARGETS").is_some(),
        kernels,
        generics: BTreeMap::new(),
        variants_of_sources: BTreeMap::new(),
        source_dirs: layer.source_dirs.unwrap_or(default_dirs),
        source_files: layer.source_files.unwrap_or_default(),
        source_globs,
        excludes,
        includes: layer.includes.unwrap_or_default(),
        defines,
        arguments,
        sources,
        types: layer.types.unwrap_or_default(),
        cuda_compiler: layer.cuda_compiler.unwrap_or_default(),
        nvcc: layer.nvcc,
        clang: layer.clang,
        plugin_on_everything: layer.plugin_on_everything,
        plugins_ask_for_state: layer.plugins_ask_for_state,
        has_ptx: false,
        tuned: Vec::new(),
        host_files,
        rdc: layer.rdc.unwrap_or(false),
        device_libraries: layer.device_libraries.unwrap_or_default(),
        max_spills: layer.max_spills,
        thresholds: layer.thresholds,
        max_registers: max_registers(environment, report),
        excess_spills: layer.excess_spills.unwrap_or_default(),
        overrides: overrides::named(environment),
        dumps: Dumps::read(environment, report),
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

/// The message for a variable of the environment whose value cannot be read.
fn invalid(variable: &str, value: &str) -> String {
    format!("the environment variable {variable} has the invalid value `{value}`")
}

/// The variable with the most registers of a thread.
const MAX_REGISTERS: &str = "KERNELMILL_MAX_REGISTERS";

/// The most registers of a thread that the environment says for kernels.
fn max_registers(environment: &BuildEnvironment, report: &mut Report) -> Option<u32> {
    let text = environment.text(MAX_REGISTERS)?;
    let number = text.parse().ok().filter(|number| (1..=255).contains(number));
    if number.is_none() {
        report.plain(Code::Variable, invalid(MAX_REGISTERS, &text), "write a number from 1 to 255");
    }
    number
}

/// Reports macros and arguments of builders that no compiler takes; those of files have been left out.
fn check_compilation(
    defines: &BTreeMap<String, String>,
    arguments: &[String],
    report: &mut Report,
) {
    let mut faults: Vec<_> = defines.keys().filter_map(|it| checks::definition(it).err()).collect();
    for (place, argument) in arguments.iter().enumerate() {
        let before = place.checked_sub(1).map(|before| arguments[before].as_str());
        faults.extend(checks::argument(before, argument).err());
    }
    for fault in faults {
        report.plain(fault.code, fault.message, fault.help);
    }
}

/// The patterns of a setting.
fn globs(setting: &str, patterns: Option<Vec<String>>, report: &mut Report) -> Vec<Glob> {
    let mut found = Vec::new();
    for pattern in patterns.unwrap_or_default() {
        match checks::pattern(setting, &pattern) {
            Ok(glob) => found.push(glob),
            Err(fault) => report.plain(fault.code, fault.message, fault.help),
        }
    }
    found
}

/// The targets that were written, each once.
fn targets(
    environment: &BuildEnvironment,
    names: &[TargetName],
    report: &mut Report,
) -> Vec<Target> {
    let mut found: Vec<Target> = Vec::new();
    for name in names {
        for part in name.text.split([',', ';', ' ', '\t', '\n']).filter(|part| !part.is_empty()) {
            let parsed = if part == "native" {
                Ok(native::targets(environment))
            } else {
                Target::parse_entry(part)
            };
            match parsed {
                Ok(targets) => found.extend(targets),
                Err(error) => report.plain(
                    Code::UnknownTarget,
                    format!("unknown target `{}` in {}", error.text, name.origin),
                    unknown_target::help(&error),
                ),
            }
        }
    }
    if found.is_empty() && report.is_empty() {
        let origin = names.first().map_or("the build script", |name| &name.origin);
        report.plain(
            Code::NoTarget,
            format!("no target is named in {origin}"),
            "name one, for example \"cpu\"",
        );
    }
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|target| seen.insert(target.clone()));
    found
}

#[cfg(test)]
mod tests;
