//! Division of the lanes of a vector by a number that all of them share: it is inverted once, and each lane is multiplied, in
//! doubles. Integers of 64 bits are taken for doubles where all lanes are below 2^50, as indices are.
//!
//! The quotient, rounded towards zero, is exact for `|a| < 2^50`. With `e = 2^-53`, the bound of a rounding, `1 / b` is at least
//! `(1 - e) / b` as a double, and times `1 + 4e`, rounded, and times `a`, rounded, it is at least `(1 - e)^3 (1 + 4e) a / b`, which
//! is more than `a / b`. It is at most `(1 + e)^3 (1 + 4e) a / b`, and so less than `(1 + 8e) a / b`. The integer above `a / b` is
//! `1 / b` away or more, and `8e a / b` is less than that. A divisor of more than 53 bits is rounded, and its quotients are 0 either
//! way. Signs change nothing of this.
//!
//! After [Granlund and Montgomery](https://doi.org/10.1145/178243.178249), who multiply integers: vectors have no product of
//! integers of 64 bits with its high half, and products of doubles are as fast as sums.

use kernelmill_llvm::ir::{ModuleExt, Opcode, Type, Value};

use super::code::Code;

/// Integers below this are divided in doubles.
pub(super) const LIMIT: u64 = 1 << 50;

/// `1.5 * 2^52`: doubles around it are integers, one after the other, and so are their bits.
const MIDDLE: f64 = 6_755_399_441_055_744.0;

/// A divisor that all lanes share.
#[derive(Clone, Copy)]
pub(super) struct Reciprocal<'c> {
    opcode: Opcode,
    /// The divisor, as it is and as a double.
    by: Value<'c>,
    double: Value<'c>,
    /// A little more than its inverse.
    inverse: Value<'c>,
}

impl<'c> Reciprocal<'c> {
    pub(super) fn new(code: &Code<'_, 'c>, opcode: Opcode, by: Value<'c>) -> Self {
        let (builder, float) = (&code.builder, Type::double(code.vectors.context));
        let (to, _) = casts(opcode);
        let double = builder.cast(to, by, float);
        let inverse = builder.binary(Opcode::FDiv, float.float_constant(1.0), double);
        let more = float.float_constant(1.0 + f64::EPSILON * 2.0);
        Self { opcode, by, double, inverse: builder.binary(Opcode::FMul, inverse, more) }
    }

    /// The quotients or remainders of integers of 32 bits.
    pub(super) fn divide_words(&self, code: &Code<'_, 'c>, left: Value<'c>) -> Value<'c> {
        let (builder, vectors) = (&code.builder, code.vectors);
        let (to, from) = casts(self.opcode);
        let dividend = builder.cast(to, left, vectors.widen(Type::double(vectors.context)));
        let inverse = vectors.splat(builder, self.inverse);
        let quotient = builder.binary(Opcode::FMul, dividend, inverse);
        // What a division by zero gives is another number each time, and never one that ends the program.
        let quotient = builder.freeze(builder.cast(from, quotient, left.ty()));
        if is_quotient(self.opcode) {
            return quotient;
        }
        let product = builder.multiply(quotient, vectors.splat(builder, self.by));
        builder.binary(Opcode::Sub, left, product)
    }

    /// The quotient of one lane, of which those of 64 bits are right from 0 up to [`LIMIT`].
    pub(super) fn divide_first(&self, code: &Code<'_, 'c>, left: Value<'c>) -> Value<'c> {
        let builder = &code.builder;
        let is_wide = left.ty() == Type::int(code.vectors.context, 64);
        // Signed numbers are what processors turn into doubles.
        let (to, from) = casts(if is_wide { Opcode::SDiv } else { self.opcode });
        let dividend = builder.cast(to, left, self.double.ty());
        let quotient = builder.binary(Opcode::FMul, dividend, self.inverse);
        // That of others, and by zero, is another number each time.
        builder.freeze(builder.cast(from, quotient, left.ty()))
    }

    /// The same of integers of 64 bits that are small.
    pub(super) fn divide_small(&self, code: &Code<'_, 'c>, left: Value<'c>) -> Value<'c> {
        let (builder, vectors) = (&code.builder, code.vectors);
        let float = vectors.widen(Type::double(vectors.context));
        let (middle, bits) = (float.float_constant(MIDDLE), every(left.ty(), MIDDLE.to_bits()));
        let dividend = builder.cast(Opcode::BitCast, builder.add(left, bits), float);
        let dividend = builder.binary(Opcode::FSub, dividend, middle);
        let inverse = vectors.splat(builder, self.inverse);
        let quotient = builder.binary(Opcode::FMul, dividend, inverse);
        let truncate = code.unit.module.intrinsic("llvm.trunc", &[float]);
        let mut result = builder.call(truncate, &[quotient]);
        if !is_quotient(self.opcode) {
            // Both are integers of less than 53 bits.
            let by = vectors.splat(builder, self.double);
            let product = builder.binary(Opcode::FMul, result, by);
            result = builder.binary(Opcode::FSub, dividend, product);
        }
        let result = builder.binary(Opcode::FAdd, result, middle);
        let result = builder.cast(Opcode::BitCast, result, left.ty());
        builder.binary(Opcode::Sub, result, bits)
    }
}

/// An integer in every lane of a type.
pub(super) fn every(ty: Type<'_>, number: u64) -> Value<'_> {
    let lanes = ty.lanes().expect("it is a vector");
    Value::constant_vector(&vec![ty.element().constant(number); lanes as usize])
}

/// Whether a division is of signed integers.
pub(super) fn is_signed(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::SDiv | Opcode::SRem)
}

/// Whether a division is for its quotient.
pub(super) fn is_quotient(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::UDiv | Opcode::SDiv)
}

/// From an integer to a double and back.
fn casts(opcode: Opcode) -> (Opcode, Opcode) {
    match opcode {
        Opcode::SDiv | Opcode::SRem => (Opcode::SIToFP, Opcode::FPToSI),
        _ => (Opcode::UIToFP, Opcode::FPToUI),
    }
}
