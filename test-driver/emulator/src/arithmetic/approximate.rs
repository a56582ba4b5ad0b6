//! Functions that devices approximate. Here they are correct to the last bit or nearly so; kernels
//! that need the device's own error bounds must be compared with tolerances.

use super::flags::Flags;

fn apply(a: u64, flags: Flags, function: impl Fn(f64) -> f64) -> u64 {
    let mut input = f32::from_bits(a as u32);
    if flags.has(Flags::FLUSH) && input.is_subnormal() {
        input = 0f32.copysign(input);
    }
    let mut result = function(f64::from(input)) as f32;
    if flags.has(Flags::FLUSH) && result.is_subnormal() {
        result = 0f32.copysign(result);
    }
    if result.is_nan() { 0x7fff_ffff } else { u64::from(result.to_bits()) }
}

/// `rsqrt.approx.f32`
pub(crate) fn inverse_root(a: u64, flags: Flags) -> u64 {
    apply(a, flags, |x| 1.0 / x.sqrt())
}

/// `rsqrt.approx.f64`
pub(crate) fn inverse_root_64(a: u64, _: Flags) -> u64 {
    (1.0 / f64::from_bits(a).sqrt()).to_bits()
}

/// `rcp.approx.ftz.f64`: the upper half of the result, the lower half is zero.
pub(crate) fn reciprocal_64(a: u64, _: Flags) -> u64 {
    let x = f64::from_bits(a);
    let x = if x.is_subnormal() { 0f64.copysign(x) } else { x };
    (1.0 / x).to_bits() & !0xffff_ffff
}

/// `ex2.approx.f32`
pub(crate) fn exponential(a: u64, flags: Flags) -> u64 {
    apply(a, flags, f64::exp2)
}

/// `lg2.approx.f32`
pub(crate) fn logarithm(a: u64, flags: Flags) -> u64 {
    apply(a, flags, f64::log2)
}

/// `sin.approx.f32`
pub(crate) fn sine(a: u64, flags: Flags) -> u64 {
    apply(a, flags, f64::sin)
}

/// `cos.approx.f32`
pub(crate) fn cosine(a: u64, flags: Flags) -> u64 {
    apply(a, flags, f64::cos)
}

/// `tanh.approx.f32`
pub(crate) fn tangent(a: u64, flags: Flags) -> u64 {
    apply(a, flags, f64::tanh)
}
