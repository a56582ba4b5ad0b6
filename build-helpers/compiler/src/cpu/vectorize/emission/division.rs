//! Division of integers on all lanes. Processors have it for one at a time, and LLVM would take vectors apart for it.
//!
//! Quotients of integers of 32 bits are those of doubles, rounded towards zero. That is exact: with `k` the integer above
//! a quotient `a / b` that is none, the two are `1 / b` apart at least, and as `k * b <= 2^32`, that is more than `k *
//! 2^-32`, where numbers next to `k` are `k * 2^-53` apart; so the rounded quotient is below `k` too. The same holds for
//! 16 bits in floats.

use kernelmill_llvm::ir::{Opcode, Type, Value};

use super::values::Values;

impl<'c> Values<'_, 'c> {
    /// The quotients of two vectors, or the remainders. Other widths, and divisors that are known, are LLVM's.
    pub(super) fn divide(
        &mut self,
        instruction: Value<'c>,
        left: Value<'c>,
        right: Value<'c>,
    ) -> Value<'c> {
        let (opcode, ty, context) =
            (instruction.opcode(), instruction.ty(), self.code.unit.context);
        let float = match () {
            () if instruction.operand(1).is_constant() => None,
            () if ty.is_int(32) => Some(Type::double(context)),
            () if ty.is_int(16) || ty.is_int(8) => Some(Type::float(context)),
            () => None,
        };
        let Some(float) = float else { return self.code.builder.binary(opcode, left, right) };
        let is_signed = matches!(opcode, Opcode::SDiv | Opcode::SRem);
        let (to, from) = match is_signed {
            true => (Opcode::SIToFP, Opcode::FPToSI),
            false => (Opcode::UIToFP, Opcode::FPToUI),
        };
        let (wide, float) = (left.ty(), self.code.vectors.widen(float));
        let builder = &self.code.builder;
        let [dividend, divisor] = [left, right].map(|it| builder.cast(to, it, float));
        let quotient = builder.cast(from, builder.binary(Opcode::FDiv, dividend, divisor), wide);
        // What a division by zero gives is another number each time, and never one that ends the program.
        let quotient = builder.freeze(quotient);
        if matches!(opcode, Opcode::UDiv | Opcode::SDiv) {
            return quotient;
        }
        let product = builder.binary(Opcode::Mul, quotient, right);
        builder.binary(Opcode::Sub, left, product)
    }
}
