//! A compiled unit.

use kernelmill_artifact::Fingerprint;
use kernelmill_compiler::{Artifact, KernelCode};
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
    /// The code of its kernels at the stages that are dumped, where kernelmill's compiler made it.
    pub(crate) codes: Vec<KernelCode>,
    /// Whether it was in the store.
    pub(crate) is_cached: bool,
}
