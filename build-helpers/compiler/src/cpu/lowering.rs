//! The choice of a kernel's lowering, from what is proven of its barriers and warp collectives.
//!
//! Needs: simplified and canonical kernels. Guarantees: a faster lowering than the coroutine is chosen
//! only where it is proven correct. The condition on barriers is that of OpenCL's `barrier`, proven here
//! and assumed by pocl.

use kernelmill_llvm::ir::{Opcode, Type, TypeKind, Value};

use super::{
    code_size,
    context::suspends,
    instructions::writes_panic,
    operation::{Operation, number, operations},
    uniformity::{Asked, Flow, Shape, Uniformity},
};
use crate::{CoroutineReason, Lowering};

/// The barriers and warp collectives in a kernel's code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Waits {
    barriers: u32,
    warp_collectives: u32,
}

/// Chooses the lowering of a kernel from its code before the context is lowered.
pub(super) fn choose<'c>(
    kernel: Value<'c>,
    exits: bool,
    size: &dyn Fn(Type<'c>) -> u64,
) -> Lowering {
    if !suspends(kernel) {
        return Lowering::ThreadLoop;
    }
    if has_grid_barriers(kernel) {
        return Lowering::Coroutine(CoroutineReason::GridBarrier);
    }
    let partial = |(call, what): &(Value<'c>, Operation)| match what {
        Operation::Warp(number::ACTIVE_MASK) => false,
        Operation::Warp(_) => {
            let mask = call.arguments()[0];
            mask.as_u64() != Some(u64::from(u32::MAX)) && !is_active_mask(*call, mask)
        }
        _ => false,
    };
    if operations(kernel).iter().any(partial) {
        return Lowering::Coroutine(CoroutineReason::PartialMask);
    }
    if exits {
        return Lowering::Coroutine(CoroutineReason::ExitInOutlinedFunction);
    }
    if let Some(why) = unusual(kernel) {
        return Lowering::Coroutine(why);
    }
    let waits = operations(kernel).iter().filter(|(_, what)| what.waits()).count() as u32;
    if waits > code_size::WAITS {
        let limit = code_size::WAITS;
        return Lowering::Coroutine(CoroutineReason::TooManyWaits { waits, limit });
    }
    let Proof { flow, uniformity } = Proof::new(kernel, size);
    let (mut all, mut apart) = (Waits::default(), Waits::default());
    let (mut early_exits, mut joins) = (0, 0);
    for (call, what) in operations(kernel) {
        // What only leads to a panic is left out of the flow, and is part of no region.
        let block = flow.number(call.block());
        let is_apart = flow.panics[block] || !uniformity.is_reached_together(block);
        match what {
            Operation::Barrier => {
                all.barriers += 1;
                apart.barriers += u32::from(is_apart);
            }
            Operation::Warp(_) => {
                all.warp_collectives += 1;
                apart.warp_collectives += u32::from(is_apart);
            }
            // A barrier for it alone would be one that the kernel does not have.
            Operation::ExitBarrier => {
                early_exits += 1;
                apart.barriers += u32::from(is_apart);
            }
            Operation::AbsenceBarrier => {
                joins += u32::from(call.arguments()[0].as_u64() != Some(0));
                apart.barriers += u32::from(is_apart);
            }
            _ => {}
        }
    }
    let exits = operations(kernel)
        .iter()
        .any(|(call, what)| *what == Operation::Exit && !flow.panics[flow.number(call.block())]);
    if exits {
        return Lowering::Coroutine(CoroutineReason::ThreadExit);
    }
    match apart {
        Waits { barriers: 0, warp_collectives: 0 } => Lowering::BarrierRegions {
            barriers: all.barriers,
            warp_collectives: all.warp_collectives,
            early_exits,
            joins,
        },
        Waits { barriers: 0, warp_collectives: divergent } => {
            let total = all.warp_collectives;
            Lowering::Coroutine(CoroutineReason::DivergentWarpCollectives { divergent, total })
        }
        Waits { barriers: divergent, .. } => {
            let total = all.barriers;
            Lowering::Coroutine(CoroutineReason::DivergentBarriers { divergent, total })
        }
    }
}

/// Whether the blocks of a kernel wait for each other.
pub(super) fn has_grid_barriers(kernel: Value<'_>) -> bool {
    operations(kernel).iter().any(|(_, what)| *what == Operation::GridBarrier)
}

