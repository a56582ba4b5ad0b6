//! Atomic operations on memory (`atomicrmw`): what each of them does, and which of them can be merged.
//!
//! Relaxed operations whose results nobody uses, on the same memory and with no access to other memory between them, may be
//! one: an execution in which no other thread comes between them is among those that are allowed, and it looks the same
//! ([N4455](https://wg21.link/n4455), [P0062](https://wg21.link/p0062)). It holds for those of one thread in a row, and
//! for those of several threads that none of the threads orders after anything else. Others may see them later than they
//! would have, so that there must be an end to what is merged: a loop that may never end keeps its own.

use kernelmill_llvm::ir::{
    AtomicOperation, AtomicOrdering, Builder, IntPredicate, Opcode, TypeKind, Value,
};

use super::instructions::is_leaf;

/// What becomes of the value in memory and the given one.
#[derive(Clone, Copy)]
pub(super) enum Combine {
    By(Opcode),
    /// The one in memory where it compares so.
    Choose(IntPredicate),
    Replace,
}

impl Combine {
    /// What an operation does, of those that are often used.
    pub(super) fn of(operation: AtomicOperation) -> Option<Self> {
        use AtomicOperation::*;
        Some(match operation {
            Add => Self::By(Opcode::Add),
            Sub => Self::By(Opcode::Sub),
            And => Self::By(Opcode::And),
            Or => Self::By(Opcode::Or),
            Xor => Self::By(Opcode::Xor),
            FAdd => Self::By(Opcode::FAdd),
            Max => Self::Choose(IntPredicate::Sgt),
            Min => Self::Choose(IntPredicate::Slt),
            UMax => Self::Choose(IntPredicate::Ugt),
            UMin => Self::Choose(IntPredicate::Ult),
            Xchg => Self::Replace,
            _ => return None,
        })
    }

    /// The value that is in memory after it.
    pub(super) fn apply<'c>(
        self,
        builder: &Builder<'c>,
        old: Value<'c>,
        value: Value<'c>,
    ) -> Value<'c> {
        match self {
            Self::By(opcode) => builder.binary(opcode, old, value),
            Self::Choose(predicate) => {
                let keeps = builder.compare(predicate, old, value);
                builder.select(keeps, old, value)
            }
            Self::Replace => value,
        }
    }
}

/// An atomic operation of integers that can be merged with others of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mergeable {
    operation: AtomicOperation,
    bits: u32,
    /// Whether the processor's other threads are no part of it.
    is_of_one_thread: bool,
}

impl Mergeable {
    /// The kind of an instruction; `None` where it is no such operation. Operations of floating-point numbers are none: their
    /// sums are others in another order.
    pub(super) fn of(instruction: Value<'_>) -> Option<Self> {
        use AtomicOperation::*;
        let operation = instruction.atomic_operation()?;
        let ty = instruction.ty();
        let is_one = matches!(operation, Add | Sub | And | Or | Xor | Max | Min | UMax | UMin)
            && instruction.ordering() == AtomicOrdering::Monotonic
            && !instruction.is_used();
        let is_number = ty.kind() == TypeKind::Integer && is_leaf(ty);
        let bits = ty.int_width().filter(|_| is_one && is_number)?;
        Some(Self { operation, bits, is_of_one_thread: instruction.is_of_one_thread() })
    }

    /// The operand that changes nothing.
    pub(super) fn identity(self) -> u64 {
        use AtomicOperation::*;
        let (all, sign) = (u64::MAX >> (64 - self.bits), 1 << (self.bits - 1));
        match self.operation {
            And | UMin => all,
            Max => sign,
            Min => all ^ sign,
            _ => 0,
        }
    }

    /// The operand of one operation that does what those with these two do.
    pub(super) fn join<'c>(
        self,
        builder: &Builder<'c>,
        left: Value<'c>,
        right: Value<'c>,
    ) -> Value<'c> {
        let combine = match self.operation {
            // Both are taken away.
            AtomicOperation::Sub => Combine::By(Opcode::Add),
            operation => Combine::of(operation).expect("it is one that can be merged"),
        };
        combine.apply(builder, left, right)
    }

    /// The intrinsic that joins the lanes of a vector.
    pub(super) fn reduction(self) -> &'static str {
        use AtomicOperation::*;
        match self.operation {
            And => "llvm.vector.reduce.and",
            Or => "llvm.vector.reduce.or",
            Xor => "llvm.vector.reduce.xor",
            Max => "llvm.vector.reduce.smax",
            Min => "llvm.vector.reduce.smin",
            UMax => "llvm.vector.reduce.umax",
            UMin => "llvm.vector.reduce.umin",
            _ => "llvm.vector.reduce.add",
        }
    }

    /// What so many operations with one operand do to it.
    pub(super) fn repeated<'c>(
        self,
        builder: &Builder<'c>,
        value: Value<'c>,
        count: Value<'c>,
    ) -> Value<'c> {
        use AtomicOperation::*;
        let times = match self.operation {
            Add | Sub => count,
            // Two of them do nothing.
            Xor => builder.and(count, count.ty().constant(1)),
            _ => return value,
        };
        builder.multiply(value, times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What nothing is joined with stays.
    #[test]
    fn identities_change_nothing() {
        use AtomicOperation::*;
        let of =
            |operation, bits| Mergeable { operation, bits, is_of_one_thread: false }.identity();
        for bits in [8, 16, 32, 64] {
            let all = u64::MAX >> (64 - bits);
            for operation in [Add, Sub, Or, Xor, UMax] {
                assert_eq!(of(operation, bits), 0, "{operation:?}");
            }
            assert_eq!([of(And, bits), of(UMin, bits)], [all; 2]);
            assert_eq!([of(Min, bits), of(Max, bits)], [all >> 1, !(all >> 1) & all]);
        }
    }
}
