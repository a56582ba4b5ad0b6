//! Division of integers on all lanes. Processors have it for one at a time, and LLVM would take vectors apart for it.
//!
//! Quotients of integers of 32 bits are those of doubles, rounded towards zero. That is exact: with `k` the integer above
//! a quotient `a / b` that is none, the two are `1 / b` apart at least, and as `k * b <= 2^32`, that is more than `k *
//! 2^-32`, where numbers next to `k` are `k * 2^-53` apart; so the rounded quotient is below `k` too. The same holds for
//! 16 bits in floats.
//!
//! Integers of 64 bits are mostly indices, which are small: where both are below 2^31 in all lanes they are divided as
//! integers of 32 bits, and else one by one.

use kernelmill_llvm::ir::{Builder, IntPredicate, Opcode, Type, Value};

use super::{super::layout::vector_value::Vectors, values::Values};

impl<'c> Values<'_, 'c> {
    /// The quotients of two vectors, or the remainders. Other widths, and divisors that are known, are LLVM's.
    pub(super) fn divide(
        &mut self,
        instruction: Value<'c>,
        left: Value<'c>,
        right: Value<'c>,
    ) -> Value<'c> {
        let (opcode, ty) = (instruction.opcode(), instruction.ty());
        let bits = ty.int_width().filter(|_| !instruction.operand(1).is_constant());
        match bits {
            Some(8 | 16 | 32) => {
                by_floats(&self.code.builder, self.code.vectors, opcode, [left, right])
            }
            Some(64) => self.divide_wide(opcode, left, right),
            _ => self.code.builder.binary(opcode, left, right),
        }
    }

    fn divide_wide(&mut self, opcode: Opcode, left: Value<'c>, right: Value<'c>) -> Value<'c> {
        let (vectors, wide) = (self.code.vectors, left.ty());
        let code = &mut self.code;
        let limit = Type::int(vectors.context, 64).constant(1 << 31);
        let limit = Value::constant_vector(&vec![limit; vectors.lanes as usize]);
        let both = code.builder.binary(Opcode::Or, left, right);
        let small = code.builder.compare(IntPredicate::Ult, both, limit);
        // Lanes that are not there have anything.
        let small = vectors.bits(&code.builder, code.builder.freeze(small));
        let every = code.builder.compare(IntPredicate::Eq, small, small.ty().constant(u64::MAX));
        let slot = code.slots.alloca(wide);
        // The sign bit of 32 bits is zero, and signed numbers are what processors turn into doubles.
        let signed = match opcode {
            Opcode::UDiv => Opcode::SDiv,
            Opcode::URem => Opcode::SRem,
            other => other,
        };
        code.either(
            every,
            |code| {
                let short = Type::int(vectors.context, 32).vector(vectors.lanes);
                let [left, right] = [left, right].map(|it| code.builder.truncate(it, short));
                let result = by_floats(&code.builder, vectors, signed, [left, right]);
                code.builder.store(code.builder.zero_extend(result, wide), slot);
            },
            |code| {
                code.builder.store(code.builder.binary(opcode, left, right), slot);
            },
        );
        code.builder.load(wide, slot)
    }
}

/// The quotients or remainders of vectors of integers of up to 32 bits.
fn by_floats<'c>(
    builder: &Builder<'c>,
    vectors: Vectors<'c>,
    opcode: Opcode,
    [left, right]: [Value<'c>; 2],
) -> Value<'c> {
    let wide = left.ty();
    let is_int = wide.element().is_int(32);
    let float = if is_int { Type::double(vectors.context) } else { Type::float(vectors.context) };
    let is_signed = matches!(opcode, Opcode::SDiv | Opcode::SRem);
    let (to, from) = match is_signed {
        true => (Opcode::SIToFP, Opcode::FPToSI),
        false => (Opcode::UIToFP, Opcode::FPToUI),
    };
    let float = vectors.widen(float);
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
