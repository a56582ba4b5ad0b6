//! An embedded binary, as the bindings name it.

use crate::compile::binary::Binary;
use kernelmill_artifact::{KernelVariant, Resources};
use kernelmill_compiler::CompiledKernel;

/// A kernel in a binary.
pub(crate) struct Build<'a> {
    pub(crate) kernel: &'a CompiledKernel,
    /// The variant that it is; `None` for the kernel as its source and the settings have it.
    pub(crate) variant: Option<KernelVariant>,
}

impl Build<'_> {
    /// What it takes. A variant that shares its code has the limit of its own launches.
    pub(crate) fn resources(&self) -> Resources {
        let own = self.variant.as_ref().and_then(|variant| variant.limits.most_threads());
        let Resources { max_threads, .. } = self.kernel.resources;
        Resources { max_threads: own.or(max_threads), ..self.kernel.resources }
    }
}

/// A binary as the bindings name it.
pub(crate) struct Embedded<'a> {
    pub(crate) binary: &'a Binary,
    pub(crate) target: String,
    /// Its file beside the bindings.
    pub(crate) file: String,
    /// Its source, which tells the run time which binaries are alternatives to each other.
    pub(crate) source: &'a str,
    /// Its kernels, those of variants with the same code among them.
    pub(crate) builds: Vec<Build<'a>>,
}
