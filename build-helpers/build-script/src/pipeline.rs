//! A build from settings to `OUT_DIR`.

mod cpp;
mod faults;
mod unit;

pub(crate) use faults::fault;
pub(crate) use unit::without_libraries;

use self::{
    faults::{Faults, check_front},
    unit::{binary, children, known},
};
use crate::{
    Error, Summary, bindings,
    compile::{Compile, Failure},
    cuda::Cuda,
    dependencies::{self, Dependencies, Exported},
    device_libraries, discover,
    env::World,
    front::{Front, FrontEnd},
    functions, host, jobs, link,
    manifest::Package,
    output,
    plan::{self, Road, Unit},
    record::Inputs,
    report::Report,
    settings::{self, Layer, Settings},
    source::{Source, SourceKind},
    store::Store,
    toolchain::{self, CppTools},
};
use kernelmill_artifact::{Fingerprint, NvidiaArch, Target};
use kernelmill_compiler::{
    Artifact, Compiler,
    plugin::{Plugin, Scope},
};
use std::{
    collections::BTreeSet,
    path::PathBuf,
    sync::{Arc, OnceLock},
};

/// A unit that has been made.
pub(crate) struct Binary {
    /// The source's place among the sources.
    pub(crate) source: usize,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) artifact: Artifact,
    /// Every file that was read for it alone, absolute.
    pub(crate) inputs: Vec<PathBuf>,
    /// What its compiler printed although it succeeded, a warning a line.
    pub(crate) warnings: String,
    /// Whether it was in the store.
    pub(crate) is_cached: bool,
}

