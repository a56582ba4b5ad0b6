//! A compiled unit.

use kernelmill_artifact::{Fingerprint, KernelVariant, LaunchLimits};
use kernelmill_compiler::{Artifact, KernelCode};
use std::path::PathBuf;

/// A unit that has been made.
pub(crate) struct Binary {
    /// The source's place among the sources.
    pub(crate) source: usize,
    /// Of a variant of kernels, what is said of its launches in place of what is said of the kernels'.
    pub(crate) variant: Option<LaunchLimits>,
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

impl Binary {
    /// The name of the variant that it is of.
    pub(crate) fn variant_name(&self) -> Option<String> {
        let said = self.variant?;
        Some(KernelVariant::new(said, LaunchLimits::NONE).name.into_owned())
    }

    /// Its target, and the variant that it is of, for names of files.
    pub(crate) fn label(&self) -> String {
        let target = &self.artifact.target;
        self.variant_name().map_or_else(|| target.to_string(), |name| format!("{target}.{name}"))
    }
}
