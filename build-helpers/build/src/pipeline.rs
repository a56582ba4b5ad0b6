//! A build from settings to `OUT_DIR`.

use crate::{
    Error, Summary, bindings,
    compile::{Compile, Failure},
    discover::{self, Found},
    env::World,
    front::{Front, FrontEnd},
    jobs,
    key::KeyBuilder,
    link,
    manifest::Package,
    naming, output,
    plan::{self, Unit},
    report::Report,
    settings::{self, Layer, Settings},
    source::Source,
    store::Store,
    toolchain,
};
use kernelmill_artifact::{Fingerprint, Target};
use kernelmill_compiler::{Artifact, Compiler, Error as CompileError, Job};

/// A unit that has been made.
pub(crate) struct Binary {
    /// The source's place among the sources.
    pub(crate) source: usize,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) artifact: Artifact,
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
    let found = discover::sources(&package, &settings)?;
    found.watched.iter().for_each(|path| watch(world, &package, path));
    let interface = bindings::Interface::of(&found.sources, &settings)?;
    let units = plan::units(&found.sources, &settings)?;
    let is_skipped = world.flag("KERNELMILL_SKIP_BUILD") || world.flag("DOCS_RS");
    let binaries = if is_skipped {
        Vec::new()
    } else {
        build(world, &package, &settings, &found, &units, &open)?
    };
    let files = output::write(&package, &found.sources, &binaries, &interface)?;
    link::objects(world, &package, &files.objects)?;
    let summary = summary(&found.sources, &binaries);
    if world.text("KERNELMILL_LOG").is_some_and(|text| text == "summary") {
        world.cargo.note(&summary);
    }
    Ok(summary)
}

/// Makes every unit.
fn build(
    world: &World,
    package: &Package,
    settings: &Settings,
    found: &Found,
    units: &[Unit],
    open: Open<'_>,
) -> Result<Vec<Binary>, Error> {
    let compiler = open(package, settings)?;
    let store = Store::of_user(world);
    let version = compiler.version();
    let front_end =
        FrontEnd { world, package, settings, compiler: &*compiler, store: &store, version };
    let fronts = jobs::run(&found.sources, |source| front_end.run(source));
    let binaries = jobs::run(units, |unit| {
        let front = fronts[unit.source].as_ref().ok()?;
        Some(binary(&front_end, &found.sources[unit.source], front, unit))
    });
    if let Some(warning) = store.finish() {
        world.cargo.warn(&warning);
    }
    let mut report = Report::default();
    for (front, source) in fronts.iter().zip(&found.sources) {
        check_front(world, package, source, front, &mut report);
    }
    let mut made = Vec::new();
    for (unit, result) in units.iter().zip(binaries) {
        let subject =
            || format!("{}, for {}", found.sources[unit.source].display, unit.config.target);
        match result {
            None => {}
            Some(Ok(binary)) => made.push(binary),
            Some(Err(error)) => fault(&error, &subject(), &mut report),
        }
    }
    report.into_result(Error::Kernels)?;
    Ok(made)
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
    let made =
        |artifact, is_cached| Binary { source: unit.source, fingerprint, artifact, is_cached };
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
fn fault(error: &CompileError, subject: &str, report: &mut Report) {
    match error {
        CompileError::Rustc { stderr } => report.verbatim(stderr.as_str()),
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
fn watch(world: &World, package: &Package, path: &std::path::Path) {
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
