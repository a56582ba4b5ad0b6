//! Profitability of vectors where threads leave a loop in different iterations: whether threads one after the other take
//! less time, as in products of sparse matrices and walks through graphs.
//!
//! There a vector runs until its last thread has left, and what its threads read is all over memory: a gather takes as
//! long as the accesses that it consists of, or longer (the tables of [Agner Fog](https://www.agner.org/optimize/) and
//! [uops.info](https://uops.info)). What vectors save is arithmetic, branches that are predicted wrongly, and the time
//! that the next access waits for the one before. Both ways are estimated, weighted by the depth of loops.
//!
//! Needs: a plan. Guarantees nothing but speed: both ways compute the same.

use kernelmill_llvm::ir::{Opcode, Type, TypeKind, Value};

use super::plan::Plan;
use crate::cpu::{
    instructions::is_dropped,
    uniformity::{Loop, Shape, is_pure_intrinsic},
};

/// How often a loop is taken to run, and the loops that are looked into: what is deeper counts as much.
const ITERATIONS: u64 = 8;
const DEPTH: u32 = 4;

/// How often a vector runs a loop that its threads leave in different iterations, against how often one of them does.
const IDLE: u64 = 2;

/// By how much the estimate of vectors has to be higher, in percent: it is rough.
const MARGIN: u64 = 115;

/// Tenths of a cycle that operations take on one thread, where several run at once.
mod thread {
    pub(super) const ACCESS: u64 = 5;
    pub(super) const ARITHMETIC: u64 = 2;
    pub(super) const DIVISION: u64 = 60;
    pub(super) const FUNCTION: u64 = 150;
    /// A branch that is predicted wrongly, and one that is so every third time.
    pub(super) const MISPREDICTED: u64 = 150;
    pub(super) const BRANCH: u64 = 50;
    /// An access whose address comes from the access of the iteration before, in a near cache.
    pub(super) const WAITING: u64 = 120;
}

/// Tenths of a cycle that operations take on a vector.
mod vector {
    pub(super) const ACCESS: u64 = 10;
    pub(super) const ARITHMETIC: u64 = 10;
    /// For each thread: of up to 32 bits, by doubles.
    pub(super) const DIVISION: u64 = 20;
    /// The same of 64 bits, which are tested for having no more than 31.
    pub(super) const DIVISION_WIDE: u64 = 25;
    pub(super) const UNIFORM: u64 = 3;
    pub(super) const BRANCH: u64 = 20;
    /// For each thread: of elements that processors gather, and of narrower ones, each with a branch.
    pub(super) const GATHERED: u64 = 18;
    pub(super) const GATHERED_NARROW: u64 = 45;
    pub(super) const SCATTERED: u64 = 24;
}

/// Whether threads one after the other are expected to take less time than vectors of them.
pub(in crate::cpu::vectorize) fn is_better_scalar<'c>(
    plan: &Plan<'c>,
    size: &dyn Fn(Type<'c>) -> u64,
) -> bool {
    // With barriers the values of all threads go through memory, in vectors or one by one.
    if plan.lanes == 1 || plan.regions.len() > 1 || plan.divergent_loops.is_empty() {
        return false;
    }
    let estimate = Estimate { plan, size };
    let is_divergent = |found: &&Loop| plan.divergent_loops.contains(&found.header);
    let (irregular, other): (Vec<_>, Vec<_>) =
        plan.loops.iter().filter(is_divergent).partition(|found| estimate.is_irregular(found));
    if irregular.is_empty() {
        return false;
    }
    let is_in = |loops: &[&Loop], node: usize| loops.iter().any(|it| has(it, node));
    let (mut vectors, mut threads) = (0, 0);
    for (node, block) in plan.flow.blocks.iter().enumerate() {
        // Loops of arithmetic are often ways that few threads take, such as the reduction of large angles.
        if plan.flow.panics[node] || (is_in(&other, node) && !is_in(&irregular, node)) {
            continue;
        }
        let depth = estimate.loops_around(node).count() as u32;
        let times = ITERATIONS.pow(DEPTH.min(depth));
        let divergent = irregular.iter().filter(|it| has(it, node)).count();
        let idle = IDLE.pow(2.min(divergent as u32));
        for instruction in block.instructions() {
            vectors += times * idle * estimate.vector(node, instruction);
            threads += times * estimate.thread(node, instruction);
        }
    }
    100 * vectors > MARGIN * u64::from(plan.lanes) * threads
}

/// Whether a block is in a loop.
fn has(found: &Loop, node: usize) -> bool {
    found.nodes.binary_search(&node).is_ok()
}

struct Estimate<'e, 'c> {
    plan: &'e Plan<'c>,
    size: &'e dyn Fn(Type<'c>) -> u64,
}

