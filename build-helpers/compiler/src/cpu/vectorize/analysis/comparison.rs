//! Integer comparisons of a strided number with a limit.

use kernelmill_llvm::ir::{IntPredicate, Opcode, Value};

use crate::cpu::instructions::{inverse, swapped};

/// A comparison with the number that grows on the left.
#[derive(Clone, Copy, PartialEq)]
pub(in crate::cpu::vectorize) struct Comparison<'c> {
    pub(in crate::cpu::vectorize) number: Value<'c>,
    pub(in crate::cpu::vectorize) predicate: IntPredicate,
    pub(in crate::cpu::vectorize) limit: Value<'c>,
}

impl<'c> Comparison<'c> {
    /// An instruction as a comparison of its only operand that `grows`.
    pub(in crate::cpu::vectorize) fn of(
        compare: Value<'c>,
        grows: impl Fn(Value<'c>) -> bool,
    ) -> Option<Self> {
        if !compare.is_instruction() || compare.opcode() != Opcode::ICmp {
            return None;
        }
        let (left, right) = (compare.operand(0), compare.operand(1));
        let predicate = compare.int_predicate();
        match (grows(left), grows(right)) {
            (true, false) => Some(Self { number: left, predicate, limit: right }),
            (false, true) => {
                Some(Self { number: right, predicate: swapped(predicate), limit: left })
            }
            _ => None,
        }
    }

    /// The comparison that holds where this one does not.
    pub(in crate::cpu::vectorize) fn inverse(self) -> Self {
        Self { predicate: inverse(self.predicate), ..self }
    }
}

/// The number without the constants that are added to it, and their sum.
pub(in crate::cpu::vectorize) fn root(value: Value<'_>) -> (Value<'_>, i64) {
    let (mut value, mut offset) = (value, 0_i64);
    while value.is_instruction() {
        let is_sum = match value.opcode() {
            Opcode::Add => true,
            Opcode::Or => value.is_disjoint(),
            _ => false,
        };
        let constant = value.operands().get(1).and_then(|it| it.as_u64());
        let (true, Some(constant), Some(bits)) = (is_sum, constant, value.ty().int_width()) else {
            break;
        };
        let shift = 64 - bits.min(64);
        offset = offset.wrapping_add(((constant << shift) as i64) >> shift);
        value = value.operand(0);
    }
    (value, offset)
}
