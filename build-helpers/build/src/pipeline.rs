//! A build from settings to `OUT_DIR`.

use crate::{
    Error, Summary, bindings,
    compile::{Compile, Failure},
    cuda::Cuda,
    discover::{self, Found},
    env::World,
    front::{Front, FrontEnd},
    host, jobs,
    key::KeyBuilder,
    link,
    manifest::Package,
    naming, output, paths,
    plan::{self, Road, Unit},
    record::Inputs,
    report::Report,
    settings::{self, Layer, Settings},
    source::{Source, SourceKind},
    store::Store,
    toolchain,
};
use kernelmill_artifact::{Fingerprint, Target};
use kernelmill_compiler::{
    Artifact, Compiler, Error as CompileError, Job,
    frontend::cuda::{CudaKernel, signature::resolve_names},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
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
pub(crate) fn run(world: &World, builder: Layer) -> Result<Summary, Error> {
    run_with(world, builder, |package, settings| {
        let search = toolchain::Search::of_build(world, package, settings);
        let toolchain = toolchain::find(&search, package, settings)?;
        let compiler =
            Compiler::new(toolchain).map_err(|error| Error::Toolchain(error.to_string()))?;
        Ok(Box::new(compiler))
    })
}

type Open<'a> = &'a dyn Fn(&Package, &Settings) -> Result<Box<dyn Compile>, Error>;

/// Builds with a compiler that is opened when it is clear that there is something to compile.
pub(crate) fn run_with(
    world: &World,
    builder: Layer,
    open: impl Fn(&Package, &Settings) -> Result<Box<dyn Compile>, Error>,
) -> Result<Summary, Error> {
    let package = Package::read(world)?;
    let settings = settings::read(world, &package, builder)?;
    let mut found = discover::sources(&package, &settings)?;
    found.watched.iter().for_each(|path| watch(world, &package, path));
    let is_skipped = world.flag("KERNELMILL_SKIP_BUILD") || world.flag("DOCS_RS");
    let host_files = host::find(world, &package, &settings)?;
    let is_cuda = |source: &Source| source.kind == SourceKind::Cuda;
    let has_cuda = !host_files.is_empty() || found.sources.iter().any(is_cuda);
    let search = toolchain::Search::of_build(world, &package, &settings);
    let nvcc = match has_cuda && settings.has_nvidia() {
        // A build without binaries does what can be done.
        true if is_skipped => toolchain::find_nvcc(&search).unwrap_or_default(),
        true => toolchain::find_nvcc(&search)?,
        false => None,
    };
    let units = if is_skipped {
        Vec::new()
    } else {
        host::check(&host_files, &settings, &search, nvcc.as_ref())?;
        plan::units(&found.sources, &settings, &search, nvcc.as_ref())?
    };
    let store = Store::of_user(world);
    let inputs = Inputs::new(world, &package);
    let build = Build {
        world,
        package: &package,
        settings: &settings,
        store: &store,
        inputs: &inputs,
        cuda: nvcc.as_ref().map(|nvcc| Cuda {
            package: &package,
            settings: &settings,
            store: &store,
            inputs: &inputs,
            nvcc,
        }),
    };
    build.read_cuda(&mut found)?;
    let interface = bindings::Interface::of(&found.sources, &settings)?;
    let units: Vec<_> = units.into_iter().filter(|it| found.sources[it.source].is_any()).collect();
    let binaries =
        if units.is_empty() { Vec::new() } else { build.make(&found.sources, &units, &open)? };
    if let Some(cuda) = build.cuda.as_ref().filter(|_| !is_skipped && !host_files.is_empty()) {
        host::library(world, cuda, &host_files)?;
    }
    if let Some(warning) = store.finish() {
        world.cargo.warn(&warning);
    }
    let files = output::write(&package, &found.sources, &binaries, &interface)?;
    link::objects(world, &package, &files.objects)?;
    let summary = summary(&found.sources, &binaries);
    if world.text("KERNELMILL_LOG").is_some_and(|text| text == "summary") {
        world.cargo.note(&summary);
    }
    Ok(summary)
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
}

impl Build<'_> {
    /// Reads the kernels of the sources in CUDA C++.
    fn read_cuda(&self, found: &mut Found) -> Result<(), Error> {
        let is_cuda = |source: &&mut Source| source.kind == SourceKind::Cuda;
        let mut sources: Vec<_> = found.sources.iter_mut().filter(is_cuda).collect();
        if sources.is_empty() {
            return Ok(());
        }
        let Some(cuda) = &self.cuda else {
            self.world.cargo.warn(
                &"kernels in CUDA C++ have no wrappers in this build: there is no nvcc to read \
                  their signatures with",
            );
            return Ok(());
        };
        let read = jobs::run(&sources, |source| cuda.read(source));
        let (mut report, mut warnings) = (Report::default(), BTreeSet::new());
        let mut kernels: Vec<Vec<CudaKernel>> = sources.iter().map(|_| Vec::new()).collect();
        for ((source, kernels), result) in sources.iter_mut().zip(&mut kernels).zip(read) {
            match result {
                Ok(read) => {
                    read.inputs.iter().for_each(|it| watch(self.world, self.package, it));
                    warnings.extend(read.warnings.lines().map(str::to_owned));
                    source.weight = read.weight;
                    *kernels = read.kernels;
                    kernels.retain(|it| self.is_of_the_user(&it.signature.file));
                    warnings.extend(kernels.iter().flat_map(|it| it.obstacles.clone()));
                    kernels.retain(|it| it.obstacles.is_empty());
                }
                Err(error) => fault(&error, &source.display, &mut report),
            }
        }
        warnings.iter().for_each(|line| self.world.cargo.warn(line));
        report.into_result(Error::Kernels)?;
        self.name(&mut kernels)?;
        for (source, kernels) in sources.iter_mut().zip(kernels) {
            source.signatures = Some(kernels.into_iter().map(|it| it.signature).collect());
        }
        discover::check_kernels(&found.sources, self.settings)
    }

    /// Gives every kernel in C++ a name of its own.
    fn name(&self, kernels: &mut [Vec<CudaKernel>]) -> Result<(), Error> {
        let mut all: Vec<_> = kernels.iter_mut().flatten().collect();
        let mut report = Report::default();
        for clash in resolve_names(&mut all, &BTreeMap::new()) {
            report.message(clash.to_string());
        }
        report.into_result(Error::Sources)
    }

    /// Whether a kernel in this file is the package's own, and no instantiation of a template in
    /// the headers of a toolkit.
    fn is_of_the_user(&self, file: &str) -> bool {
        let root = &self.package.root;
        let path = paths::normal(&root.join(file));
        let nvcc = self.cuda.as_ref().map(|cuda| &cuda.nvcc.root);
        let mut includes = self.settings.includes.iter().map(|it| paths::normal(&root.join(it)));
        !nvcc.is_some_and(|toolkit| path.starts_with(toolkit))
            && (path.starts_with(root) || includes.any(|folder| path.starts_with(folder)))
    }

    /// Makes every unit.
    fn make(
        &self,
        sources: &[Source],
        units: &[Unit],
        open: Open<'_>,
    ) -> Result<Vec<Binary>, Error> {
        let mut report = Report::default();
        let compiled = self.compile(sources, units, open, &mut report)?;
        let mut warnings = BTreeSet::new();
        let mut made = Vec::new();
        for (unit, result) in units.iter().zip(compiled) {
            let subject =
                || format!("{}, for {}", sources[unit.source].display, unit.config.target);
            match result {
                None => {}
                Some(Ok(binary)) => {
                    binary.inputs.iter().for_each(|it| watch(self.world, self.package, it));
                    warnings.extend(binary.warnings.lines().map(str::to_owned));
                    made.push(binary);
                }
                Some(Err(error)) => fault(&error, &subject(), &mut report),
            }
        }
        warnings.iter().for_each(|line| self.world.cargo.warn(line));
        report.into_result(Error::Kernels)?;
        Ok(made)
    }

    /// Makes every unit whose front end succeeds; the others' faults are reported.
    fn compile(
        &self,
        sources: &[Source],
        units: &[Unit],
        open: Open<'_>,
        report: &mut Report,
    ) -> Result<Vec<Option<Result<Binary, Failure>>>, Error> {
        let weight = |unit: &Unit| sources[unit.source].weight;
        let Self { world, package, settings, store, inputs, cuda } = self;
        let by_nvcc = |unit: &Unit| {
            let cuda = cuda.as_ref()?;
            Some(cuda.binary(&sources[unit.source], unit))
        };
        if units.iter().all(|unit| unit.road == Road::Nvcc) {
            return Ok(jobs::run_heaviest_first(units, weight, by_nvcc));
        }
        let compiler = open(package, settings)?;
        let version = compiler.version();
        let front_end =
            FrontEnd { world, package, settings, compiler: &*compiler, store, inputs, version };
        let has_front = |index: usize| {
            units.iter().any(|unit| unit.source == index && unit.road == Road::Pipeline)
        };
        let indices: Vec<_> = (0..sources.len()).collect();
        let fronts =
            jobs::run(&indices, |index| has_front(*index).then(|| front_end.run(&sources[*index])));
        let made = jobs::run_heaviest_first(units, weight, |unit| match unit.road {
            Road::Nvcc => by_nvcc(unit),
            Road::Pipeline => {
                let front = fronts[unit.source].as_ref()?.as_ref().ok()?;
                Some(binary(&front_end, &sources[unit.source], front, unit))
            }
        });
        for (front, source) in fronts.iter().zip(sources) {
            if let Some(front) = front {
                check_front(world, package, source, front, report);
            }
        }
        Ok(made)
    }
}

