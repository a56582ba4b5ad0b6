//! Legality of vectorisation: what the emission supports, checked before anything is built.

use kernelmill_llvm::ir::{Opcode, Type, TypeKind, Value};

use super::plan::Plan;
use crate::{
    ScalarReason,
    cpu::{
        context::is_barrier,
        instructions::{is_dropped, is_leaf, is_wide},
        uniformity::is_pure_intrinsic,
    },
};

/// The bytes of stack memory that the threads of a vector may have together: of the stack of a thread of the
/// host, which has 2 MiB by default, the function of a block takes a small part.
const STACK_OF_VECTOR: u64 = 256 << 10;

/// Says what keeps a body from being vectorised.
pub(in crate::cpu::vectorize) fn check<'c>(
    plan: &Plan<'c>,
    size: &dyn Fn(Type<'c>) -> u64,
) -> Result<(), ScalarReason> {
    // Across barriers it is no stack memory, but that of the launch.
    if plan.lanes > 1 && plan.regions.len() == 1 {
        stack(plan, size)?;
    }
    for (node, block) in plan.flow.blocks.iter().enumerate() {
        for instruction in block.instructions() {
            general(plan, node, instruction)?;
            if plan.lanes > 1 && !plan.flow.panics[node] {
                wide(instruction)?;
            }
        }
    }
    Ok(())
}

fn stack<'c>(plan: &Plan<'c>, size: &dyn Fn(Type<'c>) -> u64) -> Result<(), ScalarReason> {
    let all = plan.function.instructions().into_iter();
    let memory = all.filter(|instruction| instruction.opcode() == Opcode::Alloca);
    let bytes = memory.map(|alloca| size(alloca.allocated_type())).fold(0, u64::saturating_add);
    if bytes.saturating_mul(u64::from(plan.lanes)) > STACK_OF_VECTOR {
        return Err(ScalarReason::LargeStackMemory { bytes, limit: STACK_OF_VECTOR });
    }
    Ok(())
}

fn general(plan: &Plan<'_>, node: usize, instruction: Value<'_>) -> Result<(), ScalarReason> {
    use Opcode::*;
    match instruction.opcode() {
        Invoke | CallBr | IndirectBr | Resume | LandingPad => {
            Err(ScalarReason::UnstructuredControlFlow)
        }
        Alloca if node != 0 || instruction.operand(0).as_u64() != Some(1) => {
            Err(ScalarReason::DynamicStackMemory)
        }
        // Blocks after panics are built once for all vectors, so loops there have no phis apart.
        Switch if plan.lanes > 1 && !plan.flow.panics[node] => Err(ScalarReason::Switch),
        _ if instruction.ty().kind() == TypeKind::Token => Err(ScalarReason::Tokens),
        _ => Ok(()),
    }
}

fn wide(instruction: Value<'_>) -> Result<(), ScalarReason> {
    use Opcode::*;
    const TYPE: ScalarReason = ScalarReason::UnsupportedType;
    let ty = instruction.ty();
    let void = ty.kind() == TypeKind::Void;
    let scalars =
        |value: Value<'_>| value.operands().into_iter().all(|o| o.is_block() || is_leaf(o.ty()));
    match instruction.opcode() {
        Alloca | Ret | Br | CondBr | Unreachable | Fence => Ok(()),
        Load if is_memory(instruction) => Ok(()),
        Store if is_memory(instruction.operand(0)) && !is_thread_local(instruction) => Ok(()),
        Store if is_thread_local(instruction) => Err(ScalarReason::OutlinedCall),
        Load | Store => Err(TYPE),
        AtomicRmw if scalars(instruction) => Ok(()),
        AtomicCmpXchg if scalars(instruction) => Ok(()),
        Phi | Select | ExtractValue | InsertValue if is_wide(ty) => Ok(()),
        GetElementPtr => Ok(()),
        Freeze if is_leaf(ty) => Ok(()),
        Call if is_barrier(instruction) || is_dropped(instruction) => Ok(()),
        Call if is_pure_intrinsic(instruction).is_some() && is_wide(ty) => Ok(()),
        Call if (void || is_leaf(ty)) && arguments_are_scalars(instruction) => Ok(()),
        FNeg | ICmp | FCmp | Trunc | ZExt | SExt | FPToUI | FPToSI | UIToFP | SIToFP | FPTrunc
        | FPExt | PtrToInt | IntToPtr | BitCast | Add | FAdd | Sub | FSub | Mul | FMul | UDiv
        | SDiv | FDiv | URem | SRem | FRem | Shl | LShr | AShr | And | Or | Xor
            if scalars(instruction) && is_leaf(ty) =>
        {
            Ok(())
        }
        _ => Err(TYPE),
    }
}

/// Whether values of this type can be read and written by lanes.
fn is_memory(value: Value<'_>) -> bool {
    let ty = value.ty();
    is_leaf(ty) && ty.int_width().is_none_or(|bits| bits >= 8 && bits.is_power_of_two())
}

/// Whether a store saves the context for functions that are not inlined.
fn is_thread_local(store: Value<'_>) -> bool {
    let pointer = store.operand(1);
    let is = |value: Value<'_>| value.is_constant() && value.is_thread_local();
    is(pointer)
        || ((pointer.is_constant_expression()
            || (pointer.is_instruction() && pointer.opcode() == Opcode::GetElementPtr))
            && pointer.operands().first().is_some_and(|base| is(*base)))
}

fn arguments_are_scalars(call: Value<'_>) -> bool {
    call.arguments().into_iter().all(|argument| is_leaf(argument.ty()))
}
