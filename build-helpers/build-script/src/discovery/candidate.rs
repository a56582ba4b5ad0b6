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

/// The bytes of a file; `None` where the report says why it cannot be read.
pub(crate) fn read_bytes(path: &Path, display: &str, report: &mut Report) -> Option<Vec<u8>> {
    if fs::metadata(path).is_ok_and(|data| !data.is_file()) {
        // Reading a named pipe would wait for whoever writes to it.
        report.plain(
            format!("`{display}` is no file that can be read"),
            "replace it by a file, or leave it out with `exclude`",
        );
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
