//! Barriers that not all threads of a block reach together.
//!
//! OpenCL asks that every work-item of a work-group comes to each barrier, in the same iteration of a loop. Devices of
//! other targets count out threads that have returned, or have panicked, before it; a work-group of OpenCL's may wait for
//! ever. [`early_exits`](super::early_exits) and [`panics`](super::panics) lead such threads there. So a barrier must not
//! stand between a branch whose condition differs between threads and where its ways meet again, which for a way that
//! returns is nowhere.
//!
//! A value differs if it is computed from the thread's index or from memory, or if it is chosen where the ways of such
//! a branch meet, as in [divergence analysis](https://llvm.org/docs/ConvergenceAndUniformity.html). Unlike that of the
//! CPU's it knows no shapes, and what it is not sure of differs.

use std::collections::{BTreeSet, HashMap, HashSet};

use kernelmill_llvm::ir::{Block, Opcode, Value};

use super::barriers::{is_barrier, reads_word, writes_phase};
use crate::cpu::Graph;

/// Functions whose result is the same for all threads of a block.
const UNIFORM: [&str; 3] = ["_Z12get_group_idj", "_Z14get_local_sizej", "_Z14get_num_groupsj"];

/// Whether an instruction gives threads different values, whatever they are computed from.
fn differs(instruction: Value<'_>) -> bool {
    match instruction.opcode() {
        Opcode::Load | Opcode::AtomicRmw | Opcode::AtomicCmpXchg | Opcode::Alloca => true,
        Opcode::Freeze => false,
        Opcode::Call => match instruction.called_function() {
            // What is compared with it is the same for all threads.
            Some(_) if reads_word(instruction) => false,
            Some(function) => {
                let name = function.name();
                !(function.is_intrinsic() || UNIFORM.contains(&&*name) || is_barrier(&instruction))
            }
            None => true,
        },
        _ => false,
    }
}

/// The numbers of a function's blocks.
pub(super) fn numbers<'c>(blocks: &[Block<'c>]) -> HashMap<Block<'c>, usize> {
    blocks.iter().enumerate().map(|(number, block)| (*block, number)).collect()
}

/// The blocks that each block leads to, each once.
pub(super) fn successors(blocks: &[Block<'_>]) -> Vec<Vec<usize>> {
    let numbers = numbers(blocks);
    let next = |block: &Block<'_>| {
        let mut next: Vec<_> = block.successors().iter().map(|next| numbers[next]).collect();
        next.sort_unstable();
        next.dedup();
        next
    };
    blocks.iter().map(next).collect()
}

/// Which values differ between the threads of a block, and which branches do for that reason.
pub(super) struct Divergence<'c> {
    pub(super) varying: HashSet<Value<'c>>,
    /// The blocks that such branches end.
    pub(super) branches: BTreeSet<usize>,
    /// What lies between the end of a block and where its ways meet, and that place.
    influence: Vec<(Vec<bool>, Option<usize>)>,
    graph: Graph,
    /// The blocks at whose end threads have panicked.
    panicked: HashSet<Block<'c>>,
}