/// Builds with the compiler that the toolchain gives.
pub(crate) fn run(
    world: &World,
    mut builder: Layer,
    plugins: &[Arc<dyn Plugin>],
) -> Result<Summary, Error> {
    builder.plugin_on_everything = on_everything(&builder, plugins);
    run_with(world, builder, |package, settings| {
        let search = toolchain::Search::of_build(world, package, settings);
        let toolchain = toolchain::find(&search, package, settings)?;
        let compiler =
            Compiler::new(toolchain).map_err(|error| Error::Toolchain(error.to_string()))?;
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

type Open<'a> = &'a dyn Fn(&Package, &Settings) -> Result<Box<dyn Compile>, Error>;

/// Builds with a compiler that is opened when it is clear that there is something to compile.
pub(crate) fn run_with(
    world: &World,
    builder: Layer,
    open: impl Fn(&Package, &Settings) -> Result<Box<dyn Compile>, Error>,
) -> Result<Summary, Error> {
    let package = Package::read(world)?;
    let mut settings = settings::read(world, &package, builder)?;
    let mut found = discover::sources(&package, &settings)?;
    found.watched.iter().for_each(|path| watch(world, &package, path));
    let is_skipped = world.flag("KERNELMILL_SKIP_BUILD") || world.flag("DOCS_RS");
    let host_files = host::find(world, &package, &settings)?;
    let search = toolchain::Search::of_build(world, &package, &settings);
    let is_cuda = |source: &Source| source.kind == SourceKind::Cuda;
    let has_kernels = found.sources.iter().any(is_cuda);
    let tools =
        match CppTools::find(&search, &package, &settings, has_kernels, !host_files.is_empty()) {
            // A build without binaries does what can be done.
            Err(_) if is_skipped => CppTools::default(),
            tools => tools?,
        };
    let store = Store::of_user(world);
    let inputs = Inputs::new(world, &package, &store);
    if !is_skipped {
        let link = device_libraries::find(world, &package, &settings, &search, &inputs)?;
        settings.params.device_link = link;
    }
    let units = if is_skipped {
        Vec::new()
    } else {
        host::check(&host_files, &settings, &search, tools.nvcc.as_ref())?;
        plan::units(&found.sources, &settings, &search, &tools)?
    };
    if let Some(plugin) = &settings.plugin_on_everything {
        warn_of_nvcc(world, &found.sources, &units, plugin);
    }
    let build = Build {
        world,
        package: &package,
        settings: &settings,
        store: &store,
        inputs: &inputs,
        cuda: tools.nvcc.as_ref().map(|nvcc| Cuda {
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
    let (mut fronts, early) = build.read_cpp(&mut found, &units, &host_files)?;
    dependencies::check_links(world, &package, &found.sources)?;
    let own = found.sources.len();
    let dependencies = Dependencies::read(world)?;
    for (source, front) in dependencies.sources() {
        found.sources.push(source);
        fronts.push(front.map(Ok));
    }
    let mut report = Report::default();
    functions::check(&found.sources, &package.name, &mut report);
    report.into_result(Error::Sources)?;
    let interface = bindings::Interface::of(&found.sources, &settings, &package.name)?;
    let is_needed = |unit: &Unit| found.sources[unit.source].is_for(&unit.config.target, &settings);
    let units = units.into_iter().zip(early.binaries).filter(|(unit, _)| is_needed(unit));
    let (units, early_binaries): (Vec<_>, Vec<_>) = units.unzip();
    let binaries = {
        let fronts = (&mut fronts, &dependencies);
        build.make(&found.sources, &units, early_binaries, fronts)?
    };
    if world.links().is_some() {
        let sources = &found.sources[..own];
        let exported = if is_skipped { None } else { Some(build.exported(sources, &mut fronts)?) };
        dependencies.write(world, &package, sources, exported)?;
    }
    if let Some(cuda) = build.cuda.as_ref().filter(|_| !host_files.is_empty()) {
        host::library(world, cuda, &host_files, early.objects)?;
    }
    inputs.finish();
    if let Some(warning) = store.finish() {
        world.cargo.warn(&warning);
    }
    let files = output::write(&package, &found.sources, &binaries, &interface)?;
    link::objects(world, &package, &files.objects)?;
    let summary = summary(&found.sources, &binaries);
    if world.text("KERNELMILL_LOG").is_some_and(|text| text == "summary") {
        for (kernel, road) in &summary.roads {
            world.cargo.note(&format_args!("kernelmill: {kernel} on the CPU: {road}"));
        }
        for (kernel, target, note) in &summary.notes {
            world.cargo.note(&format_args!("kernelmill: {kernel} for {target}: {note}"));
        }
        world.cargo.note(&summary);
    }
    Ok(summary)
}

/// Says which binaries a plugin for all kernels does not see.
fn warn_of_nvcc(world: &World, sources: &[Source], units: &[Unit], plugin: &str) {
    let by_nvcc = units.iter().filter(|unit| unit.road == Road::Nvcc);
    for unit in by_nvcc {
        let (source, target) = (&sources[unit.source].display, &unit.config.target);
        world.cargo.warn(&format_args!(
            "{source} for {target} is compiled by nvcc, where the plugin `{plugin}` does not see it; \
             install clang, or write `cuda-compiler = \"clang\"`"
        ));
    }
}

/// What every step of a build needs.
struct Build<'a> {
    world: &'a World,
    package: &'a Package,
    settings: &'a Settings,
    store: &'a Store,
    inputs: &'a Inputs<'a>,
    /// nvcc, where it is needed and there.
    cuda: Option<Cuda<'a>>,
    /// clang, where it is needed and there.
    clang: Option<&'a toolchain::Clang>,
    /// The architectures of NVIDIA's that clang compiles CUDA C++ for.
    architectures: Vec<NvidiaArch>,
    open: Open<'a>,
    compiler: OnceLock<Box<dyn Compile>>,
}

/// What nvcc has made while the kernels were read.
struct Early {
    /// Of each unit; `None` where nvcc does not make it.
    binaries: Vec<Option<Result<Binary, Failure>>>,
    /// Of each host file.
    objects: Vec<Result<host::Object, Failure>>,
}

/// What came of each source's front end; `None` where it has not run.
type Fronts = Vec<Option<Result<Front, Failure>>>;

impl Build<'_> {
    /// The front end, whose compiler is opened by the first who needs it.
    fn front_end(&self) -> Result<FrontEnd<'_>, Error> {
        if self.compiler.get().is_none() {
            // Of two that open at once, one is dropped.
            let _ = self.compiler.set((self.open)(self.package, self.settings)?);
        }
        let compiler = self.compiler.get().map(Box::as_ref);
        let compiler = compiler.ok_or_else(|| Error::Internal("no compiler".to_owned()))?;
        Ok(FrontEnd {
            world: self.world,
            package: self.package,
            settings: self.settings,
            compiler,
            store: self.store,
            inputs: self.inputs,
            version: compiler.version(),
            clang: self.clang,
            architectures: &self.architectures,
        })
    }

    /// Makes every unit.
    fn make(
        &self,
        sources: &[Source],
        units: &[Unit],
        early: Vec<Option<Result<Binary, Failure>>>,
        (fronts, dependencies): (&mut Fronts, &Dependencies),
    ) -> Result<Vec<Binary>, Error> {
        let mut report = Report::default();
        let fronts = (fronts, dependencies);
        let compiled = self.compile(sources, units, fronts, &mut report)?;
        let compiled = early.into_iter().zip(compiled).map(|(early, compiled)| early.or(compiled));
        let (mut made, mut faults) = (Vec::new(), Faults::default());
        for (unit, result) in units.iter().zip(compiled) {
            let subject =
                || format!("{}, for {}", sources[unit.source].display, unit.config.target);
            match result {
                None => {}
                Some(Ok(binary)) => {
                    binary.inputs.iter().for_each(|it| watch(self.world, self.package, it));
                    let compiler = if unit.road == Road::Nvcc { "nvcc" } else { "kernelmill" };
                    self.world.cargo.warn_of(compiler, &binary.warnings);
                    made.push(binary);
                }
                Some(Err(error)) => {
                    if let Some(error) = faults.add(unit.source, error) {
                        fault(&error, &subject(), &mut report);
                    }
                }
            }
        }
        faults.report(sources, &mut report);
        report.into_result(Error::Kernels)?;
        Ok(made)
    }

    /// What the sources have for kernels of other packages.
    fn exported(&self, sources: &[Source], fronts: &mut Fronts) -> Result<Exported, Error> {
        let front_end = self.front_end()?;
        let is_missing =
            |index: &usize| fronts[*index].is_none() && sources[*index].has_functions();
        let missing: Vec<_> = (0..sources.len()).filter(is_missing).collect();
        let made = jobs::run(&missing, |index| front_end.run(&sources[*index]));
        let mut report = Report::default();
        for (index, front) in missing.into_iter().zip(made) {
            check_front(self.world, self.package, &sources[index], &front, &mut report);
            fronts[index] = Some(front);
        }
        report.into_result(Error::Kernels)?;
        let fronts = fronts.iter().map(|front| front.as_ref()?.as_ref().ok());
        let own = sources.iter().zip(fronts);
        let own = own.filter_map(|(source, front)| Some((source, front?)));
        Exported::new(&front_end, self.package, own)
    }

    /// Makes every unit of kernelmill's compiler whose front end succeeds; the others' faults are
    /// reported.
    fn compile(
        &self,
        sources: &[Source],
        units: &[Unit],
        (fronts, dependencies): (&mut Fronts, &Dependencies),
        report: &mut Report,
    ) -> Result<Vec<Option<Result<Binary, Failure>>>, Error> {
        if units.iter().all(|unit| unit.road == Road::Nvcc) {
            return Ok(units.iter().map(|_| None).collect());
        }
        let weight = |unit: &Unit| sources[unit.source].weight;
        let front_end = self.front_end()?;
        dependencies.check_version(&front_end.version)?;
        let is_missing = |index: &usize| {
            let is_wanted = has_front(units, *index) || sources[*index].is_for_others();
            fronts[*index].is_none() && is_wanted
        };
        let missing: Vec<_> = (0..sources.len()).filter(is_missing).collect();
        let made = jobs::run(&missing, |index| front_end.run(&sources[*index]));
        for (index, front) in missing.into_iter().zip(made) {
            fronts[index] = Some(front);
        }
        let fronts = &*fronts;
        let made = jobs::run_heaviest_first(units, weight, |unit| match unit.road {
            Road::Nvcc => None,
            Road::Pipeline => {
                let front = fronts[unit.source].as_ref()?.as_ref().ok()?;
                let target = &unit.config.target;
                let source = &sources[unit.source];
                let table = functions::table(sources, source.kernels(), &self.package.name);
                let children = children(sources, fronts, (unit.source, &table), target);
                let known = || known(sources, fronts, target);
                let others = (&*children, &*table, &known as &dyn Fn() -> _);
                Some(binary(&front_end, source, (front.of(target), others), unit))
            }
        });
        for (front, source) in fronts.iter().zip(sources) {
            if let Some(front) = front {
                check_front(self.world, self.package, source, front, report);
            }
        }
        Ok(made)
    }
}

/// The architectures of NVIDIA's that sources in CUDA C++ are compiled for by kernelmill's compiler.
fn architectures(sources: &[Source], units: &[Unit]) -> Vec<NvidiaArch> {
    let by_clang =
        |unit: &&Unit| unit.road == Road::Pipeline && sources[unit.source].kind == SourceKind::Cuda;
    let arch = |unit: &Unit| match unit.config.target {
        Target::Ptx(arch) | Target::Cubin(arch) => Some(arch),
        _ => None,
    };
    let all: BTreeSet<_> = units.iter().filter(by_clang).filter_map(arch).collect();
    all.into_iter().collect()
}

/// Whether a source goes through a front end and kernelmill's compiler.
fn has_front(units: &[Unit], source: usize) -> bool {
    units.iter().any(|unit| unit.source == source && unit.road == Road::Pipeline)
}

/// Watches a file or folder, unless the build itself writes it.
pub(crate) fn watch(world: &World, package: &Package, path: &std::path::Path) {
    if !path.starts_with(&package.out_dir) {
        world.cargo.watch(path.strip_prefix(&package.root).unwrap_or(path));
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
    let roads = compiled.filter_map(|kernel| Some((kernel.name.clone(), kernel.road.clone()?)));
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
