//! The build pipeline, from settings to `OUT_DIR`.

use crate::{
    base::{environment::BuildEnvironment, error::Error, report::Report},
    compile::{
        artifacts::architectures,
        binary::Binary,
        compilation::Compilation,
        compiler::Compile,
        dependencies::{self, Dependencies},
        nvcc::NvccCompiler,
    },
    discovery::{
        device_functions, host_files,
        source::{Source, SourceKind},
        sources,
    },
    outputs::{bindings::model::Interface, host_library, link, out_dir},
    plan::{
        device_libraries, host_code,
        units::{self, Unit, UnitCompiler},
    },
    settings::{layer::Layer, package::Package, resolve, resolved::Settings},
    store::{dependency_record::Inputs, entries::Store},
    summary::Summary,
    toolchain::{self, CppTools},
};
use kernelmill_compiler::{
    Artifact, Compiler,
    plugin::{Plugin, Scope},
};
use std::sync::{Arc, OnceLock};

/// Builds with the compiler that the toolchain gives.
pub(crate) fn run(
    environment: &BuildEnvironment,
    mut builder: Layer,
    plugins: &[Arc<dyn Plugin>],
) -> Result<Summary, Error> {
    builder.plugin_on_everything = on_everything(&builder, plugins);
    run_with(environment, builder, |package, settings| {
        let search = toolchain::Search::of_build(environment, package, settings);
        let toolchain = toolchain::find(&search, package, settings)?;
        let compiler =
            Compiler::new(toolchain).map_err(|error| Error::Toolchain(error.to_string()))?;
        for warning in compiler.warnings() {
            environment.cargo.warn(&warning);
        }
        let compiler = compiler
            .with_plugins(plugins.to_vec())
            .map_err(|error| Error::Toolchain(error.to_string()))?;
        Ok(Box::new(compiler))
    })
}

/// The name of a plugin that works on all kernels, by what the build has for it.
fn on_everything(builder: &Layer, plugins: &[Arc<dyn Plugin>]) -> Option<String> {
    let meta = |plugin: &str| builder.plugin_meta.as_ref().and_then(|all| all.get(plugin).cloned());
    let mut found = plugins.iter().map(|plugin| (plugin, meta(plugin.name()).unwrap_or_default()));
    let found = found.find(|(plugin, meta)| plugin.scope(meta) == Scope::Everything);
    found.map(|(plugin, _)| plugin.name().to_owned())
}