/// Makes one unit, or takes it from the store.
fn binary(
    front_end: &FrontEnd<'_>,
    source: &Source,
    front: &Front,
    unit: &Unit,
) -> Result<Binary, Failure> {
    let package = front_end.package;
    let name = naming::unit(&package.name, &package.major, &source.display);
    let mut key = KeyBuilder::new("artifact")
        .part("front", front.fingerprint.0)
        .part("config", unit.config.key())
        .part("version", &front_end.version);
    if unit.config.target == Target::Cpu {
        // Only objects, which are linked into the program, have the unit's name in them.
        key = key.part("unit", &name);
    }
    let fingerprint = key.finish();
    let made = |artifact, is_cached| Binary {
        source: unit.source,
        fingerprint,
        artifact,
        inputs: Vec::new(),
        warnings: String::new(),
        is_cached,
    };
    let stored = front_end.store.get("artifact", &fingerprint);
    if let Some(artifact) = stored.and_then(|bytes| Artifact::from_bytes(&bytes)) {
        return Ok(made(artifact, true));
    }
    let lowered = front_end.lowered(source, front)?;
    let artifact = front_end.compiler.compile(&Job {
        lowered: &lowered,
        signatures: source.kernels(),
        unit: &name,
        config: &unit.config,
    })?;
    front_end.store.put("artifact", &fingerprint, &artifact.to_bytes());
    Ok(made(artifact, false))
}

