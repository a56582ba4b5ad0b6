//! State of a derivative in reverse mode while it is written.

use std::collections::HashMap;

use kernelmill_llvm::ir::{Block, Builder, Type, Value};

use crate::{
    Request,
    analysis::{Analysis, LoopId},
    shadow::Shadows,
    unit::Unit,
};

/// A derivative that is being written.
pub(super) struct Reverse<'a, 'c> {
    pub(super) unit: &'a Unit<'a, 'c>,
    pub(super) analysis: &'a Analysis<'c>,
    pub(super) request: &'a Request,
    pub(super) new: Value<'c>,
    /// The forward sweep, with the shadows of pointers.
    pub(super) shadows: Shadows<'a, 'c>,
    /// Positioned at the end of the first block, which has the stack slots.
    pub(super) at_start: Builder<'c>,
    /// Positioned where the reverse sweep is being written.
    pub(super) code: Builder<'c>,
    /// The reverse sweep through each block: its first block there.
    pub(super) back: Vec<Block<'c>>,
    pub(super) adjoints: HashMap<Value<'c>, Value<'c>>,
    pub(super) cache: Vec<Cached<'c>>,
    /// Values of the forward sweep that are available at this position of the reverse sweep, and (with
    /// `true`) shadows of pointers.
    pub(super) seen: HashMap<(Value<'c>, bool), Value<'c>>,
    /// The slot with the current iteration of each loop in the reverse sweep.
    pub(super) iterations: Vec<Value<'c>>,
    /// Blocks of the reverse sweep that read a loop's record from the tape.
    pub(super) reads: Vec<(LoopId, Block<'c>)>,
    pub(super) tape: TapeMemory<'c>,
}

/// A value of the forward sweep that the reverse sweep reads from a stack slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cached<'c> {
    pub(super) item: CachedItem<'c>,
    /// The innermost loop around it, whose record on the tape has it.
    pub(super) level: Option<LoopId>,
    pub(super) slot: Value<'c>,
    pub(super) ty: Type<'c>,
}

/// A cached item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CachedItem<'c> {
    Value(Value<'c>),
    /// The shadow of a pointer.
    Shadow(Value<'c>),
    /// The predecessor that a block was entered from, as an index.
    Predecessor(usize),
    /// The number of times that a loop was repeated.
    Repetitions(LoopId),
}

/// The memory of the tape.
pub(super) struct TapeMemory<'c> {
    /// The caller's buffer and its size; parameters of the function.
    pub(super) buffer: Value<'c>,
    pub(super) capacity: Value<'c>,
    /// The slot with the number of bytes in use.
    pub(super) used: Value<'c>,
    /// The memory that was chosen, once that has happened.
    pub(super) memory: Option<Value<'c>>,
    /// Scratch memory for records that do not fit a full buffer.
    pub(super) spare: Option<Value<'c>>,
}

impl<'c> TapeMemory<'c> {
    pub(super) fn new(parameters: &[Value<'c>], used: Value<'c>) -> Self {
        let [.., buffer, capacity] = *parameters else {
            unreachable!("a derivative in reverse has the parameters of a tape")
        };
        Self { buffer, capacity, used, memory: None, spare: None }
    }
}
