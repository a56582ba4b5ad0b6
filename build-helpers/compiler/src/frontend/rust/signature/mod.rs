//! Reads the signatures of the kernels in Rust source text, before anything is compiled.
//!
//! The text is parsed, the macros of the crate itself are expanded, the functions marked `#[kernel]` are found, and the type of each of their
//! parameters is followed through the type aliases, imports, constants and structs of the same
//! source to the bytes that cross from host to device. Whatever cannot cross is reported, all of
//! it at once, with what to write instead.

mod alias;
mod attribute;
mod cfg;
mod empty;
mod enumeration;
mod expansion;
mod function;
mod generic;
mod help;
#[cfg(test)]
mod help_tests;
mod instances;
#[cfg(test)]
mod instances_tests;
mod kernel;
mod large;
mod layout;
mod length;
mod marks;
#[cfg(test)]
mod marks_tests;
mod scope;
mod source_text;
mod substitution;
mod syntax;
#[cfg(test)]
mod tests;
mod text;
mod types;
mod unsupported;

pub use cfg::Cfgs;
pub use instances::ListedInstances;
pub use kernel::ListedVariant;
pub use source_text::SourceText;

use crate::{diagnostic::Diagnostic, frontend::generic::GenericKernel};
use kernel::Kernels;
use kernelmill_artifact::{DeviceFunction, Signature};
use scope::Scope;
use text::Text;

/// What was found in source text.
#[derive(Debug)]
pub enum Reading {
    /// The kernels, in source order, the functions that kernels can be given, and the generic kernels of which some
    /// of the kernels are instances, the variants that attributes list, and warnings; none where the text has none.
    Kernels(
        Vec<Signature>,
        Vec<DeviceFunction>,
        Vec<GenericKernel>,
        Vec<ListedVariant>,
        Vec<Diagnostic>,
    ),
    /// Everything that is wrong with them, in source order; never empty.
    Rejected(Vec<Diagnostic>),
    /// The text is not Rust. The compiler says where and why better than this reader could.
    NotRust,
}

/// Reads the kernels of a file that is a crate of its own.
///
/// ```
/// use kernelmill_compiler::frontend::rust::signature::read;
/// let text = "#[kernel] fn fill(value: f32, mut out: DisjointSlice<f32>) {}";
/// let found = read(text, "kernels/fill.rs").unwrap();
/// assert_eq!(found[0].to_string(), "fn fill(value: f32, out: DisjointSlice<f32>)");
///
/// let errors = read("#[kernel] fn fill(out: &mut [f32]) {}", "kernels/fill.rs").unwrap_err();
/// assert_eq!(errors[0].help.as_deref(), Some("write `mut out: DisjointSlice<f32>`"));
/// ```
///
/// # Errors
///
/// Everything that is wrong with the kernels. No diagnostic at all means that the text is not
/// Rust ([`Reading::NotRust`]): then the compiler has the better message.
pub fn read(text: &str, display: &str) -> Result<Vec<Signature>, Vec<Diagnostic>> {
    match read_crate(
        &[SourceText { module: &[], text, display, has_kernels: true }],
        &Cfgs::default(),
    ) {
        Reading::Kernels(kernels, ..) => Ok(kernels),
        Reading::Rejected(diagnostics) => Err(diagnostics),
        Reading::NotRust => Err(Vec::new()),
    }
}

/// Reads the kernels of a crate that may have several files, and its functions marked
/// `#[device_fn]`, whose package is left empty. Types are found across files; kernels and functions
/// come in the order of the files. What `cfgs` leave out is passed over.
#[must_use]
pub fn read_crate(files: &[SourceText<'_>], cfgs: &Cfgs) -> Reading {
    read_crate_with(files, cfgs, &[])
}

/// As [`read_crate`], with instances of generic kernels besides those that attributes list.
#[must_use]
pub fn read_crate_with(
    files: &[SourceText<'_>],
    cfgs: &Cfgs,
    listed: &[ListedInstances],
) -> Reading {
    let parsed: Result<Vec<_>, _> = files.iter().map(|file| syn::parse_file(file.text)).collect();
    let Ok(mut parsed) = parsed else { return Reading::NotRust };
    let mut texts: Vec<_> = files.iter().map(|file| Text::new(file.text, file.display)).collect();
    let writers = expansion::expand(files, &mut parsed, &mut texts, cfgs);
    let has_kernels = files.iter().map(|file| file.has_kernels).collect();
    let mut scope = Scope::new(texts, has_kernels, cfgs, writers);
    for (index, (file, tree)) in files.iter().zip(&parsed).enumerate() {
        scope.add_file(index, file.module, &tree.items);
    }
    let (kernels, mut reports) = kernel::read_all(&scope, listed);
    let (functions, of_functions) = function::read_all(&scope);
    reports.extend(of_functions);
    reports.extend(large::read_all(&scope));
    if reports.is_empty() {
        let Kernels { signatures, generics, variants, warnings } = kernels;
        return Reading::Kernels(signatures, functions, generics, variants, warnings);
    }
    reports.sort_by_key(|(file, report)| (*file, report.place.span.start));
    Reading::Rejected(reports.into_iter().map(|(_, report)| report).collect())
}
