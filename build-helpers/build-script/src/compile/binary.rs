//! A compiled unit.

use crate::{
    discovery::override_file::KernelOverride, plan::units::Unit,
    settings::variants::VariantParameters,
};
use kernelmill_artifact::{Fingerprint, Signature};
use kernelmill_compiler::{Artifact, KernelCode};
use kernelmill_store::KeyBuilder;
use std::path::PathBuf;

/// A unit that has been made.
pub(crate) struct Binary {
    /// The source's place among the sources.
    pub(crate) source: usize,
    /// Of a variant of kernels, what it says in place of the kernels.
    pub(crate) variant: Option<VariantParameters>,
    /// The name of the kernel that it has alone, where a file stands for that.
    pub(crate) overridden: Option<String>,
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
        Some(self.variant.as_ref()?.label())
    }

    /// Its target, and the variant that it is of, for names of files.
    pub(crate) fn label(&self) -> String {
        let target = &self.artifact.target;
        let part = self.variant_name().or_else(|| self.overridden.clone());
        part.map_or_else(|| target.to_string(), |name| format!("{target}.{name}"))
    }

    /// The module of a file that stands for a kernel, which is the only one in it and may have another name there.
    pub(super) fn of_override(
        unit: &Unit,
        (it, own): (&KernelOverride, &Signature),
        mut artifact: Artifact,
        inputs: Vec<PathBuf>,
    ) -> Self {
        for kernel in &mut artifact.kernels {
            kernel.name = own.symbol.to_string();
        }
        let key = KeyBuilder::new("override").part("file", it.key());
        Self {
            source: unit.source,
            variant: None,
            overridden: Some(it.name.clone()),
            fingerprint: key.part("artifact", artifact.to_bytes()).finish(),
            artifact,
            inputs,
            warnings: String::new(),
            codes: Vec::new(),
            is_cached: false,
        }
    }
}
