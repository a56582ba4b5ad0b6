//! A compiled unit.

use kernelmill_artifact::Fingerprint;
use kernelmill_compiler::Artifact;
use std::path::PathBuf;

/// A unit that has been made.
pub(crate) struct Binary {
    /// The source's place among the sources.
    pub(crate) source: usize,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) artifact: Artifact,
    /// Every file that was read for it alone, absolute.
    pub(crate) inputs: Vec<PathBuf>,
    /// What its compiler printed although it succeeded, a warning a line.
    pub(crate) warnings: String,
    /// Whether it was in the store.
    pub(crate) is_cached: bool,
}
