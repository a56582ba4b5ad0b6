//! Early exits: threads that return before others reach a barrier, as in `if (i >= n) return;`.
//!
//! Needs: a simplified and canonical kernel, before its context is lowered. Guarantees: a kernel whose barriers
//! and warp collectives are proven uniform for the threads that have not exited, or the kernel as it was and the
//! reason.
//!
//! A divergent branch that all threads reach together, of whose two ways one comes to no barrier or warp
//! collective any more, is an exit. A copy of the way out comes before a new barrier, the *exit barrier*, and
//! ends with the thread's *exit flag* ([`super::exit_flags`]):
//!
//! ```text
//! if i >= n { path; return }        if i >= n { path; exit = true }
//! rest                       =>     exit barrier   // who has exited does not go on
//!                                   rest
//! ```
//!
//! From there on a vector runs under the mask of its threads that have not exited, and not at all without any
//! ([`super::vectorize`]), as the lanes of a function that returned in
//! [ISPC](https://doi.org/10.1109/InPar.2012.6339601). So no thread computes anything after its exit, and what
//! is uniform has to be so for the others alone.

use std::collections::{HashMap, HashSet};

use kernelmill_llvm::ir::{Block, Builder, ModuleExt, Opcode, Type, Value};

use super::{
    instructions::writes_panic,
    linearization::{
        Absences, Candidate, View, branch, check, cycles, linearize, mark_lanes, never_taken,
    },
    lowering::{Proof, choose},
    operation::{EARLY_EXIT, EXIT_BARRIER, operations},
};
use crate::{
    EarlyExitRefusal, LinearizationRefusal, Lowering, ir::copy_function, passes::entry::Unit,
};

/// The exits of a kernel at most.
const EXITS: usize = 16;
/// The instructions on the way from an exit to the end of the kernel at most: the way is copied.
const PATH: usize = 200;

/// A branch of a function to an exit, by numbers that hold for its copies too.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exit {
    pub(super) block: usize,
    /// Which of the two ways leads out.
    way: usize,
    /// The block that it leads to.
    pub(super) to: usize,
}

/// What is done to a function, by numbers that hold for its copies too.
enum Step {
    Exit(Exit),
    Linearize(Candidate),
}

/// Why a kernel has been left as it was.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) exits: EarlyExitRefusal,
    pub(super) branches: LinearizationRefusal,
}

/// Turns the early exits of a kernel into exit barriers, and linearises its divergent branches around warp
/// collectives. Gives its lowering then, or why the kernel has been left as it was. `size` gives the bytes of a type
/// in memory.
pub(super) fn convert<'c>(
    unit: &Unit<'_, 'c>,
    kernel: Value<'c>,
    size: &dyn Fn(Type<'c>) -> u64,
) -> Result<Lowering, Refusal> {
    // A kernel that stays a coroutine must not have exit barriers, so they are tried on a copy.
    let trial =
        copy_function(unit.context, unit.module, kernel, &format!("{}.exits", kernel.name()));
    let found = steps(unit, trial, size);
    trial.delete_function();
    let (steps, lowering) = found?;
    let mut absences = Absences::new();
    for step in &steps {
        take(unit, kernel, step, &mut absences);
    }
    if !absences.is_empty() {
        mark_lanes(unit, kernel, &absences);
    }
    Ok(lowering)
}

/// Changes a function step by step until its barriers are proven uniform.
fn steps<'c>(
    unit: &Unit<'_, 'c>,
    trial: Value<'c>,
    size: &dyn Fn(Type<'c>) -> u64,
) -> Result<(Vec<Step>, Lowering), Refusal> {
    let (mut steps, mut absences, mut exits) = (Vec::new(), Absences::new(), 0);
    let refuse = |exits, branches| Err(Refusal { exits, branches });
    loop {
        match choose(trial, false, size) {
            Lowering::Coroutine(_) => {}
            lowering if absences.is_empty() => return Ok((steps, lowering)),
            lowering => {
                return match check(trial, &absences) {
                    Ok(()) => Ok((steps, lowering)),
                    Err(why) => refuse(still(exits), why),
                };
            }
        }
        if exits == EXITS {
            let why = EarlyExitRefusal::TooManyExits { limit: EXITS as u64 };
            return refuse(why, LinearizationRefusal::NoBranch);
        }
        let step = match next_step(trial, size) {
            Ok(step) => step,
            Err(why) => return refuse(still(exits), why),
        };
        match &step {
            Step::Exit(exit) => {
                let block = trial.blocks()[exit.block];
                let path = path(block.successors()[exit.way]);
                let instructions: usize = path.iter().map(|block| block.instructions().len()).sum();
                if instructions > PATH {
                    let (instructions, limit) = (instructions as u64, PATH as u64);
                    let why = EarlyExitRefusal::LongPath { instructions, limit };
                    return refuse(why, LinearizationRefusal::NoBranch);
                }
                exits += 1;
            }
            Step::Linearize(_) if absences.is_full() => {
                return refuse(still(exits), LinearizationRefusal::TooManyBranches);
            }
            Step::Linearize(_) => {}
        }
        take(unit, trial, &step, &mut absences);
        steps.push(step);
    }
}

