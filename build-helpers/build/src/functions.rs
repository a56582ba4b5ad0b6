//! The functions that the host can give to kernels, `#[device_fn]` in their sources, and the kernels
//! that take such: `DeviceFn<fn(..) -> ..>` in their parameters.

use crate::{discover::place_at, report::Report, source::Source};
use kernelmill_artifact::{DeviceFunction, FunctionType, Signature, target::nearest};
use kernelmill_compiler::{TableFunction, diagnostic::Diagnostic, exported};
use std::collections::BTreeMap;

/// Checks the functions of all sources, and that every kernel that takes one can be given one.
pub(crate) fn check(sources: &[Source], report: &mut Report) {
    check_names(sources, report);
    for source in sources {
        for kernel in source.kernels() {
            for ty in taken(kernel) {
                if all(sources).all(|(_, function)| function.ty != ty) {
                    nothing_to_give(sources, source, kernel, &ty, report);
                }
            }
        }
    }
}

/// The functions that the kernels of a source can be given, in the order of their symbols.
pub(crate) fn table(sources: &[Source], kernels: &[Signature]) -> Vec<TableFunction> {
    let types: Vec<_> = kernels.iter().flat_map(taken).collect();
    let given = all(sources).filter(|(_, function)| types.contains(&function.ty));
    let mut table: Vec<_> = given
        .map(|(_, function)| TableFunction { id: function.id(), symbol: exported(&function.name) })
        .collect();
    table.sort_by(|one, other| one.symbol.cmp(&other.symbol));
    table
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
fn check_names(sources: &[Source], report: &mut Report) {
    let mut first: BTreeMap<String, (&Source, &DeviceFunction)> = BTreeMap::new();
    let mut ids: BTreeMap<u64, &DeviceFunction> = BTreeMap::new();
    for (source, function) in all(sources) {
        if let Some(&(other_source, other)) = first.get(&exported(&function.name)) {
            for (display, text) in source.texts.iter().chain(&other_source.texts) {
                report.add_text(display, text.clone());
            }
            let message = format!("two device functions are named `{}`", function.name);
            let diagnostic = Diagnostic::error(place_of(source, function), message);
            report.diagnostic(
                diagnostic
                    .label(place_of(other_source, other), "the first one")
                    .help("rename one of them: `Kernels::functions()` has all under their names"),
            );
        } else if let Some(other) = ids.get(&function.id()) {
            report.plain(
                format!("the device functions `{other}` and `{function}` have one digest"),
                "rename one of them",
            );
        }
        first.entry(exported(&function.name)).or_insert((source, function));
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
            format!("give one that type; the nearest is `{}` of {}", shown(function), function.file)
        }
        None => format!("write `#[device_fn]` above a function of the type `{ty}`"),
    };
    report.diagnostic(Diagnostic::error(place, message).kernel(&*kernel.name).help(help));
}
