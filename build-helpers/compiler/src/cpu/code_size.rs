//! Limits of the code size: how much becomes vector code, which takes LLVM several times as long to compile.

use std::cell::Cell;

use kernelmill_llvm::ir::Value;

use crate::{
    Error, ScalarReason,
    passes::entry::{self, Unit},
};

/// The instructions of a kernel that lanes are built for. What LLVM does with so long a function takes
/// more than its size times as long.
pub(super) const KERNEL: usize = 4_000;

/// The instructions of a kernel for which there is code for blocks that are narrow along x: few kernels are launched with
/// such blocks, and all of them take the time to compile it.
pub(super) const NARROW: usize = 600;

/// The instructions of all kernels of a source together.
const SOURCE: usize = 40_000;

/// The instructions of a kernel for all vectors of a block together, where each gets code of its own.
pub(super) const UNROLLED: usize = 12_000;

/// The same of all kernels of a source, for all processors.
const SOURCE_UNROLLED: usize = 30_000;

/// The instructions of a kernel for which blocks with rows of one length have a function of their own.
pub(super) const USUAL_ROWS: usize = 1_000;

/// The barriers and warp collectives of a kernel that is split into regions. Each region is a loop over the block's threads;
/// LLVM and the passes here look from each at those before it, so that the time grows with the square of their number.
pub(super) const WAITS: u32 = 64;

/// The size of a source.
#[derive(Clone, Debug)]
pub(super) struct Sizes {
    source: usize,
    /// What is unrolled so far.
    unrolled: Cell<usize>,
}

impl Sizes {
    /// Counts what the kernels of a source consist of, once everything is inlined.
    pub(super) fn new(unit: &Unit<'_, '_>) -> Result<Self, Error> {
        let mut source = 0;
        for signature in unit.signatures {
            source += instructions(entry::shim(unit, signature)?);
        }
        Ok(Self { source, unrolled: Cell::new(0) })
    }

    /// Why the code of a kernel stays scalar, if it is for its size.
    pub(super) fn too_large(&self, kernel: Value<'_>) -> Option<ScalarReason> {
        let (own, limit) = (instructions(kernel) as u64, KERNEL as u64);
        if own > limit {
            return Some(ScalarReason::KernelTooLong { instructions: own, limit });
        }
        let (all, limit) = (self.source as u64, SOURCE as u64);
        (all > limit).then_some(ScalarReason::SourceTooLong { instructions: all, limit })
    }

    /// Whether each of so many vectors of a kernel can have code of its own, which is then counted.
    pub(super) fn unroll(&self, kernel: Value<'_>, groups: u32) -> bool {
        let all = self.unrolled.get() + unrolled(kernel, groups);
        let fits = all <= SOURCE_UNROLLED;
        if fits {
            self.unrolled.set(all);
        }
        fits
    }
}

/// The instructions of a kernel where each of so many vectors has code of its own.
pub(super) fn unrolled(kernel: Value<'_>, groups: u32) -> usize {
    instructions(kernel) * groups as usize
}

/// The instructions of a function.
pub(super) fn instructions(function: Value<'_>) -> usize {
    function.blocks().into_iter().map(|block| block.instructions().len()).sum()
}
