//! `cvt` between all types.

use super::exact::{self, BF16, E5M2, Exact, F16, F32, F64, Format, Number, Rounding, TF32};
use super::flags::Flags;
use crate::ptx::Type;

/// The format of a floating-point type.
pub(crate) fn format(ty: Type) -> Option<Format> {
    Some(match ty {
        Type::F16 => F16,
        Type::Bf16 => BF16,
        Type::Tf32 => TF32,
        Type::F32 => F32,
        Type::F64 => F64,
        _ => return None,
    })
}

/// Sign- or zero-extends the low bits of a register.
fn integer(register: u64, ty: Type) -> i128 {
    let unused = 64 - ty.bits();
    if ty.is_signed() {
        i128::from((register << unused) as i64 >> unused)
    } else {
        i128::from(register << unused >> unused)
    }
}

fn limits(ty: Type) -> (i128, i128) {
    let bits = ty.bits();
    if ty.is_signed() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

/// Integer to integer; signed results are sign-extended to `width` bits, the destination's.
pub(crate) fn integer_to_integer(a: u64, to: Type, from: Type, flags: Flags, width: u32) -> u64 {
    let mut value = integer(a, from);
    if flags.has(Flags::SATURATE) {
        let (least, most) = limits(to);
        value = value.clamp(least, most);
    }
    let value = integer(value as u64, to) as u64;
    value & (u64::MAX >> (64 - width))
}

/// Integer to float.
pub(crate) fn integer_to_float(a: u64, to: Format, from: Type, flags: Flags) -> u64 {
    let bits = to.round(Exact::from_integer(integer(a, from)), flags.rounding());
    if flags.has(Flags::SATURATE) { saturate(bits, to) } else { bits }
}

/// Float to integer, rounding by the flags' mode; out of range clamps.
pub(crate) fn float_to_integer(a: u64, to: Type, from: Format, flags: Flags, width: u32) -> u64 {
    let a = flush(a, from, flags);
    let (least, most) = limits(to);
    let value = match from.unpack(a) {
        Number::Nan if from == F64 || to.bits() == 64 => {
            return integer(1 << (to.bits() - 1), to) as u64 & (u64::MAX >> (64 - width));
        }
        Number::Nan => 0,
        Number::Infinity { negative: true } => least,
        Number::Infinity { negative: false } => most,
        Number::Finite(_) => {
            let wide = exact::convert(from, F64, a, Rounding::Nearest);
            integral(f64::from_bits(wide), flags.rounding()) as i128
        }
    };
    value.clamp(least, most) as u64 & (u64::MAX >> (64 - width))
}

fn integral(value: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::Nearest => value.round_ties_even(),
        Rounding::Zero => value.trunc(),
        Rounding::Down => value.floor(),
        Rounding::Up => value.ceil(),
        Rounding::Away => value.round(),
    }
}

/// `.ftz` concerns `f32` only.
fn flush(a: u64, format: Format, flags: Flags) -> u64 {
    let width = 1 + format.exponent_bits + format.mantissa_bits;
    let a = a & (u64::MAX >> (64 - width));
    let subnormal = a & format.infinity(false) == 0;
    let sign = 1 << (width - 1);
    if flags.has(Flags::FLUSH) && format == F32 && subnormal { a & sign } else { a }
}

fn saturate(bits: u64, format: Format) -> u64 {
    let one = exact::convert(F32, format, u64::from(1f32.to_bits()), Rounding::Nearest);
    match format.unpack(bits) {
        Number::Nan | Number::Infinity { negative: true } => 0,
        Number::Infinity { negative: false } => one,
        Number::Finite(value) if value.negative => 0,
        Number::Finite(_) => bits.min(one),
    }
}

/// Float to float. `tf32` keeps the layout of `f32` with the low 13 bits zero.
pub(crate) fn float_to_float(a: u64, to: Format, from: Format, flags: Flags) -> u64 {
    let a = flush(a, from, flags);
    if flags.has(Flags::RELU) && relu(a, from) {
        return 0;
    }
    let bits = if flags.has(Flags::INTEGRAL) {
        let wide = exact::convert(from, F64, a, Rounding::Nearest);
        let rounded = integral(f64::from_bits(wide), flags.rounding());
        exact::convert(F64, to, rounded.to_bits(), Rounding::Nearest)
    } else {
        exact::convert(from, to, a, flags.rounding())
    };
    let bits = if flags.has(Flags::SATURATE) { saturate(bits, to) } else { bits };
    let bits = if flags.has(Flags::SATURATE_FINITE) { finite(bits, to) } else { bits };
    let bits = flush(bits, to, flags);
    if to == TF32 { bits << 13 } else { bits }
}

