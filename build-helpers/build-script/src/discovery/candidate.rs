//! Candidates for sources: paths whose content has not been read yet.

use super::source::SourceKind;
use crate::base::report::Report;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// A path that may be a source.
pub(crate) struct Candidate {
    pub(crate) path: PathBuf,
    pub(crate) display: String,
    pub(crate) kind: SourceKind,
    /// Whether the user named this very file.
    pub(crate) is_named: bool,
}

/// Whether a path is a named pipe, a socket or a device: who reads it may wait for ever.
pub(crate) fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|data| !data.is_file() && !data.is_dir())
}

/// Reports a file that is none.
pub(crate) fn report_special(display: &str, report: &mut Report) {
    report.plain(
        format!("`{display}` is no file that can be read"),
        "replace it by a file, or leave it out with `exclude`",
    );
}

/// The bytes of a file; `None` where the report says why it cannot be read.
pub(crate) fn read_bytes(path: &Path, display: &str, report: &mut Report) -> Option<Vec<u8>> {
    if fs::metadata(path).is_ok_and(|data| !data.is_file()) {
        report_special(display, report);
        return None;
    }
    match fs::read(path) {
        Ok(bytes) => Some(bytes),
        Err(error) => {
            report.plain(format!("cannot read `{display}`: {error}"), "check its name and rights");
            None
        }
    }
}
