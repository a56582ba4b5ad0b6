//! Sign extensions that LLVM writes as two shifts, such as that of `index as i32 as usize`.
//!
//! Needs: simplified kernels. Guarantees: such an extension is a truncation and an extension, whose strides are known.

use kernelmill_llvm::ir::{Builder, Opcode, Type, Value};

use crate::passes::entry::Unit;

/// The numbers that are extended.
const NARROW: [u64; 2] = [16, 32];

/// Writes `(x << 32) >> 28` of signed numbers of 64 bits as the extension of the lower half, times 16.
pub(super) fn restore(unit: &Unit<'_, '_>, kernel: Value<'_>) -> u64 {
    let mut count = 0;
    for shifted in kernel.instructions() {
        let Some((number, left, right)) = shifts(shifted) else { continue };
        let wide = shifted.ty();
        let narrow = u64::from(wide.int_width().unwrap_or(0)) - left;
        let builder = Builder::new(unit.context);
        builder.before(shifted);
        let low = builder.truncate(number, Type::int(unit.context, narrow as u32));
        let extended = builder.cast(Opcode::SExt, low, wide);
        let result = match left - right {
            0 => extended,
            more => builder.binary(Opcode::Shl, extended, wide.constant(more)),
        };
        shifted.replace_with(result);
        shifted.erase();
        count += 1;
    }
    count
}

/// A number, by how much it is shifted to the left, and then back.
fn shifts(value: Value<'_>) -> Option<(Value<'_>, u64, u64)> {
    let is = |value: Value<'_>, opcode| value.is_instruction() && value.opcode() == opcode;
    if !is(value, Opcode::AShr) || value.ty().int_width() != Some(64) {
        return None;
    }
    let inner = value.operand(0);
    if !is(inner, Opcode::Shl) {
        return None;
    }
    let (left, right) = (inner.operand(1).as_u64()?, value.operand(1).as_u64()?);
    (right <= left && left < 64 && NARROW.contains(&(64 - left)))
        .then(|| (inner.operand(0), left, right))
}