/// Whether the mask of a warp collective names the lanes that are active there: it was asked for in the same block, which
/// no thread leaves in between.
fn is_active_mask(call: Value<'_>, mask: Value<'_>) -> bool {
    mask.is_instruction()
        && mask.is_call()
        && mask.block() == call.block()
        && Operation::of_call(mask) == Some(Operation::Warp(number::ACTIVE_MASK))
}

/// Lets warp collectives of the active lanes be ones of all lanes, in a kernel whose collectives are uniform: all lanes are
/// active there that have not exited. The number of questions that nobody asks then.
pub(super) fn name_all_lanes(kernel: Value<'_>) -> u32 {
    let mut masks = Vec::new();
    for (call, what) in operations(kernel) {
        if !matches!(what, Operation::Warp(number) if number != number::ACTIVE_MASK) {
            continue;
        }
        let mask = call.arguments()[0];
        if is_active_mask(call, mask) {
            call.set_operand(0, mask.ty().constant(u64::from(u32::MAX)));
            if !masks.contains(&mask) {
                masks.push(mask);
            }
        }
    }
    masks.retain(|mask| !mask.is_used());
    masks.iter().for_each(|mask| mask.erase());
    masks.len() as u32
}

/// What is known of a kernel's control flow, before its context is lowered.
pub(super) struct Proof<'c> {
    pub(super) flow: Flow<'c>,
    /// Of the threads of a block.
    pub(super) uniformity: Uniformity<'c>,
}

impl<'c> Proof<'c> {
    pub(super) fn new(kernel: Value<'c>, size: &dyn Fn(Type<'c>) -> u64) -> Self {
        Self::without(kernel, size, &[])
    }

    /// What is known for threads that do not go the ways `left_out` between blocks.
    pub(super) fn without(
        kernel: Value<'c>,
        size: &dyn Fn(Type<'c>) -> u64,
        left_out: &[(usize, usize)],
    ) -> Self {
        let flow = Flow::without(kernel, writes_panic, left_out);
        let asked = Asked { lanes: 1, source: &shim_source, size, element: &|_| None };
        let uniformity = Uniformity::new(kernel, &flow, &asked);
        Self { flow, uniformity }
    }
}

/// What cannot be built by regions.
pub(super) fn unusual(kernel: Value<'_>) -> Option<CoroutineReason> {
    let entry = kernel.blocks()[0];
    for instruction in kernel.instructions() {
        match instruction.opcode() {
            Opcode::Invoke
            | Opcode::CallBr
            | Opcode::IndirectBr
            | Opcode::Resume
            | Opcode::LandingPad => return Some(CoroutineReason::UnstructuredControlFlow),
            Opcode::Alloca
                if instruction.block() != entry || instruction.operand(0).as_u64() != Some(1) =>
            {
                return Some(CoroutineReason::DynamicStackMemory);
            }
            _ if instruction.ty().kind() == TypeKind::Token => {
                return Some(CoroutineReason::Tokens);
            }
            _ => {}
        }
    }
    None
}

/// What differs between the threads of a block: the results of operations, by name.
fn shim_source(value: Value<'_>) -> Option<Shape> {
    if !value.is_instruction() || !value.is_call() {
        return None;
    }
    match Operation::of_call(value)? {
        Operation::ThreadIndex(_) | Operation::Lane | Operation::Warp(_) => Some(Shape::Varying),
        Operation::BlockIndex(_)
        | Operation::BlockDim(_)
        | Operation::GridDim(_)
        | Operation::SharedBase
        | Operation::DynamicShared
        | Operation::DynamicSharedBytes
        | Operation::PanicRecord
        | Operation::AnyPresent => Some(Shape::UNIFORM),
        Operation::Fence
        | Operation::Exit
        | Operation::Barrier
        | Operation::GridBarrier
        | Operation::EarlyExit
        | Operation::ExitBarrier
        | Operation::Leave
        | Operation::AbsenceBarrier
        | Operation::AllLanes
        | Operation::StackCheck => None,
    }
}

/// What differs between the threads of a block, in a body whose parameters are `thread`.
pub(super) fn block_source<'c>(thread: [Value<'c>; 3]) -> impl Fn(Value<'c>) -> Option<Shape> {
    move |value| thread.contains(&value).then_some(Shape::Varying)
}