impl<'c> Estimate<'_, 'c> {
    fn loops_around(&self, node: usize) -> impl Iterator<Item = &Loop> {
        self.plan.loops.iter().filter(move |it| has(it, node))
    }

    /// Whether threads access memory in no order in a loop, other than their own and constants.
    fn is_irregular(&self, found: &Loop) -> bool {
        let all = found.nodes.iter().flat_map(|&node| self.plan.flow.blocks[node].instructions());
        all.into_iter().any(|instruction| {
            let address = match instruction.opcode() {
                Opcode::Load => instruction.operand(0),
                Opcode::Store => instruction.operand(1),
                _ => return false,
            };
            self.plan.shapes.shape(address) == Shape::Varying && is_of_program(address)
        })
    }

    fn is_uniform(&self, value: Value<'c>) -> bool {
        self.plan.shapes.shape(value) == Shape::UNIFORM
    }

    /// What an instruction takes for all threads of a vector.
    fn vector(&self, node: usize, instruction: Value<'c>) -> u64 {
        let lanes = u64::from(self.plan.lanes);
        match instruction.opcode() {
            Opcode::Load => self.access(instruction.operand(0), instruction.ty(), vector::GATHERED),
            Opcode::Store => {
                let (value, address) = (instruction.operand(0), instruction.operand(1));
                self.access(address, value.ty(), vector::SCATTERED)
            }
            Opcode::Br | Opcode::CondBr if self.plan.shapes.divergent.contains(&node) => {
                vector::BRANCH
            }
            _ if is_free(instruction) => 0,
            _ if self.is_uniform(instruction) => vector::UNIFORM,
            Opcode::AtomicRmw | Opcode::AtomicCmpXchg => lanes * vector::SCATTERED,
            Opcode::UDiv | Opcode::SDiv | Opcode::URem | Opcode::SRem => {
                let is_narrow = (self.size)(instruction.ty()) <= 4;
                lanes * if is_narrow { vector::DIVISION } else { vector::DIVISION_WIDE }
            }
            Opcode::Call if is_pure_intrinsic(instruction).is_some() => 2 * self.wide(instruction),
            Opcode::Call => lanes * thread::FUNCTION,
            _ => self.wide(instruction),
        }
    }

    /// What arithmetic takes: 8 threads of 32 bits are 256 bits, 16 are 512.
    fn wide(&self, instruction: Value<'c>) -> u64 {
        let ty = instruction.ty();
        // Branches and the like have no size.
        let bytes = if ty.kind() == TypeKind::Void { 0 } else { (self.size)(ty) };
        vector::ARITHMETIC * bytes.div_ceil(4).max(1)
    }

    fn access(&self, address: Value<'c>, ty: Type<'c>, each: u64) -> u64 {
        let bytes = (self.size)(ty);
        let lanes = u64::from(self.plan.lanes);
        match self.plan.shapes.shape(address) {
            Shape::Strided(0) => vector::UNIFORM,
            Shape::Strided(step) if step.unsigned_abs() == bytes => vector::ACCESS,
            // Read in rows and shuffled.
            Shape::Strided(step) if step.unsigned_abs() <= 4 * bytes => 4 * vector::ACCESS,
            _ if bytes < 4 => lanes * vector::GATHERED_NARROW.max(each),
            _ => lanes * each,
        }
    }

    /// What an instruction takes for one thread.
    fn thread(&self, node: usize, instruction: Value<'c>) -> u64 {
        match instruction.opcode() {
            Opcode::Load => {
                let waits = self
                    .loops_around(node)
                    .any(|around| self.comes_from(instruction.operand(0), around, instruction));
                thread::ACCESS + if waits { thread::WAITING } else { 0 }
            }
            Opcode::Store | Opcode::AtomicRmw | Opcode::AtomicCmpXchg => thread::ACCESS,
            Opcode::Br | Opcode::CondBr if self.plan.shapes.divergent.contains(&node) => {
                let leaves = self.loops_around(node).any(|around| {
                    let next = &self.plan.flow.graph.successors[node];
                    next.iter().any(|next| !has(around, *next))
                });
                // Once for all iterations.
                if leaves { thread::MISPREDICTED / ITERATIONS } else { thread::BRANCH }
            }
            _ if is_free(instruction) => 0,
            Opcode::UDiv | Opcode::SDiv | Opcode::URem | Opcode::SRem => thread::DIVISION,
            Opcode::Call if is_pure_intrinsic(instruction).is_none() => thread::FUNCTION,
            _ => thread::ARITHMETIC,
        }
    }

    /// Whether an address is computed from what `load` reads in the iteration before of a loop.
    fn comes_from(&self, address: Value<'c>, around: &Loop, load: Value<'c>) -> bool {
        let inside = |value: Value<'c>| has(around, self.plan.flow.number(value.block()));
        let (mut seen, mut work) = (std::collections::HashSet::new(), vec![address]);
        while let Some(value) = work.pop() {
            if !value.is_instruction() || !inside(value) || !seen.insert(value) {
                continue;
            }
            if value == load {
                return true;
            }
            work.extend(value.operands().into_iter().filter(|operand| !operand.is_block()));
            // A choice by what was read is one that waits for it too.
            if value.opcode() == Opcode::Phi {
                let from =
                    (0..value.operands().len() as u32).filter_map(|it| value.incoming_block(it));
                work.extend(from.filter_map(|block| block.terminator()?.selector()));
            }
        }
        false
    }
}

/// Whether an address is one of memory that the program gives: no stack memory, and no constant.
fn is_of_program(address: Value<'_>) -> bool {
    let mut base = address;
    while base.is_instruction() && base.opcode() == Opcode::GetElementPtr {
        base = base.operand(0);
    }
    let is_stack = base.is_instruction() && base.opcode() == Opcode::Alloca;
    !base.is_constant() && !is_stack
}

/// Whether an instruction is none of the processor's.
pub(super) fn is_free(instruction: Value<'_>) -> bool {
    match instruction.opcode() {
        Opcode::Phi | Opcode::Br | Opcode::Alloca | Opcode::Ret | Opcode::Freeze => true,
        Opcode::Unreachable | Opcode::BitCast | Opcode::PtrToInt | Opcode::IntToPtr => true,
        Opcode::Call => is_dropped(instruction),
        _ => false,
    }
}
