//! Absences: who is absent where, by the blocks of a function and its barriers, and the ways that control takes.

use std::collections::HashMap;

use kernelmill_llvm::ir::{Block, Opcode, Value};

use crate::cpu::operation::Operation;

/// The absences of a kernel at most: a flag has a byte.
const ABSENCES: usize = 64;

/// The absences of a function, each known by its number from 1.
pub(in crate::cpu) struct Absences<'c> {
    /// The innermost absence that each block is in, if any: some threads may be absent with its number there.
    inside: HashMap<Block<'c>, usize>,
    /// For each number, that of the absence around it, or 0.
    pub(super) outer: Vec<usize>,
}

impl<'c> Absences<'c> {
    pub(in crate::cpu) fn new() -> Self {
        Self { inside: HashMap::new(), outer: vec![0] }
    }

    /// The innermost absence that a block is in; 0 for none.
    pub(in crate::cpu) fn around(&self, block: Block<'c>) -> usize {
        self.inside.get(&block).copied().unwrap_or(0)
    }

    /// Whether there can be no more.
    pub(in crate::cpu) fn is_full(&self) -> bool {
        self.outer.len() + 2 > ABSENCES
    }

    /// Whether there are any.
    pub(in crate::cpu) fn is_empty(&self) -> bool {
        self.outer.len() == 1
    }

    /// A new absence in another one.
    pub(super) fn open(&mut self, outer: usize) -> usize {
        self.outer.push(outer);
        self.outer.len() - 1
    }

    /// Says of blocks that are in the absence `outer`, and of what is in them, that they are in `inner`.
    pub(super) fn enclose(&mut self, blocks: &[Block<'c>], (outer, inner): (usize, usize)) {
        for &block in blocks {
            if self.around(block) == outer {
                self.inside.insert(block, inner);
            }
            for call in barriers(block) {
                let [returning, next] = numbers(call);
                if next == outer {
                    let number = call.arguments()[1].ty().constant(inner as u64);
                    call.set_operand(1, number);
                    if returning != 0 {
                        self.outer[returning] = inner;
                    }
                }
            }
        }
    }

    /// Says of new blocks that they are in an absence.
    pub(in crate::cpu) fn place(&mut self, blocks: &[Block<'c>], number: usize) {
        blocks.iter().for_each(|block| _ = self.inside.insert(*block, number));
    }

    /// Whether an absence is `outer` or in it; all are in 0.
    pub(super) fn is_within(&self, inner: usize, outer: usize) -> bool {
        outer == 0 || self.from(inner).any(|it| it == outer)
    }

    /// The absences from `inner` outwards.
    pub(super) fn from(&self, inner: usize) -> impl Iterator<Item = usize> {
        let next = |number: &usize| Some(self.outer[*number]).filter(|outer| *outer != 0);
        std::iter::successors(Some(inner).filter(|inner| *inner != 0), next)
    }
}

/// The barriers of a block at which threads become absent, exit or are present again.
pub(super) fn barriers(block: Block<'_>) -> impl Iterator<Item = Value<'_>> {
    let calls = block.instructions().into_iter().filter(|it| it.opcode() == Opcode::Call);
    calls.filter(|call| {
        matches!(
            Operation::of_call(*call),
            Some(Operation::AbsenceBarrier | Operation::ExitBarrier)
        )
    })
}

/// The operands of such a barrier: the absence that ends, and the one at whose end the block goes on where no
/// thread is present.
pub(super) fn numbers(barrier: Value<'_>) -> [usize; 2] {
    let arguments = barrier.arguments();
    [0, 1].map(|index| arguments[index].as_u64().map_or(0, |number| number as usize))
}

/// The edges of a function that are never taken: those of branches on constants. Exits leave them.
pub(in crate::cpu) fn never_taken(function: Value<'_>) -> Vec<(usize, usize)> {
    let blocks = function.blocks();
    let number: HashMap<_, _> = blocks.iter().enumerate().map(|(it, block)| (*block, it)).collect();
    let mut edges = Vec::new();
    for (from, block) in blocks.iter().enumerate() {
        let next = block.successors();
        if let Some(taken) = taken(*block)
            && next[0] != next[1]
        {
            edges.push((from, number[&next[1 - taken]]));
        }
    }
    edges
}

/// Which way a branch on a constant takes.
fn taken(block: Block<'_>) -> Option<usize> {
    let condition = block.terminator()?.branch_condition()?;
    condition.as_u64().map(|value| usize::from(value & 1 == 0))
}

/// The blocks that control can come to next.
pub(super) fn next(block: Block<'_>) -> Vec<Block<'_>> {
    let next = block.successors();
    match taken(block) {
        Some(way) => vec![next[way]],
        None => next,
    }
}
