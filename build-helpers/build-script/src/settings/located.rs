//! Reports of what is wrong in settings, at their places.

use super::contract::Origin;
use crate::base::report::Report;
use kernelmill_compiler::diagnostic::{Code, Diagnostic, Place};

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
