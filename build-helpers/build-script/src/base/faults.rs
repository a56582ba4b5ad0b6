//! What is wrong with a build before anything is compiled, from all stages, so that one build tells all of it.

use super::{error::Error, report::Report};
use kernelmill_compiler::diagnostic::Code;

/// What is found in one source, and has no consequences for others.
const OF_ONE_FILE: [Code; 5] = [
    Code::MissingTool,
    Code::ParameterType,
    Code::KernelSignature,
    Code::Instances,
    Code::KernelAttribute,
];

/// The errors of stages, in their order.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    errors: Vec<Error>,
}

impl Faults {
    /// What a stage gives, or its error kept.
    pub(crate) fn take<T>(&mut self, result: Result<T, Error>) -> Option<T> {
        result.map_err(|error| self.errors.push(error)).ok()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// Whether rustc says of other kernel files what it says without it: all of it is tools that are missing or cannot be used, and
    /// kernels that cannot be read.
    pub(crate) fn leaves_kernel_files(&self) -> bool {
        self.errors.iter().all(|error| match error {
            Error::Tool(_) => true,
            Error::Sources(report) => report.is_of(&OF_ONE_FILE),
            _ => false,
        })
    }

    /// Whether a tool is missing or cannot be used.
    pub(crate) fn has_missing_tool(&self) -> bool {
        self.errors.iter().any(|error| match error {
            Error::Tool(_) => true,
            Error::Sources(report) => report.has(Code::MissingTool),
            _ => false,
        })
    }

    /// The one error, or a report of all. What a later stage finds may come of an earlier one's: of what only settings and
    /// sources without a fault can show, nothing is told then.
    pub(crate) fn into_result(mut self) -> Result<(), Error> {
        if self.errors.len() < 2 {
            return self.errors.pop().map_or(Ok(()), Err);
        }
        let is_of_settings = matches!(self.errors.first(), Some(Error::Settings(_)));
        let mut report = Report::default();
        for error in self.errors {
            match error {
                Error::Settings(found) | Error::Sources(found) | Error::Kernels(found) => {
                    if report.is_empty() {
                        report = found;
                    } else {
                        report.add_certain(found);
                    }
                }
                error => report.verbatim_once(error.rendered()),
            }
        }
        Err(if is_of_settings { Error::Settings(report) } else { Error::Sources(report) })
    }
}
