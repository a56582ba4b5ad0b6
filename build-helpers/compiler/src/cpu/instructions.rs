//! Properties of LLVM's instructions, blocks and types that several passes ask for.

use kernelmill_llvm::ir::{Block, Builder, IntPredicate, Opcode, Type, TypeKind, Value};

use super::{
    context::{AtBarrier, at_barrier, is_barrier, reports_panic},
    uniformity::is_pure_intrinsic,
};

/// The phis at the start of a block.
pub(super) fn phis<'c>(instructions: Vec<Value<'c>>) -> impl Iterator<Item = Value<'c>> {
    instructions.into_iter().take_while(|instruction| instruction.opcode() == Opcode::Phi)
}

/// Intrinsics that only tell LLVM something.
pub(super) fn is_dropped(call: Value<'_>) -> bool {
    call.called_function().is_some_and(|callee| {
        let name = callee.name();
        ["llvm.assume", "llvm.lifetime.", "llvm.experimental.noalias", "llvm.dbg."]
            .iter()
            .any(|start| name.starts_with(start))
    })
}

/// Whether a call only asks for memory to be fetched.
pub(super) fn is_prefetch(call: Value<'_>) -> bool {
    call.called_function().is_some_and(|callee| callee.name().starts_with("llvm.prefetch."))
}

/// Whether a block ends at a barrier.
pub(super) fn ends_at_barrier(block: Block<'_>) -> bool {
    block.instructions().iter().any(|call| is_barrier(*call))
}

/// What happens at the barrier that a block ends at.
pub(super) fn at_end(block: Block<'_>) -> AtBarrier {
    let marks = block.instructions().into_iter().find(|call| is_barrier(*call));
    marks.map_or(AtBarrier::Nothing, at_barrier)
}

/// Whether a block writes down a panic.
pub(super) fn writes_panic(block: Block<'_>) -> bool {
    block.instructions().into_iter().any(|call| call.is_call() && reports_panic(call))
}

/// Whether an instruction only computes a number or an address, whatever its operands are.
pub(super) fn is_harmless(value: Value<'_>) -> bool {
    use Opcode::*;
    let ty = value.ty();
    let is_whole = ty.kind() == TypeKind::Integer || ty.is_pointer();
    if !is_whole || !is_leaf(ty) {
        return false;
    }
    match value.opcode() {
        Add | Sub | Mul | Shl | LShr | AShr | And | Or | Xor | ZExt | SExt | Trunc | ICmp
        | Select | GetElementPtr => true,
        UDiv | URem => value.operand(1).as_u64().is_some_and(|by| by != 0),
        _ => false,
    }
}

/// Whether an instruction does what others can see, or may see what others do.
pub(super) fn changes_memory(instruction: Value<'_>) -> bool {
    match instruction.opcode() {
        Opcode::Store => {
            let mut pointer = instruction.operand(1);
            while pointer.is_instruction() && pointer.opcode() == Opcode::GetElementPtr {
                pointer = pointer.operand(0);
            }
            let is_own = pointer.is_instruction() && pointer.opcode() == Opcode::Alloca;
            !is_own || instruction.is_exact_access()
        }
        Opcode::Load => instruction.is_exact_access(),
        Opcode::AtomicRmw | Opcode::AtomicCmpXchg | Opcode::Fence => true,
        Opcode::Call => is_pure_intrinsic(instruction).is_none() && !is_dropped(instruction),
        _ => false,
    }
}

/// Whether an instruction in a loop may wait for what another thread does. An atomic operation of which it never
/// sees the result makes nothing wait.
pub(super) fn waits_for_memory(instruction: Value<'_>) -> bool {
    match instruction.opcode() {
        Opcode::AtomicRmw => instruction.is_used(),
        Opcode::AtomicCmpXchg | Opcode::Fence => true,
        Opcode::Load | Opcode::Store => instruction.is_exact_access(),
        _ => false,
    }
}

/// An unsigned number, as a type of another width.
pub(super) fn resize<'c>(builder: &Builder<'c>, value: Value<'c>, ty: Type<'c>) -> Value<'c> {
    match value.ty().int_width().cmp(&ty.int_width()) {
        std::cmp::Ordering::Less => builder.zero_extend(value, ty),
        std::cmp::Ordering::Equal => value,
        std::cmp::Ordering::Greater => builder.truncate(value, ty),
    }
}

/// Whether values of the type can be lanes of a vector.
pub(super) fn is_leaf(ty: Type<'_>) -> bool {
    use TypeKind::*;
    match ty.kind() {
        Integer => ty.int_width().is_some_and(|bits| bits <= 64),
        Half | BFloat | Float | Double | Pointer => true,
        _ => false,
    }
}

/// Whether values of the type can be held for every lane.
pub(super) fn is_wide(ty: Type<'_>) -> bool {
    match ty.kind() {
        TypeKind::Struct => ty.fields().into_iter().all(is_wide),
        _ => is_leaf(ty),
    }
}

pub(super) fn swapped(predicate: IntPredicate) -> IntPredicate {
    use IntPredicate::*;
    match predicate {
        Eq | Ne | Unknown(_) => predicate,
        Ugt => Ult,
        Uge => Ule,
        Ult => Ugt,
        Ule => Uge,
        Sgt => Slt,
        Sge => Sle,
        Slt => Sgt,
        Sle => Sge,
    }
}

/// The comparison that holds where another does not.
pub(super) fn inverse(predicate: IntPredicate) -> IntPredicate {
    use IntPredicate::*;
    match predicate {
        Eq => Ne,
        Ne => Eq,
        Ugt => Ule,
        Uge => Ult,
        Ult => Uge,
        Ule => Ugt,
        Sgt => Sle,
        Sge => Slt,
        Slt => Sge,
        Sle => Sgt,
        Unknown(_) => unreachable!("modules with unknown predicates are refused"),
    }
}
