//! The interface of the functions of regions: their parameters after those of the scalar code, and what they
//! return.

use kernelmill_llvm::ir::Value;

/// What a vector's function returns where a thread of it has panicked.
pub(in crate::cpu::vectorize) const PANICKED: u64 = 0xffff_ffff;
/// What it returns where the kernel has ended; else the number of the next region.
pub(in crate::cpu::vectorize) const ENDED: u64 = 0xffff_fffe;

/// The parameters of a vector's function after those of the body.
pub(in crate::cpu::vectorize) struct RegionParameters<'c> {
    /// What is spilled for each thread.
    pub(in crate::cpu::vectorize) threads: Value<'c>,
    /// What is spilled for the block, as the region before has left it.
    pub(in crate::cpu::vectorize) block: Value<'c>,
    /// The same for the region after, which the vectors of this one all write alike.
    pub(in crate::cpu::vectorize) next: Value<'c>,
    /// The number of threads, rows padded.
    pub(in crate::cpu::vectorize) padded: Value<'c>,
    /// The number of the vector's first thread.
    pub(in crate::cpu::vectorize) at: Value<'c>,
}
