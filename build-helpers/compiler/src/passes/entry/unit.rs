//! The unit of entry creation: a linked module, and the entries that its kernels become.

use std::cell::RefCell;

use kernelmill_artifact::Signature;
use kernelmill_llvm::inkwell::{context::Context, module::Module};

use super::sharing::{KernelSharing, KernelsSharing};
use crate::{pass_report::PassReport, passes::locations::Backtraces, strategy::Strategy};

/// A module on its way through the pipeline.
pub(crate) struct Unit<'a, 'c> {
    pub(crate) context: &'c Context,
    pub(crate) module: &'a Module<'c>,
    pub(crate) signatures: &'a [Signature],
    /// The name of the source, unique in the program.
    pub(crate) name: &'a str,
    /// Whether kernels are vectorised on the CPU, and split into regions at uniform barriers.
    pub(crate) vectorize: bool,
    /// What the kernels do with memory that their threads share.
    pub(crate) sharing: &'a KernelsSharing,
    /// The calls on the way to panics, for who takes the lines out of the module.
    pub(crate) backtraces: &'a Backtraces,
    /// What the user is to be told although all went well, a line each.
    pub(crate) warnings: &'a RefCell<Vec<String>>,
    /// What the CPU's passes report.
    pub(crate) passes: &'a RefCell<Vec<PassReport>>,
}

impl Unit<'_, '_> {
    /// What a kernel does with memory that its threads share.
    pub(crate) fn sharing(&self, signature: &Signature) -> KernelSharing {
        self.sharing.get(&*signature.symbol).cloned().unwrap_or_default()
    }
}

/// A function that the device starts.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Its symbol in the binary.
    pub(crate) symbol: String,
    /// Shared memory that the kernel declares, in bytes a block.
    pub(crate) static_shared_bytes: u32,
    /// Whether its blocks wait for each other.
    pub(crate) cooperative: bool,
    /// The constant that describes a CPU kernel.
    pub(crate) cpu_symbol: Option<String>,
    /// The lowering strategy of a CPU kernel.
    pub(crate) strategy: Option<Strategy>,
}
