//! Joined blocks: kernels whose neighbouring blocks the run time may run as one larger block, since a block of few threads
//! fills no vector.
//!
//! Needs: a simplified kernel, before its context is lowered. Guarantees: a kernel that is told to be joinable along an axis
//! does the same where `n` neighbours there become one block of `n` times the threads. It sees nothing of the indices and
//! sizes along that axis but the place in the grid, `block_index * block_dim + thread_index`, and the size of the grid,
//! `block_dim * grid_dim`, which the joined launch has too. The run time only joins launches in which both are below 2^31, so
//! that these products and sums are exact in 32 bits, signed or not, and extensions of their parts change no value.
//!
//! What is added between the product and the thread's index, as LLVM's `reassociate` may write it, is followed too. The
//! product of the joined launch is never greater than that of the launch, and the thread's index never less: the flags of
//! such a sum are looked at, since it could overflow in one of the two alone.

use std::collections::{HashMap, HashSet};

use kernelmill_artifact::{LaunchLimits, Signature};
use kernelmill_llvm::ir::{Opcode, Value};

use super::{
    context::reports_panic,
    instructions::waits_for_memory,
    operation::{Operation, operations},
    reports::Reports,
};
use crate::{
    JoinRefusal, Lowering, Pass, PassFact, PassOutcome, Strategy,
    base::names::{MATH_PREFIX, is_panic},
    ir::reachable_through,
};

/// The threads of the longest vector that stands for no several.
const VECTOR: u32 = 16;

/// Why blocks are not joined along x, and along y; `None` where they may be.
pub(super) type Refusals = [Option<JoinRefusal>; 2];

/// Looks at a kernel before its context is lowered.
pub(super) fn refusals<'c>(
    signature: &Signature,
    shim: Value<'c>,
    lowering: &Lowering,
) -> Refusals {
    let of_kernel = match lowering {
        Lowering::ThreadLoop if is_stated(&signature.limits) => Some(JoinRefusal::StatedBlock),
        Lowering::ThreadLoop => of_code(shim),
        _ => Some(JoinRefusal::Waits),
    };
    [0, 1].map(|axis| of_kernel.or_else(|| of_indices(shim, axis)))
}

/// Reports along which axis the blocks of a kernel are joined, if along any: that of the order of its blocks, along which the
/// lanes of its vectors are neighbours. Returns the threads that a joined block should have there, two vectors of `long_lanes`
/// where there are such; 0 where blocks are not joined.
pub(super) fn report(
    reports: Reports<'_>,
    (strategy, long_lanes): (&Strategy, u32),
    refusals: Refusals,
) -> u32 {
    let axis = u32::from(strategy.along_y);
    let is_scalar = strategy.scalar.is_some().then_some(JoinRefusal::Scalar);
    let refusal = is_scalar.or(refusals[axis as usize]);
    let fact = match refusal {
        Some(because) => PassFact::NotJoined { because },
        None => PassFact::Joined { axis },
    };
    reports.add(Pass::JoinedBlocks, PassOutcome::of(refusal.is_none()), Some(fact));
    let long_lanes = if axis == 0 { long_lanes } else { 0 };
    refusal.map_or(VECTOR.max(2 * long_lanes), |_| 0)
}

/// Whether the author of a kernel says how large its blocks are, or how many belong together.
fn is_stated(limits: &LaunchLimits) -> bool {
    limits.max_block_threads > 0 || limits.block != [0; 3] || limits.cluster != [0; 3]
}

/// Why blocks are joined along no axis.
fn of_code(shim: Value<'_>) -> Option<JoinRefusal> {
    // What writes down a panic has the block and the thread from the run time's structures.
    let functions = reachable_through(shim, &|function| !is_panic(&function.name()));
    let functions = functions.into_iter().filter(|it| it.is_function() && !is_panic(&it.name()));
    // In the order of how much they say, whatever the order of the functions.
    let mut found: Vec<_> = functions
        .flat_map(|function| {
            let is_shim = function == shim;
            function.instructions().into_iter().filter_map(move |it| of_instruction(it, is_shim))
        })
        .collect();
    found.sort_by_key(|refusal| match refusal {
        JoinRefusal::SharedMemory => 0,
        JoinRefusal::BlockFacts => 1,
        JoinRefusal::MemoryOrder => 2,
        _ => 3,
    });
    found.first().copied()
}

