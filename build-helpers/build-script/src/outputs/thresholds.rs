//! Exceeded thresholds: kernels that take more of a device than the settings allow, all of them in one error.

use super::{bindings::model::Interface, built};
use crate::{
    base::{error::Error, report::Report},
    compile::binary::Binary,
    discovery::source::Source,
    settings::resolved::Settings,
};
use kernelmill_compiler::diagnostic::Code;

/// Compares what kernels take with the thresholds of each.
///
/// # Errors
///
/// [`Error::Kernels`] with every number that is too large.
pub(crate) fn check(
    sources: &[Source],
    interface: &Interface,
    binaries: &[Binary],
    settings: &Settings,
) -> Result<(), Error> {
    let mut report = Report::default();
    for kernel in built::all(sources, interface, binaries) {
        let thresholds =
            kernel.signature.map_or(settings.thresholds, |it| settings.thresholds_of(it));
        for (key, number, what, most) in thresholds.exceeded(&kernel.resources) {
            let message = format!(
                "{kernel} uses {number} {what}, more than `{key} = {most}` of `thresholds` allows"
            );
            let help = "change the kernel so that it uses less, or raise the limit with `thresholds` in `[kernels.NAME]`";
            report.plain(Code::Threshold, message, help);
        }
    }
    report.into_result(Error::Kernels)
}
