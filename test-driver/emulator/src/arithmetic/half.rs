//! Arithmetic of `f16` and `bf16`.

use super::exact::{self, BF16, F16, F64, Format, Rounding};
use super::flags::Flags;

/// A 16-bit floating-point type.
pub(crate) trait Half {
    const FORMAT: Format;
}

/// IEEE half precision.
pub(crate) struct Binary16;

/// The upper half of an `f32`.
pub(crate) struct Brain16;

impl Half for Binary16 {
    const FORMAT: Format = F16;
}

impl Half for Brain16 {
    const FORMAT: Format = BF16;
}

/// The value, which `f64` holds exactly.
pub(crate) fn value<H: Half>(register: u64) -> f64 {
    f64::from_bits(exact::convert(H::FORMAT, F64, register & 0xffff, Rounding::Nearest))
}

/// The bits of a value, rounded to nearest.
pub(crate) fn bits<H: Half>(value: f64) -> u64 {
    exact::convert(F64, H::FORMAT, value.to_bits(), Rounding::Nearest)
}

fn flush<H: Half>(register: u64, flags: Flags) -> u64 {
    let infinity = H::FORMAT.infinity(false);
    let subnormal = register & infinity == 0;
    if flags.has(Flags::FLUSH) && subnormal { register & 0x8000 } else { register & 0xffff }
}

fn output<H: Half>(register: u64, flags: Flags) -> u64 {
    let register = flush::<H>(register, flags);
    let number = value::<H>(register);
    if flags.has(Flags::SATURATE) {
        return bits::<H>(if number.is_nan() || number <= 0.0 { 0.0 } else { number.min(1.0) });
    }
    if flags.has(Flags::RELU) && number <= 0.0 {
        return 0;
    }
    register
}

pub(crate) fn add<H: Half>(a: u64, b: u64, flags: Flags) -> u64 {
    let (a, b) = (flush::<H>(a, flags), flush::<H>(b, flags));
    output::<H>(exact::add(H::FORMAT, a, b, flags.rounding()), flags)
}

pub(crate) fn subtract<H: Half>(a: u64, b: u64, flags: Flags) -> u64 {
    add::<H>(a, b ^ 0x8000, flags)
}

pub(crate) fn multiply<H: Half>(a: u64, b: u64, flags: Flags) -> u64 {
    let (a, b) = (flush::<H>(a, flags), flush::<H>(b, flags));
    output::<H>(exact::multiply(H::FORMAT, a, b, flags.rounding()), flags)
}

pub(crate) fn fused<H: Half>(a: u64, b: u64, c: u64, flags: Flags) -> u64 {
    let (a, b, c) = (flush::<H>(a, flags), flush::<H>(b, flags), flush::<H>(c, flags));
    output::<H>(exact::fused(H::FORMAT, a, b, c, flags.rounding()), flags)
}

pub(crate) fn minimum<H: Half>(a: u64, b: u64, flags: Flags) -> u64 {
    choose::<H>(a, b, flags, true)
}

pub(crate) fn maximum<H: Half>(a: u64, b: u64, flags: Flags) -> u64 {
    choose::<H>(a, b, flags, false)
}

fn choose<H: Half>(a: u64, b: u64, flags: Flags, least: bool) -> u64 {
    let wide = |register| value::<H>(flush::<H>(register, flags)).to_bits();
    let flags_wide = Flags(flags.0 & (Flags::NAN | Flags::XOR_SIGN));
    let chosen = if least {
        super::float::minimum_with::<f64>(wide(a), wide(b), flags_wide)
    } else {
        super::float::maximum_with::<f64>(wide(a), wide(b), flags_wide)
    };
    bits::<H>(f64::from_bits(chosen))
}

pub(crate) fn absolute<H: Half>(a: u64, flags: Flags) -> u64 {
    flush::<H>(a, flags) & 0x7fff
}

pub(crate) fn negate<H: Half>(a: u64, flags: Flags) -> u64 {
    flush::<H>(a, flags) ^ 0x8000
}

/// `ex2.approx`
pub(crate) fn exponential<H: Half>(a: u64, flags: Flags) -> u64 {
    output::<H>(bits::<H>(value::<H>(flush::<H>(a, flags)).exp2()), flags)
}

/// `tanh.approx`
pub(crate) fn tangent<H: Half>(a: u64, flags: Flags) -> u64 {
    output::<H>(bits::<H>(value::<H>(flush::<H>(a, flags)).tanh()), flags)
}
