//! Joins behind a barrier that other ways come to: a workaround for pocl's replication of what follows barriers.
//!
//! Needs: kernels as they are emitted. Guarantees: what comes from behind one barrier to a block that others come to as
//! well comes there along one edge.
//!
//! ```text
//! barrier 1; if all end { return }      barrier 1; if all end { return }
//! barrier 2; if own { store }       =>  barrier 2; if own { store }; fence
//! return                                return
//! ```
//!
//! Where a barrier does not dominate a block that follows it, pocl 3.1 copies that block for the barrier, [once for each edge][pocl].
//! Both ways of `if own` then end in a block of their own, each with the barrier that ends a kernel, so pocl takes
//! the condition for one that is the same for all work-items, and leads all of them as the first. A fence, which is not removed,
//! keeps the edges together: without it the block in between would be folded again.
//!
//! [pocl]: https://github.com/pocl/pocl/pull/2269

use std::collections::{BTreeMap, BTreeSet};

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Block, Builder, ModuleExt, Opcode, Type, Value},
    machine::Machine,
};

use super::{
    barriers::{FROM_MEMORY, TO_MEMORY, is_barrier},
    uniformity::successors,
};
use crate::{Error, cpu::Graph};

const FENCE: &str = "_Z22atomic_work_item_fencej12memory_order12memory_scope";
/// Local memory, acquire and release, in a work-group.
const ARGUMENTS: [u64; 3] = [1, 4, 1];

/// Lets the edges from behind each barrier join before they come to a block that others come to.
pub(super) fn join<'c>(
    context: &'c Context,
    module: &Module<'c>,
    machine: &Machine,
) -> Result<(), Error> {
    for function in module.definitions() {
        let blocks = function.blocks();
        let parted = parted_edges(&blocks);
        let first = |block: Block<'c>| block.instructions().first().map(|it| it.opcode());
        let chooses = |(block, _): &(usize, _)| first(blocks[*block]) == Some(Opcode::Phi);
        if parted.is_empty() {
            continue;
        }
        let in_memory = parted.iter().any(chooses);
        if in_memory {
            machine.run_on_function(function, TO_MEMORY)?;
        }
        let blocks = function.blocks();
        for (block, from) in parted_edges(&blocks) {
            let joined = Block::append(context, function, "joined");
            from.iter().for_each(|&from| blocks[from].redirect(blocks[block], joined));
            write_fence(context, module, joined);
            let builder = Builder::new(context);
            builder.at_end(joined);
            builder.branch(blocks[block]);
        }
        if in_memory {
            machine.run_on_function(function, FROM_MEMORY)?;
        }
    }
    Ok(())
}

fn write_fence<'c>(context: &'c Context, module: &Module<'c>, block: Block<'c>) {
    let builder = Builder::new(context);
    builder.at_end(block);
    let word = Type::int(context, 32);
    let fence = module.declare(FENCE, Type::void(context).function(&[word; 3]));
    let _: Value<'c> = builder.call(fence, &ARGUMENTS.map(|it| word.constant(it)));
}

/// The blocks that a barrier before them does not dominate, each with several others that lead there from behind that one.
fn parted_edges(blocks: &[Block<'_>]) -> Vec<(usize, Vec<usize>)> {
    let has_barrier: Vec<_> =
        blocks.iter().map(|block| block.instructions().iter().any(is_barrier)).collect();
    if !has_barrier.contains(&true) {
        return Vec::new();
    }
    let graph = Graph::new(successors(blocks));
    let dominators = graph.dominators(0);
    let above = |node: usize| dominators[node].filter(|&it| it != node);
    // The nearest barrier before a block, and before its end.
    let before = |node: usize| {
        std::iter::successors(above(node), |&it| above(it)).find(|&it| has_barrier[it])
    };
    let behind = |node: usize| if has_barrier[node] { Some(node) } else { before(node) };
    let mut found = Vec::new();
    for node in (0..blocks.len()).filter(|&it| dominators[it].is_some()) {
        let is_repeated =
            |from: usize| std::iter::successors(Some(from), |&it| above(it)).any(|it| it == node);
        let mut by_barrier: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for &from in &graph.predecessors[node] {
            if dominators[from].is_none() || is_repeated(from) {
                continue;
            }
            if let Some(barrier) = behind(from).filter(|it| Some(*it) != before(node)) {
                by_barrier.entry(barrier).or_default().insert(from);
            }
        }
        let several = by_barrier.into_values().filter(|from| from.len() > 1);
        found.extend(several.map(|from| (node, from.into_iter().collect())));
    }
    found
}
