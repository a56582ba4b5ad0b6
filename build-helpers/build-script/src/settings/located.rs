//! Reports of what is wrong in settings, at their places.

use super::contract::Origin;
use crate::base::report::Report;
use kernelmill_compiler::diagnostic::{Code, Diagnostic, Place};

/// A Rust type of the user's own that stands for a struct of signatures.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MappedType {
    /// Its path from the package's root.
    pub(crate) path: String,
    /// Where it is given; `None` in a build script.
    pub(crate) origin: Option<Origin>,
}

impl MappedType {
    /// Reports what is wrong with it.
    pub(crate) fn report(&self, code: Code, message: String, help: &str, report: &mut Report) {
        report_at(code, self.origin.as_ref(), message, help, report);
    }
}

/// Reports something at its place, where it has one.
pub(super) fn report_at(
    code: Code,
    origin: Option<&Origin>,
    message: String,
    help: &str,
    report: &mut Report,
) {
    match origin {
        None => report.plain(code, message, help),
        Some(Origin { place, file }) => {
            let place: Place = place.clone();
            report.add_text(&place.file, file.clone());
            report.diagnostic(Diagnostic::error(code, place, message).help(help.to_owned()));
        }
    }
}
