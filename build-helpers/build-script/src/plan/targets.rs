//! Targets of each source: those of the build that its language can be compiled for.

use crate::{
    base::{error::Error, report::Report},
    discovery::source::{Source, SourceKind},
    settings::{kernel::is_about, resolved::Settings},
};
use kernelmill_artifact::Target;

/// Refuses what no rule gives a binary: a source that no target of the build suits, a target that suits no
/// source, and a target that is named for a kernel whose language has not got it.
///
/// # Errors
///
/// [`Error::Sources`] with all of them.
pub(crate) fn check(sources: &[Source], settings: &Settings) -> Result<(), Error> {
    let mut report = Report::default();
    let is_any = |kind: SourceKind| settings.targets.iter().any(|target| kind.suits(target));
    for source in sources.iter().filter(|source| !is_any(source.kind)) {
        let Source { display, kind, .. } = source;
        report.plain(
            format!(
                "`{display}` is {}, which is compiled for {}, and the targets are {}",
                kind.language(),
                kind.targets(),
                list(&settings.targets)
            ),
            "add a target that suits it, or leave the file out with `exclude`",
        );
    }
    for target in &settings.targets {
        if !sources.is_empty() && !sources.iter().any(|source| source.kind.suits(target)) {
            report.plain(no_source(sources, target), language_for(target));
        }
    }
    report.into_result(Error::Sources)
}

/// Reports the targets that the settings name for kernels and that their languages have not got.
pub(crate) fn check_named(sources: &[Source], settings: &Settings) -> Result<(), Error> {
    let mut report = Report::default();
    for source in sources {
        for kernel in source.kernels() {
            let about = settings.kernels.iter().filter(|(key, said)| is_about(key, said, kernel));
            for said in about.map(|(_, said)| said) {
                let named = said.targets.iter().flatten();
                for target in named.filter(|target| !source.kind.suits(target)) {
                    let kind = (source.kind.language(), source.kind.targets());
                    said.target_not_suited(kernel, target, kind, &mut report);
                }
            }
        }
    }
    report.into_result(Error::Sources)
}

/// What is said of a target that suits no source.
fn no_source(sources: &[Source], target: &Target) -> String {
    let of_kind = |kind: SourceKind| {
        let names = sources.iter().filter(|source| source.kind.language() == kind.language());
        let names: Vec<_> = names.map(|source| format!("`{}`", source.display)).collect();
        let is = if names.len() == 1 { "is" } else { "are" };
        (!names.is_empty()).then(|| format!("{} {is} {}", names.join(", "), kind.language()))
    };
    let kinds: Vec<_> = languages().filter_map(of_kind).collect();
    format!("no source can be compiled for the target `{target}`: {}", kinds.join("; "))
}

/// What to do about it.
fn language_for(target: &Target) -> String {
    let kinds = languages().filter(|kind| kind.suits(target));
    let languages: Vec<_> = kinds.map(SourceKind::language).collect();
    match &*languages {
        [] => "leave the target out: no language has it yet".to_owned(),
        languages => {
            format!("leave the target out, or write a kernel in {}", languages.join(" or "))
        }
    }
}

/// A kind for each language: a package of kernels is Rust, as files are.
fn languages() -> impl Iterator<Item = SourceKind> {
    SourceKind::ALL.into_iter().filter(|kind| *kind != SourceKind::Package)
}

fn list(targets: &[Target]) -> String {
    let targets: Vec<_> = targets.iter().map(|target| format!("`{target}`")).collect();
    targets.join(", ")
}
