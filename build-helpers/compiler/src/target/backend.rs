//! Back end: the interface of a target that makes entries of kernels and emits code.

use kernelmill_artifact::ArtifactKind;
use kernelmill_llvm::inkwell::{context::Context, module::Module};

use crate::{
    Error,
    passes::{
        check::ValidModule,
        entry::{Entry, Unit},
    },
    resources::ByKernel,
    target_info::TargetInfo,
    toolchain::Toolchain,
};

/// A target that code is generated for.
pub(crate) trait Backend: TargetInfo {
    /// Builds the functions that the device starts, one a kernel, from the shims that the
    /// attribute `#[kernel]` left.
    fn enter<'c>(&self, unit: &Unit<'_, 'c>) -> Result<Vec<Entry>, Error>;

    /// Workarounds: changes what LLVM would generate wrong or slow code of, once everything is
    /// optimised.
    fn work_around_llvm<'c>(&self, _context: &'c Context, _module: &Module<'c>) {}

    /// Turns a checked module into bytes.
    fn emit(&self, toolchain: &Toolchain, module: &ValidModule<'_, '_>) -> Result<Emitted, Error>;
}

/// The code of a module.
pub(crate) struct Emitted {
    /// The form of its bytes.
    pub(crate) kind: ArtifactKind,
    /// Its bytes.
    pub(crate) bytes: Vec<u8>,
    /// What its kernels take, as far as the tools that made it say.
    pub(crate) resources: ByKernel,
}
