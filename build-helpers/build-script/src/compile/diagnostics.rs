//! Diagnostics of compilers, in their own words.

use super::{compiler::Failure, front_end::Front};
use crate::{
    base::{environment::BuildEnvironment, report::Report},
    discovery::source::Source,
    settings::package::Package,
};
use kernelmill_compiler::{Error as CompileError, diagnostic::Code};

/// Kernels that are invalid for their targets. What several targets say alike is reported once.
#[derive(Default)]
pub(super) struct InvalidKernels(Vec<(usize, CompileError)>);

impl InvalidKernels {
    /// Keeps an error that is one of these, and gives back others.
    pub(super) fn add(&mut self, source: usize, error: Failure) -> Option<Failure> {
        let CompileError::Invalid { targets, faults } = &*error else { return Some(error) };
        for (other, known) in &mut self.0 {
            if let CompileError::Invalid { targets: all, faults: known } = known
                && (*other, &*known) == (source, faults)
            {
                all.extend(targets.iter().cloned());
                return None;
            }
        }
        let (targets, faults) = (targets.clone(), faults.clone());
        self.0.push((source, CompileError::Invalid { targets, faults }));
        None
    }

    pub(super) fn report(&self, sources: &[Source], report: &mut Report) {
        for (source, error) in &self.0 {
            report_error(error, &sources[*source].display, report);
        }
    }
}

/// Passes on what the front end found, and what Cargo must watch.
pub(super) fn check_front(
    environment: &BuildEnvironment,
    package: &Package,
    source: &Source,
    front: &Result<Front, Failure>,
    report: &mut Report,
) {
    match front {
        Ok(front) => {
            for front in front.all() {
                front.inputs.iter().for_each(|input| package.watch(environment, input));
                if source.kind.is_read_by_compiler() {
                    environment.cargo.warn_of(source.kind.compiler_name(), &front.warnings);
                } else {
                    environment.cargo.warn(&front.warnings);
                }
            }
            if source.signatures.is_none() {
                report.plain(
                    Code::OtherTypes,
                    format!("the kernels in `{}` cannot be read", source.display),
                    "it has syntax that this version of kernelmill does not know",
                );
            }
        }
        Err(error) => report_error(error, &source.display, report),
    }
}

/// What the compiler found, as it says it where it names its subject itself.
pub(crate) fn report_error(error: &CompileError, subject: &str, report: &mut Report) {
    let Some(code) = error.code() else { return report.verbatim(None, error.to_string()) };
    match error {
        CompileError::Ir { .. }
        | CompileError::Ptx { .. }
        | CompileError::Wgsl { .. }
        | CompileError::Limits { .. }
        | CompileError::Clang { .. }
        | CompileError::Hip { .. }
        | CompileError::OpenCl { .. } => report.verbatim(Some(code), error.to_string()),
        CompileError::Cpp { messages, .. } => {
            // ptxas knows nothing of the source.
            let is_lost = messages.iter().any(|message| message.place.is_none());
            let heading = if is_lost { format!("{subject}:\n") } else { String::new() };
            report.verbatim(Some(code), format!("{heading}{error}"));
        }
        CompileError::NoWgsl { .. }
        | CompileError::NoPtxas { .. }
        | CompileError::NoLinker { .. }
        | CompileError::Unsupported { .. }
        | CompileError::Layout { .. }
        | CompileError::Types(_)
        | CompileError::ParameterSpace { .. }
        | CompileError::Plugins(_)
        | CompileError::Deferred(_)
        | CompileError::Llvm(_)
        | CompileError::Ended { .. }
        | CompileError::Start { .. } => report.message(code, error.to_string()),
        _ => report.message(code, format!("{subject}: {error}")),
    }
}