fn still(exits: usize) -> EarlyExitRefusal {
    match exits {
        0 => EarlyExitRefusal::NoExit,
        count => EarlyExitRefusal::StillDivergent { exits: count as u64 },
    }
}

/// Takes a step.
fn take<'c>(unit: &Unit<'_, 'c>, function: Value<'c>, step: &Step, absences: &mut Absences<'c>) {
    match step {
        Step::Exit(exit) => split(unit, function, *exit, absences),
        Step::Linearize(candidate) => {
            // The exits do not matter for it any more.
            let view = View::new(function, writes_panic, &never_taken(function), &[]);
            linearize(unit, &view, absences, candidate);
        }
    }
}

/// The first exit, loop that threads leave, or other branch that all present threads reach together, in this order.
///
/// An exit in a loop makes control divergent in all of the loop, and so does a branch where threads leave the loop.
/// So what is reached together is asked for those that do not take the exits, and not the ways out of that loop.
fn next_step<'c>(
    function: Value<'c>,
    size: &dyn Fn(Type<'c>) -> u64,
) -> Result<Step, LinearizationRefusal> {
    let never = never_taken(function);
    let mut exits: Vec<Exit> = Vec::new();
    let (proof, left_out) = loop {
        let of_exits = exits.iter().map(|exit| (exit.block, exit.to));
        let left_out: Vec<_> = never.iter().copied().chain(of_exits).collect();
        let proof = Proof::without(function, size, &left_out);
        match divergent_exit(function, &proof, &exits) {
            Some(exit) => exits.push(exit),
            None => break (proof, left_out),
        }
    };
    let is_reached = |exit: &Exit| proof.uniformity.is_reached_together(exit.block);
    let view = View::new(function, writes_panic, &never, &left_out[never.len()..]);
    if let Some(exit) = exits.into_iter().find(is_reached) {
        return Ok(Step::Exit(exit));
    }
    let mut refusals = Vec::new();
    let loops = cycles(&view, &proof, &mut refusals);
    let is_reached = |found: &&Candidate| {
        let ways_out = loops.iter().filter(|it| it.shares_loop(found)).map(Candidate::way_out);
        let left_out: Vec<_> = left_out.iter().copied().chain(ways_out).collect();
        let proof = Proof::without(function, size, &left_out);
        proof.uniformity.is_reached_together(found.block())
    };
    let found = loops.iter().find(is_reached).cloned();
    let found = found.or_else(|| branch(&view, &proof, &mut refusals));
    let why = refusals.into_iter().next().unwrap_or(LinearizationRefusal::NoBranch);
    found.map(Step::Linearize).ok_or(why)
}

/// What is known for the threads that take none of a function's exits, and the exits.
pub(super) fn without_exits<'c>(
    function: Value<'c>,
    size: &dyn Fn(Type<'c>) -> u64,
) -> (Proof<'c>, Vec<Exit>) {
    let mut exits: Vec<Exit> = Vec::new();
    loop {
        let left_out: Vec<_> = exits.iter().map(|exit| (exit.block, exit.to)).collect();
        let proof = Proof::without(function, size, &left_out);
        match divergent_exit(function, &proof, &exits) {
            Some(exit) => exits.push(exit),
            None => return (proof, exits),
        }
    }
}

/// A divergent branch that is not among those `known`, of which one way leads to waiting threads and one does
/// not.
fn divergent_exit<'c>(function: Value<'c>, proof: &Proof<'c>, known: &[Exit]) -> Option<Exit> {
    let Proof { flow, uniformity } = proof;
    let waits = operations(function).into_iter().filter(|(_, what)| what.waits());
    let waits: Vec<_> = waits.map(|(call, _)| flow.number(call.block())).collect();
    let comes_to_wait = flow.graph.reaching(&waits);
    let is_new = |block: &usize| {
        uniformity.divergent.contains(block) && known.iter().all(|exit| exit.block != *block)
    };
    let order = flow.graph.reverse_post_order(flow.blocks.len()).into_iter();
    order.filter(is_new).find_map(|block| {
        flow.blocks[block].terminator()?.branch_condition()?;
        let next = flow.blocks[block].successors();
        let next: Vec<_> = next.into_iter().map(|next| flow.number(next)).collect();
        let [waits, others] = [0, 1].map(|way| comes_to_wait[next[way]]);
        let way = usize::from(waits);
        (waits != others).then_some(Exit { block, way, to: next[way] })
    })
}

