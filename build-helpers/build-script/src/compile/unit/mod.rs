//! One unit of the LLVM pipeline: what goes into it, its key, and how it is made or found in the store.

mod overrides;

use super::{
    binary::Binary,
    compilation::Fronts,
    compiler::Failure,
    front_end::{Front, FrontEnd},
};
use crate::{
    base::naming,
    discovery::source::Source,
    plan::{device_libraries::without_libraries, units::Unit},
    settings::resolved::Settings,
};
use kernelmill_artifact::{LaunchLimits, Signature, Target};
use kernelmill_compiler::{
    Artifact, Child, Config, Job, JobSource, Symbols, TableFunction,
    frontend::cuda::{CudaKernel, is_same_symbol},
};
use kernelmill_store::KeyBuilder;
use std::{borrow::Cow, sync::Arc};

/// The sources whose functions one names, directly or through others, or may be given; `own` is what came of that one.
pub(super) fn children<'a>(
    sources: &'a [Source],
    fronts: &'a Fronts,
    (from, own, table): (usize, Option<&Front>, &[TableFunction]),
    target: &Target,
) -> Vec<(&'a Source, &'a Front)> {
    let front = |place: usize| {
        let front = fronts[place].as_ref().and_then(|front| front.as_ref().ok());
        front.map(|front| front.of(target))
    };
    let mut symbols: Vec<_> =
        (0..fronts.len()).map(|place| front(place).map(|front| &front.symbols)).collect();
    let own = own.map(|own| {
        let mut own = own.symbols.clone();
        own.defers.extend(table.iter().map(|function| function.symbol.clone()));
        own
    });
    symbols[from] = own.as_ref();
    let reached = Symbols::reached(&symbols, from).into_iter();
    reached.filter_map(|place| Some((&sources[place], front(place)?))).collect()
}

/// The other sources that one is compiled with, the functions that its kernels can be given, and all
/// that any source has.
pub(super) type Others<'a> =
    (&'a [(&'a Source, &'a Front)], &'a [TableFunction], &'a dyn Fn() -> Vec<(String, String)>);

/// The functions of all sources, each with its source, for messages.
pub(super) fn known(sources: &[Source], fronts: &Fronts, target: &Target) -> Vec<(String, String)> {
    let of_source = |(source, front): (&Source, &Option<Result<Front, Failure>>)| {
        let front = front.as_ref()?.as_ref().ok()?.of(target);
        let of = |name: &String| (name.clone(), source.display.clone());
        Some(front.symbols.defines.iter().map(of).collect::<Vec<_>>())
    };
    sources.iter().zip(fronts).filter_map(of_source).flatten().collect()
}

/// A unit's configuration: without libraries of device code where nothing in its sources calls what
/// they may have, so that it is made in the same way as without them, and not again when they change.
fn config<'u, 'f>(unit: &'u Unit, fronts: impl IntoIterator<Item = &'f Front>) -> Cow<'u, Config> {
    let mut fronts = fronts.into_iter();
    if unit.config.params.device_link.is_none()
        || fronts.any(|front| !front.symbols.externals.is_empty())
    {
        return Cow::Borrowed(&unit.config);
    }
    Cow::Owned(without_libraries(&unit.config))
}

