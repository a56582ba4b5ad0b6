//! A loop that can be interchanged with the loop over threads, as the search found it.

use kernelmill_llvm::ir::{Block, Value};

/// The threads of a block at least: there is more than one vector.
pub(super) const THREADS: u64 = 32;

/// A number that grows by the same in each iteration, and evenly from thread to thread.
pub(super) struct Induction<'c> {
    pub(super) phi: Value<'c>,
    pub(super) start: Value<'c>,
    pub(super) step: Value<'c>,
    /// By how much it grows from thread to thread.
    pub(super) stride: i64,
}

/// A condition of a branch.
#[derive(Clone, Copy)]
pub(super) struct Condition<'c> {
    pub(super) value: Value<'c>,
    /// What the value is where control goes the way that is looked at.
    pub(super) holds: bool,
}

/// An access to memory in which threads have elements in a row, another row in each iteration.
pub(super) struct Row<'c> {
    pub(super) access: Value<'c>,
    pub(super) pointer: Value<'c>,
    /// By how many bytes it is farther in the next iteration for each 1 of the step.
    pub(super) bytes: u64,
}

/// A loop that can be interchanged with the loop over threads.
pub(super) struct Candidate<'c> {
    pub(super) header: Block<'c>,
    pub(super) latch: Block<'c>,
    pub(super) exit: Block<'c>,
    /// The block before the header.
    pub(super) before: Block<'c>,
    /// What is done there, where not all threads get there.
    pub(super) first: Vec<Value<'c>>,
    /// Where all threads decide whether to enter the loop.
    pub(super) guard: Block<'c>,
    /// The condition on which they do; there may be none.
    pub(super) enters: Option<Condition<'c>>,
    /// The condition on which they take another iteration.
    pub(super) again: Condition<'c>,
    /// The loop's blocks, and those after panics in it.
    pub(super) blocks: Vec<Block<'c>>,
    pub(super) inductions: Vec<Induction<'c>>,
    /// Other phis of the header, with what they start with.
    pub(super) carried: Vec<(Value<'c>, Value<'c>)>,
    pub(super) rows: Vec<Row<'c>>,
    /// The induction's step at least, from which on iterations are far apart.
    pub(super) far: u64,
    /// Which of the inductions that is.
    pub(super) driver: usize,
    /// Whether it is right for blocks that are one row of threads only.
    pub(super) is_for_rows: bool,
}

/// The value of a phi where control comes from a block.
pub(super) fn incoming<'c>(phi: Value<'c>, from: Block<'c>) -> Option<Value<'c>> {
    index_of(phi, from).map(|index| phi.operand(index))
}

pub(super) fn index_of<'c>(phi: Value<'c>, from: Block<'c>) -> Option<u32> {
    (0..phi.operands().len() as u32).find(|index| phi.incoming_block(*index) == Some(from))
}
