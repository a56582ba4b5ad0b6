//! The build pipeline, from settings to `OUT_DIR`.

use crate::{
    base::{
        environment::BuildEnvironment, error::Error, faults::Faults, files::remove_leftovers,
        report::Report,
    },
    compile::{
        artifacts::architectures,
        binary::Binary,
        compilation::{Compilation, Fronts, Lacking, Open},
        compiler::Compile,
        dependencies::{self, Dependencies},
        nvcc::NvccCompiler,
    },
    discovery::{
        device_functions, host_files, overrides,
        source::{Source, SourceKind},
        sources::{self, Found},
    },
    outputs::{
        bindings::model::Interface,
        dump, host_library, link,
        manifest::{self, FrontWarning},
        out_dir, spills, thresholds,
    },
    plan::{
        device_libraries, host, host_code, targets,
        units::{self, Unit, UnitCompiler},
        variants,
    },
    settings::{
        choices::ExcessSpills, layer::Layer, package::Package, resolve, resolved::Settings,
        variables,
    },
    store::{
        dependency_record::Inputs,
        location::{self, store_of_user, store_of_user_if_any},
    },
    summary::Summary,
    toolchain::{self, CppTools, Needs},
};
use kernelmill_artifact::Target;
use kernelmill_compiler::{
    Compiler, Error as CompileError,
    plugin::{Plugin, Scope},
};
use kernelmill_store::Store;
use std::sync::{Arc, Mutex, OnceLock};

/// Builds with the compiler that the toolchain gives.
pub(crate) fn run(
    environment: &BuildEnvironment,
    mut builder: Layer,
    plugins: &[Arc<dyn Plugin>],
) -> Result<Summary, Error> {
    builder.plugin_on_everything = on_everything(&builder, plugins);
    builder.plugins_ask_for_state = plugins.iter().any(|plugin| plugin.state().is_some());
    let lacking = Lacking::default();
    let open = |package: &Package, settings: &Settings| {
        open(environment, package, settings, (plugins, &lacking))
    };
    run_with(environment, builder, (&open, &lacking))
}

/// Opens the compiler with the tools that a build's sources and targets need. Front ends do without ptxas: where only that is
/// missing the compiler is opened, and the error kept in `lacking`.
fn open(
    environment: &BuildEnvironment,
    package: &Package,
    settings: &Settings,
    (plugins, lacking): (&[Arc<dyn Plugin>], &Lacking),
) -> Result<Box<dyn Compile>, Error> {
    let toolchain_error = |error: CompileError| Error::Toolchain(error.to_string());
    let search = toolchain::Search::of_build(environment, package, settings);
    let mut faults = Faults::default();
    let toolchain = toolchain::find(&search, package, settings, &mut faults)?;
    if let (false, Err(error)) =
        (is_skipped(environment), toolchain::check_ptxas(&search, settings, &toolchain))
    {
        lacking.set(error);
    }
    let compiler = faults.take(Compiler::new(toolchain).map_err(toolchain_error));
    let opened = compiler.and_then(|compiler| {
        for warning in compiler.warnings() {
            environment.cargo.warn(&warning);
        }
        faults.take(compiler.with_plugins(plugins.to_vec()).map_err(toolchain_error))
    });
    faults.into_result()?;
    let opened = opened.ok_or_else(|| Error::Internal("no compiler".to_owned()))?;
    Ok(Box::new(opened))
}

/// Whether binaries are left out.
fn is_skipped(environment: &BuildEnvironment) -> bool {
    environment.flag("KERNELMILL_SKIP_BUILD") || environment.flag("DOCS_RS")
}

/// The name of a plugin that works on all kernels, by what the build has for it.
fn on_everything(builder: &Layer, plugins: &[Arc<dyn Plugin>]) -> Option<String> {
    let meta = |plugin: &str| builder.plugin_meta.as_ref().and_then(|all| all.get(plugin).cloned());
    let mut found = plugins.iter().map(|plugin| (plugin, meta(plugin.name()).unwrap_or_default()));
    let found = found.find(|(plugin, meta)| plugin.scope(meta) == Scope::Everything);
    found.map(|(plugin, _)| plugin.name().to_owned())
}