fn relu(a: u64, format: Format) -> bool {
    match format.unpack(a) {
        Number::Nan => false,
        Number::Infinity { negative } => negative,
        Number::Finite(value) => value.negative,
    }
}

fn finite(bits: u64, format: Format) -> u64 {
    match format.unpack(bits) {
        Number::Infinity { negative } => format.infinity(negative) - 1,
        _ => bits,
    }
}

/// `e5m2` with `.satfinite`.
fn to_e5m2(a: u64, from: Format) -> u64 {
    finite(exact::convert(from, E5M2, a, Rounding::Nearest), E5M2)
}

/// `e4m3` has no infinities: its largest number is 448, and only all ones is NaN.
fn to_e4m3(a: u64, from: Format) -> u64 {
    const WIDER: Format = Format { exponent_bits: 5, mantissa_bits: 3 };
    match from.unpack(a) {
        Number::Nan => 0x7f,
        Number::Infinity { negative } => 0x7e | u64::from(negative) << 7,
        Number::Finite(value) => {
            // Scaled by 2^8, the subnormals of the wider format are those of e4m3.
            let scaled = Exact { exponent: value.exponent - 8, ..value };
            let bits = WIDER.round(scaled, Rounding::Nearest);
            (bits & 0xff).min(0x7e) | u64::from(value.negative) << 7
        }
    }
}

fn from_e4m3(byte: u64, to: Format) -> u64 {
    let negative = byte & 0x80 != 0;
    if byte & 0x7f == 0x7f {
        return to.nan();
    }
    let field = byte >> 3 & 15;
    let implicit = if field == 0 { 0 } else { 8 };
    let exponent = field.max(1) as i32 - 10;
    let significand = u128::from(byte & 7 | implicit);
    to.round(Exact { negative, exponent, significand, sticky: false }, Rounding::Nearest)
}

/// Two floats to two 8-bit floats in 16 bits; `a` becomes the upper one.
pub(crate) fn pack_bytes(a: u64, b: u64, to: Type, from: Format, flags: Flags) -> u64 {
    let one = |value: u64| {
        if flags.has(Flags::RELU) && relu(value, from) {
            return 0;
        }
        if to == Type::E5m2x2 { to_e5m2(value, from) } else { to_e4m3(value, from) }
    };
    one(a) << 8 | one(b)
}

/// Two 8-bit floats to `f16x2`.
pub(crate) fn unpack_bytes(a: u64, from: Type, flags: Flags) -> u64 {
    let one = |byte: u64| {
        let bits = match from {
            Type::E5m2x2 => exact::convert(E5M2, F16, byte, Rounding::Nearest),
            _ => from_e4m3(byte, F16),
        };
        if flags.has(Flags::RELU) && relu(bits, F16) { 0 } else { bits }
    };
    one(a & 0xff) | one(a >> 8 & 0xff) << 16
}

/// Two `f32` to `f16x2` or `bf16x2`; `a` becomes the upper half.
pub(crate) fn pack_halves(a: u64, b: u64, to: Format, flags: Flags) -> u64 {
    float_to_float(a, to, F32, flags) << 16 | float_to_float(b, to, F32, flags)
}

/// `cvt.pack.sat`: two `s32` saturated into the low part, `c` shifted up behind them.
pub(crate) fn pack_integers(a: u64, b: u64, c: u64, to: Type) -> u64 {
    let (least, most) = limits(to);
    let bits = to.bits();
    let one = |value: u64| {
        let value = integer(value, Type::S32).clamp(least, most) as u64;
        value & (u64::MAX >> (64 - bits))
    };
    let pair = one(a) << bits | one(b);
    if bits == 16 { pair } else { (c << (2 * bits) | pair) & 0xffff_ffff }
}