/// What an instruction has against joined blocks, of the kernel's own code or of a function that it calls.
fn of_instruction(instruction: Value<'_>, is_shim: bool) -> Option<JoinRefusal> {
    use Operation::{BlockDim, BlockIndex, Fence, GridDim, ThreadIndex};
    if waits_for_memory(instruction) {
        return Some(JoinRefusal::MemoryOrder);
    }
    if !instruction.is_call() || reports_panic(instruction) {
        return None;
    }
    match Operation::of_call(instruction) {
        Some(ThreadIndex(_) | BlockIndex(_) | BlockDim(_) | GridDim(_)) if is_shim => return None,
        Some(Fence) => return Some(JoinRefusal::MemoryOrder),
        Some(it) if it.names_shared() || it == Operation::DynamicSharedBytes => {
            return Some(JoinRefusal::SharedMemory);
        }
        Some(_) => return Some(JoinRefusal::BlockFacts),
        None => {}
    }
    let Some(callee) = instruction.called_function() else { return Some(JoinRefusal::UnknownCall) };
    if callee.is_intrinsic() {
        let is_volatile = ["llvm.memcpy.", "llvm.memmove.", "llvm.memset."]
            .iter()
            .any(|start| callee.name().starts_with(start))
            && instruction.arguments().last().and_then(|it| it.as_u64()) != Some(0);
        return is_volatile.then_some(JoinRefusal::MemoryOrder);
    }
    let is_known = !callee.is_declaration() || callee.name().starts_with(MATH_PREFIX);
    (!is_known).then_some(JoinRefusal::UnknownCall)
}

/// Whether indices and sizes along an axis are used in another way.
fn of_indices(shim: Value<'_>, axis: u32) -> Option<JoinRefusal> {
    let roots = operations(shim).into_iter().filter_map(|(call, operation)| {
        let axis = u64::from(axis);
        let part = match operation {
            Operation::ThreadIndex(of) if of == axis => Part::Thread,
            Operation::BlockIndex(of) if of == axis => Part::Block,
            Operation::BlockDim(of) if of == axis => Part::BlockSize,
            Operation::GridDim(of) if of == axis => Part::GridSize,
            _ => return None,
        };
        Some((call, part))
    });
    (!are_put_together(roots.collect())).then_some(JoinRefusal::Indices { axis })
}

/// Whether all that is computed from some parts is put together from them as the joined launch has it.
fn are_put_together<'c>(roots: HashMap<Value<'c>, Part>) -> bool {
    let sums = sums(&roots);
    let operands =
        |sum: &Value<'c>| sum.operands().into_iter().filter(|it| sums.contains(it)).count();
    let mut waiting: HashMap<_, _> = sums.iter().map(|sum| (*sum, operands(sum))).collect();
    let mut ready: Vec<_> = roots.keys().copied().collect();
    let (mut parts, mut seen) = (roots, 0);
    // Each sum after its operands.
    while let Some(value) = ready.pop() {
        seen += 1;
        if !parts.contains_key(&value) {
            match found(value, &parts) {
                Found::Part(part) => drop(parts.insert(value, part)),
                Found::Whole => {}
                Found::Torn => return false,
            }
        }
        if parts.contains_key(&value) && value.users().iter().any(|user| !sums.contains(user)) {
            return false;
        }
        for user in value.users() {
            let Some(left) = waiting.get_mut(&user) else { continue };
            *left -= 1;
            if *left == 0 {
                ready.push(user);
            }
        }
    }
    // Sums that need themselves, in code that is never reached, are not seen.
    seen == sums.len()
}

