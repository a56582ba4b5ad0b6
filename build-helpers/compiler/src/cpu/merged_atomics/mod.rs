//! Merging of a thread's atomic operations on one address: `for (i = 0; i < n; i++) atomicAdd(&out[own], i)` adds in a
//! register, and to memory once, after the loop.
//!
//! Needs: simplified kernels. Guarantees: what the last of the merged operations leaves in memory, by an operation that is done
//! if any of them would have been. [`Mergeable`] says which can be merged and why. They are those of a loop that is known to
//! end ([`counted`]), or of one block, with no access to memory between them that may be the same: loads from memory
//! that is passed as `noalias` are let through.

mod counted;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use kernelmill_llvm::{
    ir::{Block, Builder, ModuleExt, Opcode, Place, Type, Value},
    machine::Machine,
};

use super::{
    atomics::Mergeable,
    instructions::is_dropped,
    operation::Operation,
    uniformity::{Flow, Loop, dominates, is_pure_intrinsic},
};
use crate::{Error, passes::entry::Unit};

/// Gives loops a block before them and exits of their own.
const PREPARE: &str = "function(loop-simplify)";

/// Makes registers of what sums are in.
const SIMPLIFY: &str = "function(sroa<modify-cfg>,instcombine<no-verify-fixpoint>,simplifycfg)";

/// Merges the operations of all functions; how many are gone, or out of a loop.
pub(super) fn merge(unit: &Unit<'_, '_>, machine: &Machine) -> Result<u64, Error> {
    let is_one = |it: Value<'_>| Mergeable::of(it).is_some();
    let has_one = |function: &Value<'_>| function.instructions().into_iter().any(is_one);
    let functions: Vec<_> = unit.module.definitions().into_iter().filter(has_one).collect();
    if functions.is_empty() {
        return Ok(0);
    }
    machine.run(unit.module, PREPARE)?;
    let count = functions.into_iter().map(|function| {
        let mut memory = Memory::of(function);
        in_blocks(unit, function, &memory) + in_loops(unit, function, &mut memory)
    });
    let count = count.sum();
    if count > 0 {
        machine.run(unit.module, SIMPLIFY)?;
    }
    Ok(count)
}

/// Merges those that follow each other in a block, as the iterations of a loop that was unrolled do.
fn in_blocks<'c>(unit: &Unit<'_, 'c>, function: Value<'c>, memory: &Memory<'c>) -> u64 {
    let builder = Builder::new(unit.context);
    let mut count = 0;
    for block in function.blocks() {
        let mut before: Option<Value<'c>> = None;
        for instruction in block.instructions() {
            let Some(kind) = Mergeable::of(instruction) else {
                before = before.filter(|it| memory.stays(instruction, it.operand(0)));
                continue;
            };
            let same = |it: &Value<'c>| {
                Mergeable::of(*it) == Some(kind) && it.operand(0) == instruction.operand(0)
            };
            if let Some(earlier) = before.filter(same) {
                builder.before(instruction);
                builder.take_line(instruction);
                let both = kind.join(&builder, earlier.operand(1), instruction.operand(1));
                instruction.set_operand(1, both);
                earlier.erase();
                count += 1;
            }
            before = Some(instruction);
        }
    }
    count
}

/// Takes those of loops out of them, from the innermost loops on.
fn in_loops<'c>(unit: &Unit<'_, 'c>, function: Value<'c>, memory: &mut Memory<'c>) -> u64 {
    let mut count = 0;
    loop {
        let flow = Flow::new(function, |_| false);
        let of = |found| Candidate::of(&flow, found, memory);
        let Some(candidate) = flow.loops.iter().rev().find_map(of) else { return count };
        count += candidate.atomics.len() as u64;
        memory.registers.extend(candidate.merge(unit, function));
    }
}

/// What is known of the memory of a function.
struct Memory<'c> {
    /// Parameters through which memory is read that nothing else changes.
    promised: Vec<Value<'c>>,
    /// Stack slots that only hold sums.
    registers: Vec<Value<'c>>,
}

impl<'c> Memory<'c> {
    fn of(function: Value<'c>) -> Self {
        let all = function.parameters().into_iter().zip(0..);
        let promised = all
            .filter(|&(_, index)| function.has_attribute(Place::Parameter(index), "noalias"))
            .map(|(parameter, _)| parameter);
        Self { promised: promised.collect(), registers: Vec::new() }
    }

    /// Whether an instruction does not access the memory at an address, nor order accesses.
    fn stays(&self, instruction: Value<'c>, address: Value<'c>) -> bool {
        use Opcode::*;
        match instruction.opcode() {
            Load if self.registers.contains(&instruction.operand(0)) => true,
            Load => {
                !instruction.is_exact_access() && self.are_apart(instruction.operand(0), address)
            }
            Store => self.registers.contains(&instruction.operand(1)),
            Call => {
                is_pure_intrinsic(instruction).is_some()
                    || is_dropped(instruction)
                    || Operation::of_call(instruction).is_some_and(Operation::is_place)
            }
            AtomicRmw | AtomicCmpXchg | Fence | VAArg | Invoke | CallBr | IndirectBr | Resume => {
                false
            }
            Unknown(_) => false,
            _ => true,
        }
    }

    /// Whether what is read is not changed through an address, as the kernel's signature promises.
    fn are_apart(&self, read: Value<'c>, changed: Value<'c>) -> bool {
        let [read, changed] = [read, changed].map(root);
        self.promised.contains(&read) && read != changed && !changed.is_instruction()
    }
}

