//! Checks of host code before any work starts: its targets, and the compiler that it needs.

use crate::{
    base::{error::Error, report::Report},
    discovery::source::Source,
    settings::resolved::Settings,
    toolchain::{Nvcc, Search, no_nvcc, nvcc_targets},
};
use kernelmill_compiler::diagnostic::Code;

/// Refuses host files before any work where they cannot be compiled.
///
/// # Errors
///
/// [`Error::Sources`] where no target is NVIDIA's, where there is no nvcc, and with the targets
/// that it does not know.
pub(crate) fn check(
    files: &[Source],
    settings: &Settings,
    search: &Search<'_>,
    nvcc: Option<&Nvcc>,
) -> Result<(), Error> {
    let mut report = Report::default();
    if files.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = files.iter().map(|file| format!("`{}`", file.display)).collect();
    let subject = format!("the host code in {}", names.join(", "));
    if !settings.has_nvidia() {
        report.plain(
            Code::HostCode,
            format!("{subject} needs an NVIDIA target for the device code in it"),
            "add one to `targets`, for example `sm_80` or `compute_75`",
        );
    } else if let Some(nvcc) = nvcc {
        nvcc_targets(nvcc, &settings.targets, &mut report);
    } else {
        no_nvcc(search, &subject, &mut report);
    }
    report.into_result(Error::Sources)
}