/// Some values, and all that is computed from them by instructions that may put parts together.
fn sums<'c>(roots: &HashMap<Value<'c>, Part>) -> HashSet<Value<'c>> {
    use Opcode::{Add, Mul, SExt, Sub, Trunc, ZExt};
    let mut sums: HashSet<_> = roots.keys().copied().collect();
    let mut work: Vec<_> = roots.keys().copied().collect();
    while let Some(value) = work.pop() {
        let users = value.users().into_iter();
        let users = users.filter(|it| {
            it.is_instruction() && matches!(it.opcode(), Add | Sub | Mul | ZExt | SExt | Trunc)
        });
        work.extend(users.filter(|user| sums.insert(*user)));
    }
    sums
}

/// What a value is of the indices and sizes along the axis, where the joined launch has another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Thread,
    Block,
    BlockSize,
    GridSize,
    /// The block's index times the size of a block: the place of its first thread in the grid.
    Start,
    /// That, and something else added or subtracted; whether it does not wrap.
    ShiftedStart {
        is_signed: bool,
        is_unsigned: bool,
    },
    /// The thread's index and something else, modulo the width.
    ShiftedThread,
}

/// What an instruction makes of parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Part(Part),
    /// What the joined launch has too.
    Whole,
    /// Something that it may not have.
    Torn,
}

/// What an instruction makes of its operands, some of which may be parts.
fn found<'c>(sum: Value<'c>, parts: &HashMap<Value<'c>, Part>) -> Found {
    use Part::{Block, BlockSize, GridSize, ShiftedStart, ShiftedThread, Start, Thread};
    let of = |index: u32| parts.get(&sum.operand(index)).copied();
    let resized = |bits: u32| match of(0) {
        None => Found::Whole,
        // A sum that may have wrapped is another one in more bits.
        Some(ShiftedStart { .. } | ShiftedThread) => Found::Torn,
        Some(part) if sum.ty().is_int(bits) => Found::Part(part),
        Some(_) => Found::Torn,
    };
    match sum.opcode() {
        Opcode::ZExt | Opcode::SExt => return resized(64),
        Opcode::Trunc => return resized(32),
        _ => {}
    }
    let operands = [of(0), of(1)];
    let [is_signed, is_unsigned] = [sum.has_no_signed_wrap(), sum.has_no_unsigned_wrap()];
    match (sum.opcode(), operands) {
        (_, [None, None]) => Found::Whole,
        (Opcode::Mul, [Some(Block), Some(BlockSize)] | [Some(BlockSize), Some(Block)]) => {
            Found::Part(Start)
        }
        (Opcode::Mul, [Some(GridSize), Some(BlockSize)] | [Some(BlockSize), Some(GridSize)])
        | (Opcode::Add, [Some(Start), Some(Thread)] | [Some(Thread), Some(Start)]) => Found::Whole,
        (Opcode::Add, [Some(Start), None] | [None, Some(Start)]) => {
            Found::Part(ShiftedStart { is_signed, is_unsigned })
        }
        // The lesser start of the joined launch may be less than what is subtracted.
        (Opcode::Sub, [Some(Start), None]) if !is_unsigned => {
            Found::Part(ShiftedStart { is_signed, is_unsigned: false })
        }
        // The greater index of the joined launch may be too much.
        (Opcode::Add, [Some(Thread), None] | [None, Some(Thread)])
            if !is_signed && !is_unsigned =>
        {
            Found::Part(ShiftedThread)
        }
        (Opcode::Add, [Some(Start), Some(ShiftedThread)] | [Some(ShiftedThread), Some(Start)])
            if !is_signed && !is_unsigned =>
        {
            Found::Whole
        }
        (Opcode::Add, [Some(Thread), Some(start)] | [Some(start), Some(Thread)]) => match start {
            // What is known of the sum has to be known of the one before.
            ShiftedStart { is_signed: signed, is_unsigned: unsigned }
                if signed >= is_signed && unsigned >= is_unsigned =>
            {
                Found::Whole
            }
            _ => Found::Torn,
        },
        _ => Found::Torn,
    }
}

#[cfg(test)]
mod tests;
