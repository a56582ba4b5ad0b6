//! Divisions that threads come to which have left, where the others have panicked before: processors stop the program at
//! those without a result.

use kernelmill_llvm::ir::{Builder, IntPredicate, Opcode, Value};

/// Divides by 1 in place of 0, and the least number in place of by -1. Where a division has a result it stays what it is, so
/// that all threads compute the same numbers of iterations.
pub(super) fn guard(builder: &Builder<'_>, value: Value<'_>) {
    let is_signed = [Opcode::SDiv, Opcode::SRem].contains(&value.opcode());
    if !is_signed && ![Opcode::UDiv, Opcode::URem].contains(&value.opcode()) {
        return;
    }
    let (dividend, divisor) = (value.operand(0), value.operand(1));
    let Some(bits) = divisor.ty().int_width().filter(|bits| *bits <= 64) else { return };
    let (known, ones) = (divisor.as_u64(), u64::MAX >> (64 - bits));
    let number = |it: u64| divisor.ty().constant(it);
    let mut guarded = divisor;
    builder.before(value);
    if known.is_none() {
        let is_zero = builder.compare(IntPredicate::Eq, divisor, number(0));
        guarded = builder.select(is_zero, number(1), guarded);
    }
    if is_signed && known.is_none_or(|it| it == ones) {
        let is_least = builder.compare(IntPredicate::Eq, dividend, number(1 << (bits - 1)));
        let is_inverse = builder.compare(IntPredicate::Eq, divisor, number(ones));
        guarded = builder.select(builder.and(is_least, is_inverse), number(1), guarded);
    }
    value.set_operand(1, guarded);
}
