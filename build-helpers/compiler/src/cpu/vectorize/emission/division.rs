//! Division of integers on all lanes. Processors have it for one at a time, and LLVM would take vectors apart for it.
//!
//! Quotients of integers of 32 bits are those of doubles, rounded towards zero. That is exact: with `k` the integer above
//! a quotient `a / b` that is none, the two are `1 / b` apart at least, and as `k * b <= 2^32`, that is more than `k *
//! 2^-32`, where numbers next to `k` are `k * 2^-53` apart; so the rounded quotient is below `k` too. The same holds for
//! 16 bits in floats.
//!
//! Integers of 64 bits are mostly indices, which are small: where both are below 2^31 in all lanes they are divided as
//! integers of 32 bits, and else one by one.
//!
//! A divisor that all lanes share is inverted once, and lanes multiply ([`reciprocal`](super::reciprocal)).

use kernelmill_llvm::ir::{Builder, IntPredicate, Opcode, Type, Value};

use super::{
    super::layout::vector_value::Vectors,
    code::{Code, Mask},
    reciprocal::{LIMIT, Reciprocal, every},
    values::Values,
};

/// The operands of a division or a remainder.
#[derive(Clone, Copy)]
struct Division<'c> {
    opcode: Opcode,
    left: Value<'c>,
    right: Value<'c>,
    mask: Mask<'c>,
}

impl<'c> Values<'_, 'c> {
    /// The quotients of two vectors, or the remainders. Other widths, and divisors that are known, are LLVM's.
    pub(super) fn divide(
        &mut self,
        block: usize,
        instruction: Value<'c>,
        mask: Mask<'c>,
    ) -> Value<'c> {
        let (opcode, ty) = (instruction.opcode(), instruction.ty());
        let left = self.wide(instruction.operand(0), block);
        let right = self.wide(instruction.operand(1), block);
        let shared = Some(self.read(instruction.operand(1), block)).filter(|it| it.is_uniform());
        let division = Division { opcode, left, right, mask };
        let bits = ty.int_width().filter(|_| !instruction.operand(1).is_constant());
        match (bits, shared) {
            (Some(32), Some(by)) => {
                let by = Reciprocal::new(&self.code, opcode, by.once());
                by.divide_words(&self.code, left)
            }
            (Some(64), Some(by)) => self.code.divide_by_shared(division, by.once()),
            (Some(8 | 16 | 32), None) => {
                let right = division.divisors(&self.code.builder);
                by_floats(&self.code.builder, self.code.vectors, opcode, [left, right])
            }
            (Some(64), None) => self.divide_wide(division),
            _ => division.as_it_is(&self.code.builder),
        }
    }

    fn divide_wide(&mut self, division: Division<'c>) -> Value<'c> {
        let Division { opcode, left, .. } = division;
        let (vectors, wide) = (self.code.vectors, left.ty());
        let code = &mut self.code;
        let right = division.divisors(&code.builder);
        let both = code.builder.binary(Opcode::Or, left, right);
        let small = code.builder.compare(IntPredicate::Ult, both, every(wide, 1 << 31));
        // Lanes that are not there have anything.
        let small = vectors.bits(&code.builder, code.builder.freeze(small));
        let are_all = code.builder.compare(IntPredicate::Eq, small, small.ty().constant(u64::MAX));
        let slot = code.slots.alloca(wide);
        // The sign bit of 32 bits is zero, and signed numbers are what processors turn into doubles.
        let signed = match opcode {
            Opcode::UDiv => Opcode::SDiv,
            Opcode::URem => Opcode::SRem,
            other => other,
        };
        code.either(
            are_all,
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

impl<'c> Code<'_, 'c> {
    /// The quotients or remainders of integers of 64 bits by one that all lanes share.
    fn divide_by_shared(&mut self, division: Division<'c>, by: Value<'c>) -> Value<'c> {
        let Division { opcode, left, mask, .. } = division;
        let (vectors, wide) = (self.vectors, left.ty());
        let (number, limit) = match opcode {
            Opcode::SDiv | Opcode::SRem => {
                (self.builder.add(left, every(wide, LIMIT - 1)), 2 * LIMIT - 1)
            }
            _ => (left, LIMIT),
        };
        let large = self.builder.compare(IntPredicate::Uge, number, every(wide, limit));
        // Lanes that are not there have anything.
        let large = self.builder.freeze(large);
        let large = mask.map_or(large, |mask| self.builder.and(large, mask));
        let large = vectors.any(&self.builder, large);
        let slot = self.slots.alloca(wide);
        self.either(
            large,
            |code| {
                code.builder.store(division.as_it_is(&code.builder), slot);
            },
            |code| {
                let by = Reciprocal::new(code, opcode, by);
                code.builder.store(by.divide_small(code, left), slot);
            },
        );
        self.builder.load(wide, slot)
    }
}

impl<'c> Division<'c> {
    /// The divisors, by which lanes that are not there must not divide.
    fn divisors(&self, builder: &Builder<'c>) -> Value<'c> {
        let Some(mask) = self.mask else { return self.right };
        builder.select(mask, self.right, every(self.right.ty(), 1))
    }

    /// The division of vectors, which LLVM takes apart.
    fn as_it_is(&self, builder: &Builder<'c>) -> Value<'c> {
        builder.binary(self.opcode, self.left, self.divisors(builder))
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