impl<'c> Divergence<'c> {
    /// Of the ways that a graph has, of which some end in `ends`.
    pub(super) fn of(blocks: &[Block<'c>], graph: &Graph, ends: &[usize]) -> Self {
        let numbers = numbers(blocks);
        let instructions: Vec<_> = blocks.iter().flat_map(|block| block.instructions()).collect();
        let meets = graph.post_dominators(ends);
        let influence: Vec<_> = (0..blocks.len())
            .map(|node| (graph.reachable(&graph.successors[node], meets[node]), meets[node]))
            .collect();
        let ways: Vec<_> = (0..blocks.len())
            .filter(|&node| graph.successors[node].len() > 1)
            .filter_map(|node| Some((node, blocks[node].terminator()?)))
            .collect();
        let varying = instructions.iter().copied().filter(|it| differs(*it)).collect();
        let writes = blocks.iter().filter(|it| it.instructions().into_iter().any(writes_phase));
        let panicked = writes.copied().collect();
        let (branches, graph) = (BTreeSet::new(), graph.clone());
        let mut this = Self { varying, branches, influence, graph, panicked };
        loop {
            let before = (this.varying.len(), this.branches.len());
            for instruction in &instructions {
                let is_chosen = || {
                    instruction.opcode() == Opcode::Phi
                        && this.branches.iter().any(|it| this.chooses(&numbers, *it, *instruction))
                };
                if this.is_varying(*instruction) || is_chosen() {
                    this.varying.insert(*instruction);
                }
            }
            for (node, branch) in &ways {
                if this.is_varying(*branch) {
                    this.branches.insert(*node);
                }
            }
            if before == (this.varying.len(), this.branches.len()) {
                return this;
            }
        }
    }

    /// Whether the ways of a branch come together in the block of a phi with different values: one value from each way is
    /// none that is chosen.
    fn chooses(&self, numbers: &HashMap<Block<'c>, usize>, branch: usize, phi: Value<'c>) -> bool {
        let (between, meeting) = &self.influence[branch];
        let node = numbers[&phi.block()];
        if !between[node] && *meeting != Some(node) {
            return false;
        }
        let is_of_branch = |from: &Block<'c>| {
            numbers.get(from).is_some_and(|&from| from == branch || between[from])
        };
        let incoming = self.incoming(phi).into_iter();
        let mut values = incoming.filter(|(from, _)| is_of_branch(from)).map(|(_, value)| value);
        let Some(first) = values.next() else { return false };
        // One that is computed again before the ways meet may be of another iteration.
        let is_repeated = |node: usize| {
            let next = &self.graph.successors[node];
            between[node] && self.graph.reachable(next, *meeting)[node]
        };
        let is_one =
            !first.is_instruction() || !between[branch] && !is_repeated(numbers[&first.block()]);
        !is_one || values.any(|it| it != first)
    }

    /// The values of a phi that matter: threads which have panicked end behind the barrier that they come to, and no thread
    /// may decide by a value that is undefined.
    fn incoming(&self, phi: Value<'c>) -> Vec<(Block<'c>, Value<'c>)> {
        let values = phi.operands().into_iter().enumerate();
        let incoming =
            values.filter_map(|(index, value)| Some((phi.incoming_block(index as u32)?, value)));
        incoming
            .filter(|(from, value)| !value.is_undefined() && !self.panicked.contains(from))
            .collect()
    }

    /// Whether an operand of an instruction differs.
    pub(super) fn is_varying(&self, instruction: Value<'c>) -> bool {
        match instruction.opcode() {
            Opcode::Phi => {
                self.incoming(instruction).iter().any(|(_, it)| self.varying.contains(it))
            }
            _ => instruction.operands().iter().any(|it| self.varying.contains(it)),
        }
    }

    /// A block whose end leads only some threads to another one.
    pub(super) fn parts_before(&self, node: usize) -> Option<usize> {
        { self.branches.iter().copied() }.find(|&branch| self.influence[branch].0[node])
    }
}

/// The barriers of a function that not all threads may reach together, each with the branch before it.
pub(in crate::target) fn divergent_barriers(function: Value<'_>) -> Vec<(Value<'_>, Value<'_>)> {
    if !function.instructions().iter().any(is_barrier) {
        return Vec::new();
    }
    let blocks = function.blocks();
    let graph = Graph::new(successors(&blocks));
    let ends: Vec<_> = (0..blocks.len()).filter(|&it| graph.successors[it].is_empty()).collect();
    let (divergence, numbers) = (Divergence::of(&blocks, &graph, &ends), numbers(&blocks));
    let barriers = function.instructions().into_iter().filter(is_barrier);
    let parted = barriers.filter_map(|barrier| {
        let branch = divergence.parts_before(numbers[&barrier.block()])?;
        Some((barrier, blocks[branch].terminator()?))
    });
    parted.collect()
}
