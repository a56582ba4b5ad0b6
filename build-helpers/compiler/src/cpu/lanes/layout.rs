//! Where a function that runs blocks has its memory, and whether each group has code of its own.

use super::{Blocks, ROW, state::State};

/// The name of a block's shared memory where it is the function's own.
pub(in crate::cpu) const OWN_MEMORY: &str = "own";

/// Its alignment, as that of the run time's.
pub(super) const OWN_ALIGN: u32 = 128;

/// The bytes of shared memory that a function may have on the stack.
const OWN_SHARED: u64 = 32 << 10;

/// The bytes that it may keep for threads there, most of which become registers.
const OWN_SCRATCH: u64 = 128 << 10;

/// How a function runs the groups of a block.
pub(super) struct Layout {
    /// The size of blocks, where each group has code of its own.
    pub(super) unrolled: Option<[u32; 3]>,
    /// The bytes that are kept for threads and of shared memory, where they are the function's own.
    pub(super) scratch_bytes: Option<u64>,
    pub(super) shared_bytes: Option<u64>,
}

impl Layout {
    pub(super) fn new(state: &State<'_>, blocks: Blocks<'_>) -> Self {
        let none = Self { unrolled: None, scratch_bytes: None, shared_bytes: None };
        let Blocks::Of { threads, unroll: true, shared_bytes } = blocks else { return none };
        let row = u64::from(threads[0]).next_multiple_of(ROW);
        let kept = state.bytes_of_thread * row * u64::from(threads[1] * threads[2]);
        let fits = |bytes: &u64| state.memory.is_empty() && (1..=OWN_SCRATCH).contains(bytes);
        Self {
            unrolled: Some(threads),
            scratch_bytes: Some(kept).filter(fits),
            shared_bytes: shared_bytes.filter(|bytes| (1..=OWN_SHARED).contains(bytes)),
        }
    }
}
