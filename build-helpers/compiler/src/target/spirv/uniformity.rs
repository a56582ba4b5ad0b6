//! Barriers that not all threads of a block reach together.
//!
//! OpenCL asks that every work-item of a work-group comes to each barrier, in the same iteration of a loop. Devices of
//! other targets count out threads that have returned, or have panicked, before it; a work-group of OpenCL's may wait for
//! ever. So a barrier must not stand between a branch whose condition differs between threads and where its ways
//! meet again, which for a way that returns is nowhere.
//!
//! A value differs if it is computed from the thread's index or from memory, or if it is chosen where the ways of such
//! a branch meet, as in [divergence analysis](https://llvm.org/docs/ConvergenceAndUniformity.html). Unlike that of the
//! CPU's it knows no shapes, and what it is not sure of differs.

use std::collections::{HashMap, HashSet};

use kernelmill_llvm::ir::{Block, Opcode, Value};

use crate::cpu::Graph;

/// The word of shared memory by which threads learn of a panic in their block; [`panics`](super::panics) writes it.
pub(super) const PHASE: &str = "__kernelmill_panic_phase";

/// The function that is a barrier.
pub(super) const BARRIER: &str = "_Z7barrierj";

/// Functions whose result is the same for all threads of a block.
const UNIFORM: [&str; 3] = ["_Z12get_group_idj", "_Z14get_local_sizej", "_Z14get_num_groupsj"];

pub(super) fn is_barrier(instruction: &Value<'_>) -> bool {
    instruction.called_function().is_some_and(|it| it.name() == BARRIER)
}

/// Whether an instruction gives threads different values, whatever they are computed from.
fn differs(instruction: Value<'_>) -> bool {
    match instruction.opcode() {
        Opcode::Load | Opcode::AtomicRmw | Opcode::AtomicCmpXchg | Opcode::Alloca => true,
        Opcode::Freeze => false,
        Opcode::Call => match instruction.called_function() {
            // What is compared with it is the same for all threads: see `panics`.
            Some(_) if instruction.operand(0).name() == PHASE => false,
            Some(function) => {
                let name = function.name();
                !(function.is_intrinsic() || UNIFORM.contains(&&*name) || is_barrier(&instruction))
            }
            None => true,
        },
        _ => false,
    }
}

/// The barriers of a function that not all threads may reach together, each with the branch before it.
pub(super) fn divergent_barriers(function: Value<'_>) -> Vec<(Value<'_>, Value<'_>)> {
    let instructions = function.instructions();
    if !instructions.iter().any(is_barrier) {
        return Vec::new();
    }
    let blocks = function.blocks();
    let numbers: HashMap<Block<'_>, usize> =
        blocks.iter().enumerate().map(|(number, block)| (*block, number)).collect();
    let successors: Vec<Vec<usize>> = blocks
        .iter()
        .map(|block| {
            let mut next: Vec<_> = block.successors().iter().map(|next| numbers[next]).collect();
            next.sort_unstable();
            next.dedup();
            next
        })
        .collect();
    let ends: Vec<_> = (0..blocks.len()).filter(|&node| successors[node].is_empty()).collect();
    let graph = Graph::new(successors);
    let meets = graph.post_dominators(&ends);
    // What lies between a branch and where its ways meet, and that place.
    let influence: Vec<(Vec<bool>, Option<usize>)> = (0..blocks.len())
        .map(|node| (graph.reachable(&graph.successors[node], meets[node]), meets[node]))
        .collect();
    let branches: Vec<_> = (0..blocks.len())
        .filter(|&node| graph.successors[node].len() > 1)
        .filter_map(|node| Some((node, blocks[node].terminator()?)))
        .collect();
    let mut varying: HashSet<Value<'_>> =
        instructions.iter().copied().filter(|it| differs(*it)).collect();
    let mut divergent: HashSet<usize> = HashSet::new();
    loop {
        let before = (varying.len(), divergent.len());
        for instruction in &instructions {
            let is_chosen = || {
                let node = numbers[&instruction.block()];
                instruction.opcode() == Opcode::Phi
                    && divergent.iter().any(|&branch| {
                        influence[branch].0[node] || influence[branch].1 == Some(node)
                    })
            };
            if instruction.operands().iter().any(|it| varying.contains(it)) || is_chosen() {
                varying.insert(*instruction);
            }
        }
        for (node, branch) in &branches {
            if branch.operands().iter().any(|it| varying.contains(it)) {
                divergent.insert(*node);
            }
        }
        if before == (varying.len(), divergent.len()) {
            break;
        }
    }
    let mut found = Vec::new();
    for barrier in instructions.into_iter().filter(is_barrier) {
        let node = numbers[&barrier.block()];
        let is_before = |(branch, _): &&(usize, Value<'_>)| {
            divergent.contains(branch) && influence[*branch].0[node]
        };
        if let Some((_, branch)) = branches.iter().find(is_before) {
            found.push((barrier, *branch));
        }
    }
    found
}