/// The stages of a build, in order. The compiler is opened when it is clear that there is something to
/// compile.
pub(crate) fn run_with(
    environment: &BuildEnvironment,
    builder: Layer,
    (open, lacking): (Open<'_>, &Lacking),
) -> Result<Summary, Error> {
    let _whole = environment.step("build", "whole build", &[]);
    let step = environment.step("build", "settings", &[]);
    let package = Package::read(environment)?;
    remove_leftovers(&package.out_dir);
    variables::warn_of_unknown(environment);
    let mut faults = Faults::default();
    let (mut settings, found) = resolve::read_all(environment, &package, builder);
    faults.take(found.into_result(Error::Settings));
    let is_skipped = is_skipped(environment);
    let store = match is_skipped {
        true => Ok(store_of_user_if_any(environment)),
        false => store_of_user(environment),
    };
    drop(step);
    let step = environment.step("build", "discovery", &[]);
    let discovered = discover(environment, &package, &mut settings, &mut faults);
    drop(step);
    let store = faults.take(store).unwrap_or_else(|| Store::new(None, 0));
    let step = environment.step("build", "search for tools and plan", &[]);
    let search = toolchain::Search::of_build(environment, &package, &settings);
    let tools = find_tools(&search, &package, &settings, &discovered, is_skipped);
    let tools = faults.take(tools);
    let inputs = Inputs::new(environment, &package, &store);
    let context =
        Planning { environment, package: &package, search: &search, tools: tools.as_ref() };
    let planned = match is_skipped {
        true => Planned { units: Vec::new(), host_files: Vec::new(), found: discovered.found },
        false => plan(&context, &mut settings, discovered, &inputs, &mut faults),
    };
    let tools = tools.unwrap_or_default();
    drop(step);
    let step = environment.step("build", "compilation", &[]);
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
        architectures: architectures(&planned.found.sources, &planned.units),
        is_skipped,
        open,
        lacking,
        compiler: OnceLock::new(),
        unread: Mutex::default(),
    };
    if !faults.is_empty() {
        if !is_skipped {
            let lacks_compiler = faults.has_missing_tool();
            find_more(&compilation, &planned.found.sources, &mut faults);
            if lacks_compiler {
                faults.take(unread(&planned.found.sources).into_result(Error::Kernels));
            }
        }
        faults.into_result()?;
        return Err(Error::Internal("a build without its faults".to_owned()));
    }
    let compiled = compile(&compilation, planned);
    faults.take(lacking.result());
    let compiled = faults.take(compiled);
    faults.into_result()?;
    let compiled = compiled.ok_or_else(|| Error::Internal("no binaries".to_owned()))?;
    drop(step);
    let step = environment.step("build", "outputs", &[]);
    inputs.finish();
    if let Some(warning) = location::finish(&store) {
        environment.cargo.warn(&warning);
    }
    write_outputs(environment, &package, &settings, &compiled)?;
    drop(step);
    let summary = summary(&compiled);
    if environment.text("KERNELMILL_LOG").is_some_and(|text| text == "summary") {
        log(environment, &compiled, &summary);
    }
    Ok(summary)
}

/// What discovery finds.
struct Discovered {
    found: Found,
    /// Files whose host code the package calls.
    host_files: Vec<Source>,
}

/// Finds the sources, and has Cargo watch where they are looked for.
fn discover(
    environment: &BuildEnvironment,
    package: &Package,
    settings: &mut Settings,
    faults: &mut Faults,
) -> Discovered {
    let (found, report) = sources::find(package, settings);
    faults.take(report.into_result(Error::Sources));
    found.watched.iter().for_each(|path| package.watch(environment, path));
    // The host sees it in modules of kernels, and in kernel files that a module for tests and editors shows to it.
    if found.sources.iter().any(|source| source.kind == SourceKind::File) {
        environment.cargo.know_cfg("kernelmill");
    }
    let host_files = faults.take(host_files::find(environment, package, settings));
    Discovered { found, host_files: host_files.unwrap_or_default() }
}

