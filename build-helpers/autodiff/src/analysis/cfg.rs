//! The control-flow graph, restricted to blocks from which the function can return. Blocks that lead only
//! to a panic have no derivative.

use std::collections::HashMap;

use kernelmill_llvm::ir::{Block, Opcode, Value};

/// Blocks by number, in reverse postorder: a block comes after all that dominate it.
#[derive(Debug)]
pub(crate) struct Cfg<'c> {
    pub(crate) blocks: Vec<Block<'c>>,
    pub(crate) successors: Vec<Vec<usize>>,
    pub(crate) predecessors: Vec<Vec<usize>>,
    /// The block that returns; `None` where none does.
    pub(crate) exit: Option<usize>,
    numbers: HashMap<Block<'c>, usize>,
    dominators: Vec<usize>,
}

impl<'c> Cfg<'c> {
    /// The graph of a function in which at most one block returns.
    pub(crate) fn of(function: Value<'c>) -> Self {
        let reachable = reverse_postorder(function);
        let returning = through_which_it_returns(&reachable);
        let blocks: Vec<_> =
            reachable.into_iter().filter(|block| returning.contains_key(block)).collect();
        let numbers: HashMap<_, _> =
            blocks.iter().enumerate().map(|(number, block)| (*block, number)).collect();
        let mut successors = vec![Vec::new(); blocks.len()];
        let mut predecessors = vec![Vec::new(); blocks.len()];
        for (number, block) in blocks.iter().enumerate() {
            for next in block.successors() {
                if let Some(&next) = numbers.get(&next) {
                    successors[number].push(next);
                    predecessors[next].push(number);
                }
            }
        }
        let exit = blocks.iter().position(|block| returns(*block));
        let dominators = dominators(&predecessors);
        Self { blocks, successors, predecessors, exit, numbers, dominators }
    }

    /// The number of a block; `None` for one from which the function does not return.
    pub(crate) fn number(&self, block: Block<'c>) -> Option<usize> {
        self.numbers.get(&block).copied()
    }

    /// The number of the block an instruction is in.
    pub(crate) fn number_of(&self, instruction: Value<'c>) -> Option<usize> {
        self.number(instruction.block())
    }

    /// Whether `above` dominates `below`.
    pub(crate) fn dominates(&self, above: usize, below: usize) -> bool {
        let mut at = below;
        while at > above {
            at = self.dominators[at];
        }
        at == above
    }

    /// The immediate dominator of a block.
    pub(crate) fn immediate_dominator(&self, block: usize) -> usize {
        self.dominators[block]
    }

    /// The instructions of all blocks of the graph.
    pub(crate) fn instructions(&self) -> impl Iterator<Item = Value<'c>> + '_ {
        self.blocks.iter().flat_map(|block| block.instructions())
    }
}

fn returns(block: Block<'_>) -> bool {
    block.terminator().is_some_and(|last| last.opcode() == Opcode::Ret)
}

/// The blocks of a function that can be reached, each after those that dominate it.
pub(crate) fn reverse_postorder(function: Value<'_>) -> Vec<Block<'_>> {
    let mut order = Vec::new();
    let mut seen = std::collections::HashSet::new();
    let Some(&entry) = function.blocks().first() else { return order };
    let mut stack = vec![(entry, entry.successors())];
    seen.insert(entry);
    while let Some((block, rest)) = stack.last_mut() {
        match rest.pop() {
            Some(next) if seen.insert(next) => stack.push((next, next.successors())),
            Some(_) => {}
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

fn through_which_it_returns<'c>(blocks: &[Block<'c>]) -> HashMap<Block<'c>, ()> {
    let mut found: HashMap<_, _> =
        blocks.iter().filter(|block| returns(**block)).map(|block| (*block, ())).collect();
    loop {
        let before = found.len();
        for block in blocks.iter().rev() {
            if block.successors().iter().any(|next| found.contains_key(next)) {
                found.insert(*block, ());
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// The immediate dominator of each block, by Cooper, Harvey and Kennedy, "A Simple, Fast Dominance
/// Algorithm" (2001).
fn dominators(predecessors: &[Vec<usize>]) -> Vec<usize> {
    const NONE: usize = usize::MAX;
    let mut found = vec![NONE; predecessors.len()];
    if let Some(entry) = found.first_mut() {
        *entry = 0;
    }
    loop {
        let mut changed = false;
        for block in 1..predecessors.len() {
            let known = predecessors[block].iter().copied().filter(|&from| found[from] != NONE);
            let Some(common) = known.reduce(|a, b| intersect(&found, a, b)) else { continue };
            changed |= found[block] != common;
            found[block] = common;
        }
        if !changed {
            return found;
        }
    }
}

fn intersect(dominators: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        if a > b {
            a = dominators[a];
        } else {
            b = dominators[b];
        }
    }
    a
}