/// Builds with a compiler that is opened when it is clear that there is something to compile.
pub(crate) fn run_with(
    environment: &BuildEnvironment,
    builder: Layer,
    open: impl Fn(&Package, &Settings) -> Result<Box<dyn Compile>, Error>,
) -> Result<Summary, Error> {
    let package = Package::read(environment)?;
    let mut settings = resolve::read(environment, &package, builder)?;
    let mut found = sources::find(&package, &settings)?;
    found.watched.iter().for_each(|path| package.watch(environment, path));
    let is_skipped = environment.flag("KERNELMILL_SKIP_BUILD") || environment.flag("DOCS_RS");
    let host_files = host_files::find(environment, &package, &settings)?;
    let search = toolchain::Search::of_build(environment, &package, &settings);
    let is_cuda = |source: &Source| source.kind == SourceKind::Cuda;
    let has_kernels = found.sources.iter().any(is_cuda);
    let tools =
        match CppTools::find(&search, &package, &settings, has_kernels, !host_files.is_empty()) {
            // A build without binaries does what can be done.
            Err(_) if is_skipped => CppTools::default(),
            tools => tools?,
        };
    let store = Store::of_user(environment);
    let inputs = Inputs::new(environment, &package, &store);
    if !is_skipped {
        let link = device_libraries::find(environment, &package, &settings, &search, &inputs)?;
        settings.params.device_link = link;
    }
    let units = if is_skipped {
        Vec::new()
    } else {
        host_code::check(&host_files, &settings, &search, tools.nvcc.as_ref())?;
        units::plan(&found.sources, &settings, &search, &tools)?
    };
    if let Some(plugin) = &settings.plugin_on_everything {
        warn_of_nvcc(environment, &found.sources, &units, plugin);
    }
    let compilation = Compilation {
        environment,
        package: &package,
        settings: &settings,
        store: &store,
        inputs: &inputs,
        cuda: tools.nvcc.as_ref().map(|nvcc| NvccCompiler {
            package: &package,
            settings: &settings,
            store: &store,
            inputs: &inputs,
            nvcc,
        }),
        clang: tools.clang.as_ref(),
        architectures: architectures(&found.sources, &units),
        open: &open,
        compiler: OnceLock::new(),
    };
    let host_files = if is_skipped { Vec::new() } else { host_files };
    let (mut fronts, early) = compilation.read_cpp(&mut found, &units, &host_files)?;
    dependencies::check_links(environment, &package, &found.sources)?;
    let own = found.sources.len();
    let dependencies = Dependencies::read(environment)?;
    for (source, front) in dependencies.sources() {
        found.sources.push(source);
        fronts.push(front.map(Ok));
    }
    let mut report = Report::default();
    device_functions::check(&found.sources, &package.name, &mut report);
    report.into_result(Error::Sources)?;
    let interface = Interface::of(&found.sources, &settings, &package.name)?;
    let is_needed = |unit: &Unit| found.sources[unit.source].is_for(&unit.config.target, &settings);
    let units = units.into_iter().zip(early.binaries).filter(|(unit, _)| is_needed(unit));
    let (units, early_binaries): (Vec<_>, Vec<_>) = units.unzip();
    let binaries = {
        let fronts = (&mut fronts, &dependencies);
        compilation.make(&found.sources, &units, early_binaries, fronts)?
    };
    if environment.links().is_some() {
        let sources = &found.sources[..own];
        let exported =
            if is_skipped { None } else { Some(compilation.exported(sources, &mut fronts)?) };
        dependencies.write(environment, &package, sources, exported)?;
    }
    if let Some(cuda) = compilation.cuda.as_ref().filter(|_| !host_files.is_empty()) {
        host_library::library(environment, cuda, &host_files, early.objects)?;
    }
    inputs.finish();
    if let Some(warning) = store.finish() {
        environment.cargo.warn(&warning);
    }
    let files = out_dir::write(&package, &found.sources, &binaries, &interface)?;
    link::objects(environment, &package, &files.objects)?;
    let summary = summary(&found.sources, &binaries);
    if environment.text("KERNELMILL_LOG").is_some_and(|text| text == "summary") {
        for (kernel, road) in &summary.roads {
            environment.cargo.note(&format_args!("kernelmill: {kernel} on the CPU: {road}"));
        }
        for (kernel, target, note) in &summary.notes {
            environment.cargo.note(&format_args!("kernelmill: {kernel} for {target}: {note}"));
        }
        environment.cargo.note(&summary);
    }
    Ok(summary)
}

/// Says which binaries a plugin for all kernels does not see.
fn warn_of_nvcc(environment: &BuildEnvironment, sources: &[Source], units: &[Unit], plugin: &str) {
    let by_nvcc = units.iter().filter(|unit| unit.compiler == UnitCompiler::Nvcc);
    for unit in by_nvcc {
        let (source, target) = (&sources[unit.source].display, &unit.config.target);
        environment.cargo.warn(&format_args!(
            "{source} for {target} is compiled by nvcc, where the plugin `{plugin}` does not see it; \
             install clang, or write `cuda-compiler = \"clang\"`"
        ));
    }
}

/// What plugins say of an artifact's kernels.
fn notes(artifact: &Artifact) -> impl Iterator<Item = (String, String, String)> {
    artifact.kernels.iter().flat_map(|kernel| {
        let of = |note: &String| (kernel.name.clone(), artifact.target.to_string(), note.clone());
        kernel.notes.iter().map(of)
    })
}

fn summary(sources: &[Source], binaries: &[Binary]) -> Summary {
    let cached = binaries.iter().filter(|binary| binary.is_cached).count();
    let kernels = sources.iter().flat_map(Source::kernels);
    let compiled = binaries.iter().flat_map(|binary| &binary.artifact.kernels);
    let roads = compiled
        .filter_map(|kernel| Some((kernel.name.clone(), kernel.strategy.as_ref()?.to_string())));
    Summary {
        notes: binaries.iter().flat_map(|binary| notes(&binary.artifact)).collect(),
        roads: roads.collect(),
        compiled: binaries.len() - cached,
        cached,
        kernels: kernels.map(|kernel| kernel.name.to_string()).collect(),
    }
}

#[cfg(test)]
mod tests;
