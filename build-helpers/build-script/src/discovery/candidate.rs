//! Candidates for sources: paths whose content has not been read yet.

use super::source::SourceKind;
use crate::base::report::Report;
use kernelmill_compiler::diagnostic::Code;
use kernelmill_compiler::limit_behind;
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
        Code::UnreadableFile,
        format!("`{display}` is not a regular file"),
        "replace it by a regular file, or leave it out with `exclude`",
    );
}

/// The bytes of a file; `None` where the report says why it cannot be read.
pub(crate) fn read_bytes(path: &Path, display: &str, report: &mut Report) -> Option<Vec<u8>> {
    if fs::metadata(path).is_ok_and(|data| !data.is_file()) {
        report_special(display, report);
        return None;
    }
    if reports_large(path, display, report) {
        return None;
    }
    match fs::read(path) {
        Ok(bytes) => Some(bytes),
        Err(error) => {
            let limit = limit_behind(&error);
            let message = format!("cannot read `{display}`: {error}{limit}");
            report.plain(
                Code::UnreadableFile,
                message,
                "check its name, and that you have the permission to read it",
            );
            None
        }
    }
}

/// The bytes that a text in Rust may have. Its syntax tree takes a hundred times as many.
pub(super) const MOST_BYTES_OF_RUST: u64 = 16 << 20;
/// The bytes that a source in another language may have.
const MOST_BYTES: u64 = 1 << 30;

/// The bytes of a file that is no larger than a source may be. Who reads it as a source reports all others.
pub(crate) fn read_if_small(path: &Path) -> Option<Vec<u8>> {
    let is_small = fs::metadata(path).is_ok_and(|data| data.len() <= MOST_BYTES);
    is_small.then(|| fs::read(path).ok()).flatten()
}

/// Whether a file is too large to be read as a source, which is reported then.
pub(crate) fn reports_large(path: &Path, display: &str, report: &mut Report) -> bool {
    let is_rust = path.extension().is_some_and(|it| it == "rs");
    let most = if is_rust { MOST_BYTES_OF_RUST } else { MOST_BYTES };
    let bytes = fs::metadata(path).map_or(0, |data| data.len());
    if bytes > most {
        report.plain(
            Code::LargeSource,
            format!("`{display}` has {bytes} bytes, more than the limit of {most} for a source"),
            "split it, pass its data as a buffer, or leave the file out with `exclude`",
        );
    }
    bytes > most
}
