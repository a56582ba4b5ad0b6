//! Back end: the interface of a target that makes entries of kernels and emits code.

use kernelmill_artifact::ArtifactKind;
use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::Value,
};

use crate::{
    Error,
    diagnostic::Fault,
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

    /// What functions do that are compiled alone, without a kernel, and that need one.
    fn find_context_uses<'c>(&self, _context: &'c Context, _module: &Module<'c>) -> Vec<Fault> {
        Vec::new()
    }

    /// Keeps the constants whose values the program may choose when it runs from what passes know.
    fn keep_constants(&self, _module: &Module<'_>) {}

    /// Makes constants of what limits of launches say, before anything is optimised.
    fn fold_limits(&self, _module: &Module<'_>) {}

    /// Passes over loops that run again where [values on edges](crate::passes::edge_values) have shown more of them; `None` to
    /// leave those as they are.
    fn loop_passes(&self) -> Option<&'static str> {
        None
    }

    /// Unrolls loops over private arrays where that makes registers of their elements, once everything is optimised.
    fn unroll_array_loops<'c>(
        &self,
        _context: &'c Context,
        _module: &Module<'c>,
    ) -> Result<(), Error> {
        Ok(())
    }

    /// Passes that find out how the addresses of accesses are aligned, once everything is optimised.
    fn alignment_passes(&self) -> Option<&'static str> {
        None
    }

    /// Has threads that panic leave their kernels, once everything is optimised and before what records panics is inlined.
    fn lead_panics<'c>(
        &self,
        _context: &'c Context,
        _module: &Module<'c>,
        _kernels: &[Value<'c>],
    ) -> Result<(), Error> {
        Ok(())
    }

    /// Workarounds: changes what LLVM would generate wrong or slow code of, once everything is
    /// optimised.
    fn work_around_llvm<'c>(&self, _context: &'c Context, _module: &Module<'c>) {}

    /// Prepares a module that the program compiles when it runs for what loads it there.
    fn prepare_bitcode<'c>(
        &self,
        _context: &'c Context,
        _module: &Module<'c>,
    ) -> Result<(), Error> {
        Ok(())
    }

    /// The text in WGSL that the bytes are made of; `None` where they are made in another way.
    fn wgsl(&self, _module: &Module<'_>) -> Option<String> {
        None
    }

    /// Turns a checked module into bytes. PTX is edited before it is assembled.
    fn emit(
        &self,
        toolchain: &Toolchain,
        module: &ValidModule<'_, '_>,
        edit: Edit<'_>,
    ) -> Result<Emitted, Error>;
}

/// A function that changes assembly text.
pub(crate) type Edit<'a> = &'a dyn Fn(Vec<u8>) -> Result<Vec<u8>, Error>;

/// The code of a module.
pub(crate) struct Emitted {
    /// The form of its bytes.
    pub(crate) kind: ArtifactKind,
    /// Its bytes.
    pub(crate) bytes: Vec<u8>,
    /// What the tools warned of, a line each.
    pub(crate) warnings: Vec<String>,
    /// What its kernels take, as far as the tools that made it say.
    pub(crate) resources: ByKernel,
}

impl Emitted {
    /// Code that nothing was said of.
    pub(crate) fn new(kind: ArtifactKind, bytes: Vec<u8>) -> Self {
        Self { kind, bytes, warnings: Vec::new(), resources: ByKernel::new() }
    }
}