/// Finds the compilers that the sources in C and C++ need. A build without binaries does what can be done.
fn find_tools(
    search: &toolchain::Search<'_>,
    package: &Package,
    settings: &Settings,
    discovered: &Discovered,
    is_skipped: bool,
) -> Result<CppTools, Error> {
    let has = |kind: SourceKind| discovered.found.sources.iter().any(|it| it.kind == kind);
    let needs = Needs {
        has_kernels: has(SourceKind::Cuda),
        has_host_code: !discovered.host_files.is_empty(),
        is_for_clang: has(SourceKind::OpenCl)
            || settings.targets.contains(&Target::Spirv64)
            || has(SourceKind::Hip)
            || settings
                .overrides
                .values()
                .any(|path| path.extension().is_some_and(|it| it == "cu" || it == "cl")),
        is_optional: is_skipped,
    };
    CppTools::find(search, package, settings, &needs)
}

/// What planning needs.
struct Planning<'a> {
    environment: &'a BuildEnvironment,
    package: &'a Package,
    search: &'a toolchain::Search<'a>,
    /// `None` where they cannot be asked.
    tools: Option<&'a CppTools>,
}

/// A build whose work is known.
struct Planned {
    found: Found,
    /// By source and then by target.
    units: Vec<Unit>,
    /// Host files to compile.
    host_files: Vec<Source>,
}

/// Lists the binaries to make, and refuses those that no compiler can make. Where there is a fault, the list is not complete.
fn plan(
    context: &Planning<'_>,
    settings: &mut Settings,
    discovered: Discovered,
    inputs: &Inputs<'_>,
    faults: &mut Faults,
) -> Planned {
    let Planning { environment, package, search, tools } = *context;
    let Discovered { found, host_files } = discovered;
    faults.take(host::check(&package.target));
    let libraries = device_libraries::find(environment, package, settings, search, inputs);
    settings.params.device_link = faults.take(libraries).flatten();
    // What is not found after another error is no fault of its own.
    if let Some(tools) = tools {
        faults.take(host_code::check(&host_files, settings, search, tools.nvcc.as_ref()));
    }
    settings.has_ptx = found.sources.iter().any(|source| source.kind == SourceKind::Ptx);
    for warning in found.sources.iter().flat_map(|source| &source.warnings) {
        environment.cargo.warn(warning);
    }
    for warning in faults.take(targets::check(&found.sources, settings)).unwrap_or_default() {
        environment.cargo.warn(&warning);
    }
    let units = tools.and_then(|it| faults.take(units::plan(&found.sources, settings, search, it)));
    let units = units.unwrap_or_default();
    if let Some(plugin) = &settings.plugin_on_everything {
        warn_of_nvcc(environment, &found.sources, &units, |_, _| {
            Some(format!("the plugin `{plugin}` does not run"))
        });
    }
    Planned { found, units, host_files }
}

/// What this build would lack next, and, where it lacks nothing but tools, what rustc finds in its kernel files.
fn find_more(compilation: &Compilation<'_>, sources: &[Source], faults: &mut Faults) {
    let is_for_rustc = faults.leaves_kernel_files();
    let front_end = faults.take(compilation.front_end());
    faults.take(compilation.lacking.result());
    if let (true, Some(front_end)) = (is_for_rustc, front_end) {
        let files: Vec<_> = sources.iter().filter(|it| it.kind == SourceKind::File).collect();
        faults.take(compilation.check_files(&front_end, &files));
    }
}

/// Says which sources only a compiler can read, where one is missing: nothing is known of their errors.
fn unread(sources: &[Source]) -> Report {
    let mut report = Report::default();
    let mut names = sources
        .iter()
        .filter(|it| matches!(it.kind, SourceKind::Cuda | SourceKind::Hip | SourceKind::OpenCl))
        .map(|it| &it.display);
    if let Some(first) = names.next() {
        let note = match names.count() {
            0 => format!(
                "`{first}` has not been read: its errors are told when its compiler can be used"
            ),
            more => format!(
                "`{first}` and {more} more have not been read: their errors are told when their compilers can be used"
            ),
        };
        report.verbatim(None, format!("note: {note}"));
    }
    report
}

