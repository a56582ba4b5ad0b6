//! Device functions that the host can pass to kernels, `#[device_fn]` and `KERNELMILL_DEVICE_FN` in their
//! sources, and the kernels that take them: `DeviceFn<fn(..) -> ..>` in their parameters.

use super::{place::place_at, source::Source};
use crate::base::{naming, report::Report};
use kernelmill_artifact::{DeviceFunction, FunctionType, Signature, target::nearest};
use kernelmill_compiler::diagnostic::Code;
use kernelmill_compiler::{TableFunction, diagnostic::Diagnostic, exported, exported_by};
use std::collections::BTreeMap;

/// Checks the functions of all sources, and that every kernel that takes one can be given one.
pub(crate) fn check(sources: &[Source], package: &str, report: &mut Report) {
    check_names(sources, package, report);
    for source in sources {
        for kernel in source.kernels() {
            for ty in taken(kernel) {
                if all(sources).all(|(_, function)| !ty.takes(&function.ty)) {
                    nothing_to_give(sources, source, kernel, &ty, report);
                }
            }
        }
    }
}

/// The functions that the kernels of a source of a package can be given, in the order of their symbols.
pub(crate) fn table(
    sources: &[Source],
    kernels: &[Signature],
    package: &str,
) -> Vec<TableFunction> {
    let types: Vec<_> = kernels.iter().flat_map(taken).collect();
    let given = all(sources).filter(|(_, function)| types.iter().any(|ty| ty.takes(&function.ty)));
    let mut table: Vec<_> = given
        .map(|(_, function)| TableFunction { id: function.id(), symbol: symbol(function, package) })
        .collect();
    table.sort_by(|one, other| one.symbol.cmp(&other.symbol));
    table
}

/// The sources with functions that the kernels of a source can be given, by their places.
pub(crate) fn givers(sources: &[Source], kernels: &[Signature]) -> Vec<usize> {
    let types: Vec<_> = kernels.iter().flat_map(taken).collect();
    let gives =
        |source: &Source| source.functions.iter().any(|it| types.iter().any(|ty| ty.takes(&it.ty)));
    (0..sources.len()).filter(|index| gives(&sources[*index])).collect()
}

/// What a function is called by in the bitcode that a package works with.
fn symbol(function: &DeviceFunction, package: &str) -> String {
    if function.package == package {
        exported(&function.name)
    } else {
        exported_by(&function.package, &function.name)
    }
}

/// The functions with the names that they have in a package's `Functions`: their own, and for those of
/// other packages whose names others have too, that after their package's.
pub(crate) fn named(sources: &[Source], package: &str) -> Vec<(String, DeviceFunction)> {
    named_in(sources, package).map(|(name, _, function)| (name, function.clone())).collect()
}

fn named_in<'a>(
    sources: &'a [Source],
    package: &'a str,
) -> impl Iterator<Item = (String, &'a Source, &'a DeviceFunction)> {
    let mut uses: BTreeMap<String, u32> = BTreeMap::new();
    for (_, function) in all(sources) {
        *uses.entry(exported(&function.name)).or_default() += 1;
    }
    all(sources).map(move |(source, function)| {
        let is_own = function.package == package;
        let name = match uses.get(&exported(&function.name)) {
            Some(2..) if !is_own => {
                format!("{}_{}", naming::letters(&function.package), function.name)
            }
            _ => function.name.to_string(),
        };
        (name, source, function)
    })
}

/// Every function, with its source.
fn all(sources: &[Source]) -> impl Iterator<Item = (&Source, &DeviceFunction)> {
    sources.iter().flat_map(|source| source.functions.iter().map(move |it| (source, it)))
}

/// The types of the functions that a kernel takes.
fn taken(kernel: &Signature) -> Vec<FunctionType> {
    let mut types = Vec::new();
    for parameter in kernel.parameters() {
        parameter.kind.crossing().functions(&mut |ty| types.push(ty.clone()));
    }
    types
}

/// Reports functions of one name: all become fields of one `Functions`.
fn check_names(sources: &[Source], package: &str, report: &mut Report) {
    let mut first: BTreeMap<String, (&Source, &DeviceFunction)> = BTreeMap::new();
    let mut ids: BTreeMap<u64, &DeviceFunction> = BTreeMap::new();
    for (name, source, function) in named_in(sources, package) {
        if let Some(&(other_source, other)) = first.get(&exported(&name)) {
            for (display, text) in source.texts.iter().chain(&other_source.texts) {
                report.add_text(display, text.clone());
            }
            let message = format!("two device functions are named `{name}`");
            let diagnostic = Diagnostic::error(Code::SameName, place_of(source, function), message);
            report.diagnostic(
                diagnostic
                    .label(place_of(other_source, other), "the first one")
                    .help("rename one of them: `Kernels::functions()` has all under their names"),
            );
        } else if let Some(other) = ids.get(&function.id()) {
            report.plain(
                Code::SameName,
                format!("the device functions `{other}` and `{function}` have the same digest, by which kernels tell functions apart"),
                "rename one of them",
            );
        }
        first.entry(exported(&name)).or_insert((source, function));
        ids.entry(function.id()).or_insert(function);
    }
}

/// Where a function's name stands.
fn place_of(source: &Source, function: &DeviceFunction) -> kernelmill_compiler::diagnostic::Place {
    place_at(source, &function.file, function.line, &function.name)
}

/// Reports a kernel that takes functions of a type that none has.
fn nothing_to_give(
    sources: &[Source],
    source: &Source,
    kernel: &Signature,
    ty: &FunctionType,
    report: &mut Report,
) {
    for (display, text) in &source.texts {
        report.add_text(display, text.clone());
    }
    let place = place_at(source, &kernel.file, kernel.line, &kernel.name);
    let message = format!(
        "kernel `{}` takes a `DeviceFn<{ty}>`, and no device function has that type",
        kernel.name
    );
    let shown = |function: &DeviceFunction| format!("{}: {}", function.name, function.ty);
    let known: Vec<_> = all(sources).map(|(_, function)| function).collect();
    let nearest = nearest(&ty.to_string(), known.iter().map(|it| it.ty.to_string()));
    let nearest = nearest.and_then(|ty| known.iter().find(|it| it.ty.to_string() == ty));
    let help = match nearest {
        Some(function) => {
            format!(
                "write a `#[device_fn]` of that type; the nearest is `{}` of {}",
                shown(function),
                function.file
            )
        }
        None => format!("write `#[device_fn]` above a function of the type `{ty}`"),
    };
    report.diagnostic(
        Diagnostic::error(Code::NoDeviceFunction, place, message).kernel(&*kernel.name).help(help),
    );
}
