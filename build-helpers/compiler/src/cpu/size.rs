//! How much code may become code of lanes, which takes LLVM several times as long to compile.

use kernelmill_llvm::ir::Value;

use crate::{Error, entry, target::Unit};

/// The instructions of a kernel that lanes are built for. What LLVM does with so long a function takes
/// more than its size times as long.
const KERNEL: usize = 4_000;

/// The instructions of all kernels of a source together.
const SOURCE: usize = 40_000;

/// The size of a source.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    source: usize,
}

impl Sizes {
    /// Counts what the kernels of a source consist of, once everything is inlined.
    pub(super) fn new(unit: &Unit<'_, '_>) -> Result<Self, Error> {
        let mut source = 0;
        for signature in unit.signatures {
            source += instructions(entry::shim(unit, signature)?);
        }
        Ok(Self { source })
    }

    /// Why a kernel is run one thread after the other, if it is for its size.
    pub(super) fn too_large(self, kernel: Value<'_>) -> Option<String> {
        let own = instructions(kernel);
        if own > KERNEL {
            return Some(format!("it has {own} instructions, more than {KERNEL}"));
        }
        (self.source > SOURCE).then(|| {
            format!(
                "the kernels of its source have {} instructions, more than {SOURCE}",
                self.source
            )
        })
    }
}

fn instructions(function: Value<'_>) -> usize {
    function.blocks().into_iter().map(|block| block.instructions().len()).sum()
}