/// A build whose binaries are made.
struct Compiled {
    /// The package's own, then those of its dependencies.
    sources: Vec<Source>,
    fronts: Fronts,
    interface: Interface,
    binaries: Vec<Binary>,
}

/// Runs the front ends, makes the binaries, and writes what the package has for dependents and the
/// library of its host code.
fn compile(compilation: &Compilation<'_>, planned: Planned) -> Result<Compiled, Error> {
    let Compilation { environment, package, settings, is_skipped, .. } = *compilation;
    let Planned { mut found, units, host_files } = planned;
    let (mut fronts, early) = compilation.read_cpp(&mut found, &units, &host_files)?;
    let mut sources = found.sources;
    dependencies::check_links(environment, package, &sources)?;
    let own = sources.len();
    if !is_skipped {
        targets::check_named(&sources, settings)?;
        overrides::attach(environment, package, settings, &mut sources)?;
        warn_of_nvcc(environment, &sources, &units, |source, compiler| {
            let it = source.overrides.iter().find(|it| !compiler.takes(it.form))?;
            Some(format!("`{}` does not replace a kernel", it.display))
        });
    }
    let dependencies = Dependencies::read(environment)?;
    for (source, front) in dependencies.sources() {
        sources.push(source);
        fronts.push(front.map(Ok));
    }
    let mut report = Report::default();
    for source in sources[..own].iter().filter(|source| !source.kind.is_for_clang()) {
        settings.check_macros(source.kernels().iter(), source.kind.language(), &mut report);
    }
    device_functions::check(&sources, &package.name, &mut report);
    report.into_result(Error::Sources)?;
    compilation.find_states(&mut sources, &units, &mut fronts)?;
    let mut interface = Interface::of(&sources, settings, &package.name)?;
    let folders: Vec<_> = settings.includes.iter().map(|it| package.root.join(it)).collect();
    interface.read_comments(&package.root, &sources, &folders);
    interface.unread = compilation.take_unread();
    interface.lacks_bitcode = is_skipped && has_bitcode(&sources, settings);
    let is_needed = |unit: &Unit| sources[unit.source].is_for(&unit.config.target, settings);
    let units = units.into_iter().zip(early.binaries).filter(|(unit, _)| is_needed(unit));
    let (units, made): (Vec<_>, Vec<_>) = units
        .flat_map(|(unit, made)| {
            let source = &sources[unit.source];
            let variants = variants::of_unit(&unit, source, settings);
            // What nvcc has made before files were read has nothing of them.
            let made = made.filter(|_| unit.overrides(source, settings).next().is_none());
            let units = unit.with_overrides(source, settings).into_iter().chain(variants);
            units.zip(std::iter::once(made).chain(std::iter::repeat_with(|| None)))
        })
        .unzip();
    environment.planned(units.len());
    let binaries = compilation.make(&sources, &units, made, (&mut fronts, &dependencies))?;
    if environment.links().is_some() {
        let exported = match is_skipped {
            true => None,
            false => Some(compilation.exported(&sources[..own], &mut fronts)?),
        };
        dependencies.write(environment, package, &sources[..own], exported)?;
    }
    if let Some(cuda) = compilation.cuda.as_ref().filter(|_| !host_files.is_empty()) {
        host_library::library(environment, cuda, &host_files, early.objects)?;
    }
    Ok(Compiled { sources, fronts, interface, binaries })
}

/// Whether kernels in Rust are built as bitcode too.
fn has_bitcode(sources: &[Source], settings: &Settings) -> bool {
    let is_bitcode = |target: &&Target| matches!(target, Target::Bitcode(_) | Target::CpuBitcode);
    let mut targets = settings.targets.iter().filter(is_bitcode);
    let is_rust = |it: &&Source| matches!(it.kind, SourceKind::File | SourceKind::Package);
    targets.any(|target| sources.iter().filter(is_rust).any(|it| it.is_for(target, settings)))
}