/// Makes one unit, or takes it from the store.
pub(super) fn binary(
    front_end: &FrontEnd<'_>,
    source: &Source,
    (front, (children, table, known)): (&Front, Others<'_>),
    unit: &Unit,
) -> Result<Binary, Failure> {
    let package = front_end.package;
    let mut parts = source.defines.clone();
    if let Some(variant) = unit.variant.as_ref().filter(|it| it.limits.block != [0; 3]) {
        // Its object is linked beside that of the kernel itself.
        parts.insert("block size".to_owned(), format!("{:?}", variant.limits.block));
    }
    let name = naming::unit(&package.name, &package.major, (&source.display, &parts));
    let config = config(unit, std::iter::once(front).chain(children.iter().map(|(_, it)| *it)));
    let mut key = KeyBuilder::new("artifact")
        .part("lowered", front.stored.0)
        .part("config", config.key())
        .part("machine", front_end.compiler.resolved(&config.target)?)
        .part("version", &front_end.version)
        .part("plugins", front_end.compiler.plugins());
    if unit.config.target.is_cpu() {
        // Only objects, which are linked into the program, and the bitcode of such have the unit's name in them.
        key = key.part("unit", &name);
    }
    let signatures = signatures(source, front, front_end.settings, unit);
    let overrides: Vec<_> = overrides::of_target(source, &signatures, &unit.config.target)
        .into_iter()
        .map(|it| overrides::make(front_end, it))
        .collect::<Result<_, _>>()?;
    let passed = |kernel: &Signature| {
        let Signature { name, file, symbol, parameters, .. } = kernel;
        format!("{name:?} {file:?} {symbol} {parameters:?}")
    };
    let fingerprint = key
        .parts("kernel", signatures.iter().map(passed))
        .parts("limits", signatures.iter().map(|it| format!("{:?}", it.limits)))
        .parts("child", children.iter().map(|(_, front)| front.stored.0))
        .parts("override", overrides.iter().map(overrides::key))
        .parts("function", table.iter().map(|it| format!("{} {}", it.id, it.symbol)))
        .finish();
    let made = |artifact: Artifact, codes, is_cached| Binary {
        source: unit.source,
        variant: unit.variant.clone(),
        overridden: None,
        fingerprint,
        warnings: artifact.warnings.iter().map(|line| format!("{line}\n")).collect(),
        artifact,
        inputs: Vec::new(),
        codes,
        is_cached,
    };
    let stored = front_end.store.get("artifact", &fingerprint);
    let stored = stored.and_then(|bytes| Artifact::from_bytes(&bytes));
    let wanted = front_end.settings.dumps.code(&unit.config.target);
    // Dumps are of a compilation, and not in the store.
    if let Some(artifact) = stored.clone().filter(|_| wanted.is_empty()) {
        return Ok(made(artifact, Vec::new(), true));
    }
    let mut lowered = front_end.lowered(source, front)?;
    for (child, front) in children {
        let (display, child) = (child.display.clone(), front_end.lowered(child, front)?);
        let child = Child { display, lowered: (*child).clone() };
        Arc::make_mut(&mut lowered).children.push(child);
    }
    if !overrides.is_empty() {
        Arc::make_mut(&mut lowered).overrides = overrides;
    }
    if !table.is_empty() {
        Arc::make_mut(&mut lowered).functions = table.to_vec();
    }
    if !front.symbols.defers.is_empty() || !children.is_empty() {
        Arc::make_mut(&mut lowered).known = known();
    }
    let display = &*source.display;
    let source = JobSource { lowered: &lowered, signatures: &signatures, unit: &name };
    let target = &config.target;
    let step = front_end.environment.step("compile", display, &[("target", target)]);
    let (artifact, codes) =
        front_end.compiler.compile(&Job { source, config: &config }, &wanted)?;
    drop(step);
    if let Some(stored) = stored {
        return Ok(made(stored, codes, true));
    }
    front_end.store.put("artifact", &fingerprint, &artifact.to_bytes());
    Ok(made(artifact, codes, false))
}

/// The signatures of the kernels that a unit compiles, as the front end's code names them, with the limits of the
/// launches that it is for.
fn signatures(source: &Source, front: &Front, settings: &Settings, unit: &Unit) -> Vec<Signature> {
    let target = &unit.config.target;
    let is_wanted =
        |kernel: &&Signature| settings.wants(kernel, target) && unit.has_variant(kernel, settings);
    let wanted = source.kernels().iter().filter(is_wanted).map(|kernel| {
        let said = unit.variant.as_ref().map_or(LaunchLimits::NONE, |variant| variant.limits);
        let mut limits = said.in_place_of(kernel.limits);
        if let Some(registers) = settings.max_registers.filter(|_| said.max_registers == 0) {
            limits.max_registers = registers;
        }
        Signature { limits, ..kernel.clone() }
    });
    if !source.kind.is_read_by_compiler() {
        return wanted.map(|kernel| source.with_state(&kernel, &kernel.symbol)).collect();
    }
    let of_front = |kernel: Signature| {
        let is_same = |it: &&CudaKernel| is_same_symbol(&kernel.symbol, &it.signature.symbol);
        let found = front.kernels.iter().find(is_same)?;
        let signature = source.with_state(&found.signature, &kernel.symbol);
        Some(Signature { limits: kernel.limits, ..signature })
    };
    wanted.filter_map(of_front).collect()
}

#[cfg(test)]
mod tests;
