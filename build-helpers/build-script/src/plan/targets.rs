//! Targets of each source: those of the build that its language can be compiled for.

use crate::{
    base::{error::Error, report::Report},
    discovery::source::{Source, SourceKind},
    settings::resolved::Settings,
};
use kernelmill_artifact::Target;
use kernelmill_compiler::diagnostic::Code;
use kernelmill_compiler::{Error as CompileError, frontend::ptx::Header};

/// The targets that a source is compiled for, in the order of the settings. PTX is embedded once, whatever targets of
/// that kind there are, for the devices that its `.target` says.
///
/// # Errors
///
/// [`Error::Internal`] where a file in PTX does not say that, which [`check`] reports.
pub(crate) fn of_source(source: &Source, settings: &Settings) -> Result<Vec<Target>, Error> {
    let mut found = Vec::new();
    for target in settings.targets.iter().filter(|target| suits(source, target)) {
        let own = match (target, head(source)) {
            (_, Err(error)) => return Err(Error::Internal(error.to_string())),
            (Target::Ptx(_), Ok(Some(head))) => Target::Ptx(head.target),
            _ => target.clone(),
        };
        if !found.contains(&own) {
            found.push(own);
        }
    }
    Ok(found)
}

/// Whether a source can be compiled for a target: PTX only for cubins of devices that it is for, which is another
/// error where it does not say that.
fn suits(source: &Source, target: &Target) -> bool {
    let can_be = |arch| head(source).ok().flatten().is_none_or(|head| head.can_be(arch));
    match target {
        Target::Cubin(arch) => source.kind.suits(target) && can_be(*arch),
        _ => source.kind.suits(target),
    }
}

/// The head of a source in PTX.
fn head(source: &Source) -> Result<Option<Header>, CompileError> {
    let is_ptx = source.kind == SourceKind::Ptx;
    is_ptx.then(|| Header::read(source.text(), &source.display)).transpose()
}

/// Refuses what no rule gives a binary: a source that no target of the build suits, and a target that suits no source.
/// Targets from the environment are for one build, perhaps of other sources: there such a source is a warning.
///
/// # Errors
///
/// [`Error::Sources`] with all of them.
pub(crate) fn check(sources: &[Source], settings: &Settings) -> Result<Vec<String>, Error> {
    let (mut report, mut warnings) = (Report::default(), Vec::new());
    for source in sources {
        let Source { display, kind, .. } = source;
        let own = match head(source) {
            Ok(head) => head.map_or_else(String::new, |head| format!(" for `sm_{}`", head.target)),
            Err(error) => {
                report.verbatim(error.code(), error.to_string());
                continue;
            }
        };
        if settings.targets.iter().any(|target| suits(source, target)) {
            continue;
        }
        let message = format!(
            "`{display}` is {}{own}, which is compiled for {}, and the targets are {}",
            kind.language(),
            kind.targets(),
            list(&settings.targets)
        );
        if settings.has_targets_of_environment {
            warnings.push(format!("{message}: its kernels have no binary in this build"));
        } else {
            let help = "add a target that suits it, or leave the file out with `exclude`";
            report.plain(Code::UnsuitedTarget, message, help);
        }
    }
    for target in &settings.targets {
        if !sources.is_empty() && !sources.iter().any(|source| suits(source, target)) {
            report.plain(Code::UnsuitedTarget, no_source(sources, target), language_for(target));
        }
    }
    report.into_result(Error::Sources)?;
    Ok(warnings)
}

/// Reports the targets that the settings name for kernels and that their languages have not got.
pub(crate) fn check_named(sources: &[Source], settings: &Settings) -> Result<(), Error> {
    let mut report = Report::default();
    for source in sources {
        for kernel in source.kernels() {
            let about =
                settings.kernels.iter().filter(|(key, said)| settings.is_about(key, said, kernel));
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
    match &*SourceKind::languages_for(target) {
        [] => "remove the target: kernelmill compiles no language for it yet".to_owned(),
        languages => {
            format!("remove the target, or write a kernel in {}", languages.join(", "))
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