/// What an address is computed from.
fn root(mut address: Value<'_>) -> Value<'_> {
    while address.is_instruction() && address.opcode() == Opcode::GetElementPtr {
        address = address.operand(0);
    }
    address
}

/// A loop whose atomic operations can become one.
struct Candidate<'c> {
    kind: Mergeable,
    atomics: Vec<Value<'c>>,
    /// Whether an iteration always comes to one of them, so that one is done if the loop is.
    is_always_done: bool,
    /// Where the loop is come from.
    before: Block<'c>,
    /// Where it is left to.
    exits: Vec<Block<'c>>,
}

impl<'c> Candidate<'c> {
    /// The operations of a loop.
    fn of(flow: &Flow<'c>, found: &Loop, memory: &Memory<'c>) -> Option<Self> {
        let contains = |node: usize| found.nodes.binary_search(&node).is_ok();
        let all: Vec<_> =
            found.nodes.iter().flat_map(|&node| flow.blocks[node].instructions()).collect();
        let atomics: Vec<_> =
            all.iter().copied().filter(|it| Mergeable::of(*it).is_some()).collect();
        let (first, others) = atomics.split_first()?;
        let (kind, address) = (Mergeable::of(*first)?, first.operand(0));
        let same = |it: &Value<'c>| Mergeable::of(*it) == Some(kind) && it.operand(0) == address;
        let stays = !address.is_instruction() || !contains(flow.number(address.block()));
        let is_let_through = |it: &Value<'c>| atomics.contains(it) || memory.stays(*it, address);
        if !stays || !others.iter().all(same) || !all.iter().all(is_let_through) {
            return None;
        }
        let (before, leaving, exits) = ways(flow, found)?;
        if !counted::ends(flow, found) {
            return None;
        }
        let comes_to = |it: &Value<'c>| {
            let own = flow.number(it.block());
            leaving.iter().all(|&node| dominates(flow.dominators(), own, node))
        };
        let is_always_done = atomics.iter().any(comes_to);
        Some(Self { kind, is_always_done, before, exits, atomics })
    }

    /// Merges them; the stack slots that hold what they do until the loop is left.
    fn merge(self, unit: &Unit<'_, 'c>, function: Value<'c>) -> Vec<Value<'c>> {
        let builder = Builder::new(unit.context);
        let (ty, bit) = (self.atomics[0].ty(), Type::int(unit.context, 1));
        builder.before(function.blocks()[0].instructions()[0]);
        let sum = builder.alloca(ty);
        let done = (!self.is_always_done).then(|| builder.alloca(bit));
        builder.before(self.before.terminator().expect("it leads to the loop"));
        builder.store(ty.constant(self.kind.identity()), sum);
        done.iter().for_each(|done| {
            builder.store(bit.constant(0), *done);
        });
        for atomic in &self.atomics {
            builder.before(*atomic);
            builder.take_line(*atomic);
            let joined = self.kind.join(&builder, builder.load(ty, sum), atomic.operand(1));
            builder.store(joined, sum);
            done.iter().for_each(|done| {
                builder.store(bit.constant(1), *done);
            });
        }
        for &exit in &self.exits {
            self.apply(unit, (sum, done), exit);
        }
        self.atomics.iter().for_each(|atomic| atomic.erase());
        [Some(sum), done].into_iter().flatten().collect()
    }

    /// Does the one operation at an exit.
    fn apply(
        &self,
        unit: &Unit<'_, 'c>,
        (sum, done): (Value<'c>, Option<Value<'c>>),
        exit: Block<'c>,
    ) {
        let builder = Builder::new(unit.context);
        let atomic = self.atomics[0];
        let at = exit.first_after_phis().expect("a block has an end");
        let write = || {
            let total = builder.load(atomic.ty(), sum);
            builder.copy(atomic).set_operand(1, total);
        };
        builder.before(at);
        builder.take_line(atomic);
        let Some(done) = done else { return write() };
        let head = exit.split_before(unit.context, at, "");
        let write_block = exit.insert_before(unit.context, "");
        builder.at_end(head);
        let is_done = builder.load(Type::int(unit.context, 1), done);
        builder.branch_if(is_done, write_block, exit);
        builder.at_end(write_block);
        write();
        builder.branch(exit);
    }
}

/// The block before a loop, the numbers of the blocks that it is left from, and the blocks that it is left to; `None` where one
/// of these has other ways into it.
fn ways<'c>(flow: &Flow<'c>, found: &Loop) -> Option<(Block<'c>, Vec<usize>, Vec<Block<'c>>)> {
    let contains = |node: usize| found.nodes.binary_search(&node).is_ok();
    let graph = &flow.graph;
    let mut outside = graph.predecessors[found.header].iter().filter(|&&from| !contains(from));
    let before = *outside.next()?;
    let is_only = outside.next().is_none()
        && before < flow.blocks.len()
        && graph.successors[before].len() == 1;
    let leads_out = |node: &usize| graph.successors[*node].iter().any(|&next| !contains(next));
    let leaving: Vec<_> = found.nodes.iter().copied().filter(leads_out).collect();
    let exits: BTreeSet<_> = leaving
        .iter()
        .flat_map(|&node| graph.successors[node].iter().copied())
        .filter(|&next| !contains(next))
        .collect();
    let is_own = |exit: &usize| graph.predecessors[*exit].iter().all(|&from| contains(from));
    (is_only && exits.iter().all(is_own)).then(|| {
        let exits = exits.into_iter().map(|exit| flow.blocks[exit]).collect();
        (flow.blocks[before], leaving, exits)
    })
}