/// Writes the binaries, the bindings and the manifest, and links the native objects.
fn write_outputs(
    environment: &BuildEnvironment,
    package: &Package,
    settings: &Settings,
    compiled: &Compiled,
) -> Result<(), Error> {
    let Compiled { sources, fronts, interface, binaries } = compiled;
    let excess = spills::find(sources, interface, binaries, settings.max_spills);
    match settings.excess_spills {
        ExcessSpills::Error => spills::refuse(&excess)?,
        ExcessSpills::Warn => excess.iter().for_each(|it| environment.cargo.warn(it)),
    }
    thresholds::check(sources, interface, binaries, settings)?;
    dump::write_all(environment, (package, settings), sources, binaries)?;
    let known = (interface, &*settings.tuned);
    let (placed, stale) = out_dir::write((package, settings), sources, binaries, known)?;
    stale.iter().for_each(|it| environment.cargo.warn(it));
    let warnings: Vec<_> = fronts
        .iter()
        .enumerate()
        .filter_map(|(source, front)| Some((source, front.as_ref()?.as_ref().ok()?)))
        .flat_map(|(source, front)| front.all().map(move |front| (source, &*front.warnings)))
        .map(|(source, text)| FrontWarning { source, text })
        .collect();
    manifest::write(package, sources, interface, &placed, (&warnings, &excess))?;
    out_dir::tell(environment, package);
    link::objects(environment, package, &out_dir::objects(package, &placed))
}

/// Prints what became of each kernel, and the summary last.
fn log(environment: &BuildEnvironment, compiled: &Compiled, summary: &Summary) {
    let mut lines = Vec::new();
    let kernels = || {
        let artifacts = compiled.binaries.iter().map(|binary| &binary.artifact);
        artifacts.flat_map(|artifact| artifact.kernels.iter().map(move |it| (artifact, it)))
    };
    for (_, kernel) in kernels() {
        if let Some(strategy) = &kernel.strategy {
            lines.push(format!("kernelmill: {} on the CPU: {strategy}", kernel.name));
        }
    }
    for (artifact, kernel) in kernels() {
        for note in &kernel.notes {
            let target = &artifact.target;
            lines.push(format!("kernelmill: {} for {target}: {note}", kernel.name));
        }
    }
    lines.push(summary.to_string());
    environment.show(&lines);
    for line in &lines {
        environment.cargo.note(line);
    }
}

/// Says what does not hold for binaries because nvcc, ptxas or naga makes them, where it is something for a source.
fn warn_of_nvcc(
    environment: &BuildEnvironment,
    sources: &[Source],
    units: &[Unit],
    what: impl Fn(&Source, UnitCompiler) -> Option<String>,
) {
    for unit in units {
        let (compiler, help) = match unit.compiler {
            UnitCompiler::Nvcc => ("nvcc", "; install clang, or write `cuda-compiler = \"clang\"`"),
            UnitCompiler::Ptxas => ("ptxas", ""),
            UnitCompiler::Naga => ("naga", ""),
            UnitCompiler::LlvmPipeline | UnitCompiler::Clang => continue,
        };
        let Some(what) = what(&sources[unit.source], unit.compiler) else { continue };
        let (source, target) = (&sources[unit.source].display, &unit.config.target);
        environment.cargo.warn(&format_args!(
            "{source} for {target} is compiled by {compiler}, where {what}{help}"
        ));
    }
}

fn summary(compiled: &Compiled) -> Summary {
    let cached = compiled.binaries.iter().filter(|binary| binary.is_cached).count();
    let kernels = compiled.sources.iter().flat_map(Source::kernels);
    Summary {
        compiled: compiled.binaries.len() - cached,
        cached,
        kernels: kernels.map(|kernel| kernel.name.to_string()).collect(),
    }
}

#[cfg(test)]
mod code_tests;
#[cfg(test)]
mod dump_tests;
#[cfg(test)]
mod override_tests;
#[cfg(test)]
mod report_tests;
#[cfg(test)]
mod store_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod threshold_tests;
#[cfg(test)]
mod tuning_tests;