/// Passes on what the front end found, and what Cargo must watch.
fn check_front(
    world: &World,
    package: &Package,
    source: &Source,
    front: &Result<Front, Failure>,
    report: &mut Report,
) {
    match front {
        Ok(front) => {
            front.inputs.iter().for_each(|input| watch(world, package, input));
            world.cargo.warn(&front.warnings);
            if source.signatures.is_none() {
                report.plain(
                    format!("the kernels in `{}` cannot be read", source.display),
                    "it has syntax that this version of kernelmill does not know",
                );
            }
        }
        Err(error) => fault(error, &source.display, report),
    }
}

/// What the compiler found, as it says it where it names its subject itself.
pub(crate) fn fault(error: &CompileError, subject: &str, report: &mut Report) {
    match error {
        CompileError::Rustc { stderr } => report.verbatim(stderr.as_str()),
        CompileError::Cpp { messages, .. } => {
            // ptxas knows nothing of the source.
            let is_lost = messages.iter().any(|message| message.place.is_none());
            let heading = if is_lost { format!("{subject}:\n") } else { String::new() };
            report.verbatim(format!("{heading}{error}"));
        }
        CompileError::NoPtxas { .. }
        | CompileError::NoLinker { .. }
        | CompileError::Unsupported { .. }
        | CompileError::Layout { .. }
        | CompileError::Llvm(_)
        | CompileError::Start { .. } => report.message(error.to_string()),
        _ => report.message(format!("{subject}: {error}")),
    }
}

/// Watches a file or folder, unless the build itself writes it.
pub(crate) fn watch(world: &World, package: &Package, path: &std::path::Path) {
    if !path.starts_with(&package.out_dir) {
        world.cargo.watch(path.strip_prefix(&package.root).unwrap_or(path));
    }
}

fn summary(sources: &[Source], binaries: &[Binary]) -> Summary {
    let cached = binaries.iter().filter(|binary| binary.is_cached).count();
    let kernels = sources.iter().flat_map(Source::kernels);
    Summary {
        compiled: binaries.len() - cached,
        cached,
        kernels: kernels.map(|kernel| kernel.name.to_string()).collect(),
    }
}

#[cfg(test)]
mod tests;