/// The blocks that control can come to from `start` on.
pub(super) fn path<'c>(start: Block<'c>) -> Vec<Block<'c>> {
    let (mut seen, mut order, mut work) = (HashSet::new(), Vec::new(), vec![start]);
    while let Some(block) = work.pop() {
        if seen.insert(block) {
            order.push(block);
            work.extend(block.successors());
        }
    }
    order
}

/// Splits a function at an exit: the way out is copied, and ends at an exit barrier.
fn split<'c>(unit: &Unit<'_, 'c>, function: Value<'c>, exit: Exit, absences: &mut Absences<'c>) {
    let context = unit.context;
    let block = function.blocks()[exit.block];
    let around = absences.around(block);
    let end = block.terminator().expect("a branch ends the block");
    let condition = end.branch_condition().expect("an exit is a conditional branch");
    let before = block.split_before(context, end, "exits");
    // A loop of this block alone goes back to `before` now.
    let next = block.successors();
    let barrier = Block::append(context, function, "exit.barrier");
    let out = copy_path(unit, function, (block, next[exit.way]), (before, barrier));
    let builder = Builder::new(context);
    builder.at_end(before);
    let mut ways = [barrier; 2];
    ways[exit.way] = out;
    builder.branch_if(condition, ways[0], ways[1]);
    builder.at_end(barrier);
    let word = Type::int(context, 32);
    let numbers = [0, around as u64].map(|number| word.constant(number));
    call(unit, &builder, EXIT_BARRIER, &numbers);
    builder.branch(block);
    // Nobody goes the old way any more. A phi there keeps its operand of this block.
    end.erase();
    builder.at_end(block);
    let never = Type::int(context, 1).constant(u64::from(exit.way == 1));
    builder.branch_if(never, next[0], next[1]);
    absences.place(&[before, barrier], around);
}

/// Copies the way from `start`, where control comes to it from `came`, to the end of the kernel: it comes from
/// `before`, and goes to `barrier` where it ended.
fn copy_path<'c>(
    unit: &Unit<'_, 'c>,
    function: Value<'c>,
    (came, start): (Block<'c>, Block<'c>),
    (before, barrier): (Block<'c>, Block<'c>),
) -> Block<'c> {
    let builder = Builder::new(unit.context);
    let path = path(start);
    let append = |old: &Block<'c>| (*old, Block::append(unit.context, function, "exit"));
    let blocks: HashMap<_, _> = path.iter().map(append).collect();
    let mut values = HashMap::new();
    for old in &path {
        builder.at_end(blocks[old]);
        let panics = writes_panic(*old);
        for instruction in old.instructions() {
            match instruction.opcode() {
                Opcode::Phi => {
                    values.insert(instruction, builder.phi(instruction.ty()));
                }
                Opcode::Ret if !panics => {
                    call(unit, &builder, EARLY_EXIT, &[]);
                    builder.branch(barrier);
                }
                _ => {
                    values.insert(instruction, builder.copy(instruction));
                }
            }
        }
    }
    // In order, so that the same source always makes the same binary.
    for old in path.iter().flat_map(|block| block.instructions()) {
        let Some(new) = values.get(&old).copied() else { continue };
        for (index, operand) in old.operands().into_iter().enumerate() {
            let value = values.get(&operand).copied();
            match old.incoming_block(index as u32) {
                // Control comes to the copy from the path alone, and from the exit to its start.
                Some(from) => {
                    let from = match blocks.get(&from) {
                        None if from == came && old.block() == start => Some(before),
                        from => from.copied(),
                    };
                    if let Some(from) = from {
                        new.add_incoming(value.unwrap_or(operand), from);
                    }
                }
                None => {
                    if let Some(value) = value {
                        new.set_operand(index as u32, value);
                    }
                }
            }
        }
    }
    for old in &path {
        for next in old.successors() {
            blocks[old].redirect(next, blocks[&next]);
        }
    }
    blocks[&start]
}

fn call<'c>(unit: &Unit<'_, 'c>, builder: &Builder<'c>, name: &str, numbers: &[Value<'c>]) {
    let types: Vec<_> = numbers.iter().map(|number| number.ty()).collect();
    let ty = Type::void(unit.context).function(&types);
    builder.call(unit.module.declare(name, ty), numbers);
}

#[cfg(test)]
mod tests;
