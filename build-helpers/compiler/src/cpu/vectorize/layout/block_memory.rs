//! Memory of a function that runs blocks, and whether each vector of threads has code of its own.

use kernelmill_llvm::ir::Value;

use super::context_arrays::ContextArrays;

/// The blocks that a function is for.
#[derive(Clone, Copy)]
pub(in crate::cpu) enum Blocks<'c> {
    Any,
    /// Those with no more threads along x than a vector has, which other functions leave to this one.
    Narrow,
    /// Of any size; those of one size have a function of their own.
    AnyBut(SpecializedCall<'c>),
    /// Of this size, without a vector that lacks threads.
    Of {
        threads: [u32; 3],
        /// Whether each vector has code of its own.
        unroll: bool,
        /// The bytes of shared memory, where no other code uses that of a block.
        shared_bytes: Option<u64>,
    },
}

/// The function for blocks of one size.
#[derive(Clone, Copy)]
pub(in crate::cpu) struct SpecializedCall<'c> {
    pub(in crate::cpu) threads: [u32; 3],
    pub(in crate::cpu) function: Value<'c>,
}

/// The threads of a row that memory is laid out for: a multiple of every number of lanes. Most blocks of two dimensions have
/// such rows.
pub(in crate::cpu) const ROW: u64 = 16;

/// The name of a block's shared memory where it is the function's own.
pub(in crate::cpu) const OWN_MEMORY: &str = "own";

/// Its alignment, as that of the run time's.
pub(in crate::cpu::vectorize) const OWN_ALIGN: u32 = 128;

/// The bytes of shared memory that a function may have on the stack.
const OWN_SHARED: u64 = 32 << 10;

/// The bytes of context arrays that it may have there, most of which become registers.
const OWN_SCRATCH: u64 = 128 << 10;

/// How a function runs the vectors of a block.
#[derive(Clone, Copy)]
pub(in crate::cpu::vectorize) struct Layout {
    /// The size of blocks, where each vector has code of its own.
    pub(in crate::cpu::vectorize) unrolled: Option<[u32; 3]>,
    /// Whether a line of a block has no more threads than a vector.
    pub(in crate::cpu::vectorize) is_narrow: bool,
    /// The bytes of context arrays and of shared memory, where they are the function's own.
    pub(in crate::cpu::vectorize) scratch_bytes: Option<u64>,
    pub(in crate::cpu::vectorize) shared_bytes: Option<u64>,
}

impl Layout {
    pub(in crate::cpu::vectorize) fn new(arrays: &ContextArrays<'_>, blocks: Blocks<'_>) -> Self {
        let is_narrow = matches!(blocks, Blocks::Narrow);
        let none = Self { unrolled: None, is_narrow, scratch_bytes: None, shared_bytes: None };
        let Blocks::Of { threads, unroll: true, shared_bytes } = blocks else { return none };
        let row = u64::from(threads[0]).next_multiple_of(ROW);
        let spilled = arrays.bytes_of_thread * row * u64::from(threads[1] * threads[2]);
        let fits = |bytes: &u64| arrays.memory.is_empty() && (1..=OWN_SCRATCH).contains(bytes);
        Self {
            unrolled: Some(threads),
            is_narrow,
            scratch_bytes: Some(spilled).filter(fits),
            shared_bytes: shared_bytes.filter(|bytes| (1..=OWN_SHARED).contains(bytes)),
        }
    }
}
