//! Arithmetic of `f32` and `f64`.

use super::exact::{self, F32, F64, Rounding};
use super::flags::Flags;

/// A floating-point type that the host computes with.
pub(crate) trait Float: Copy + PartialOrd {
    /// Its format, for the modes that the host lacks.
    const FORMAT: exact::Format;
    fn of(register: u64) -> Self;
    /// The bits; NaN becomes the one that devices give.
    fn register(self) -> u64;
    fn is_nan(self) -> bool;
    fn is_negative(self) -> bool;
    /// With `.ftz`: a subnormal becomes a zero of its sign.
    fn flushed(self) -> Self;
    /// `.sat`
    fn saturated(self) -> Self;
    fn magnitude(self) -> Self;
    fn negated(self) -> Self;
    fn fused(self, b: Self, c: Self) -> Self;
    fn root(self) -> Self;
    fn sum(self, b: Self) -> Self;
    fn difference(self, b: Self) -> Self;
    fn product(self, b: Self) -> Self;
    fn quotient(self, b: Self) -> Self;
}

macro_rules! floats {
    ($($float:ident, $bits:ident, $format:ident;)*) => {$(
        impl Float for $float {
            const FORMAT: exact::Format = $format;
            #[inline(always)]
            fn of(register: u64) -> Self { $float::from_bits(register as $bits) }
            #[inline(always)]
            fn register(self) -> u64 {
                if self.is_nan() { $format.nan() } else { u64::from(self.to_bits()) }
            }
            #[inline(always)]
            fn is_nan(self) -> bool { self.is_nan() }
            fn is_negative(self) -> bool { self.is_sign_negative() }
            #[inline(always)]
            fn flushed(self) -> Self {
                if self.is_subnormal() { $float::copysign(0.0, self) } else { self }
            }
            fn saturated(self) -> Self {
                if self.is_nan() || self <= 0.0 { 0.0 } else { self.min(1.0) }
            }
            fn magnitude(self) -> Self { self.abs() }
            fn negated(self) -> Self { -self }
            #[inline(always)]
            fn fused(self, b: Self, c: Self) -> Self { self.mul_add(b, c) }
            fn root(self) -> Self { self.sqrt() }
            #[inline(always)]
            fn sum(self, b: Self) -> Self { self + b }
            #[inline(always)]
            fn difference(self, b: Self) -> Self { self - b }
            #[inline(always)]
            fn product(self, b: Self) -> Self { self * b }
            #[inline(always)]
            fn quotient(self, b: Self) -> Self { self / b }
        }
    )*};
}

floats! {
    f32, u32, F32;
    f64, u64, F64;
}

#[inline(always)]
pub(crate) fn add<T: Float>(a: u64, b: u64) -> u64 {
    T::of(a).sum(T::of(b)).register()
}

#[inline(always)]
pub(crate) fn subtract<T: Float>(a: u64, b: u64) -> u64 {
    T::of(a).difference(T::of(b)).register()
}

#[inline(always)]
pub(crate) fn multiply<T: Float>(a: u64, b: u64) -> u64 {
    T::of(a).product(T::of(b)).register()
}

#[inline(always)]
pub(crate) fn fused<T: Float>(a: u64, b: u64, c: u64) -> u64 {
    T::of(a).fused(T::of(b), T::of(c)).register()
}

#[inline(always)]
pub(crate) fn divide<T: Float>(a: u64, b: u64) -> u64 {
    T::of(a).quotient(T::of(b)).register()
}

/// The operand with `.ftz` applied.
fn input<T: Float>(register: u64, flags: Flags) -> T {
    let value = T::of(register);
    if flags.has(Flags::FLUSH) { value.flushed() } else { value }
}

/// The result with `.sat` and `.ftz` applied.
fn output<T: Float>(value: T, flags: Flags) -> u64 {
    let value = if flags.has(Flags::SATURATE) { value.saturated() } else { value };
    let value = if flags.has(Flags::FLUSH) { value.flushed() } else { value };
    value.register()
}

fn bits<T: Float>(value: T) -> u64 {
    value.register()
}

/// `a + b` with any modifiers.
pub(crate) fn add_with<T: Float>(a: u64, b: u64, flags: Flags) -> u64 {
    let (a, b): (T, T) = (input(a, flags), input(b, flags));
    let sum = match flags.rounding() {
        Rounding::Nearest => a.sum(b),
        rounding => T::of(exact::add(T::FORMAT, bits(a), bits(b), rounding)),
    };
    output(sum, flags)
}

/// `a - b` with any modifiers.
pub(crate) fn subtract_with<T: Float>(a: u64, b: u64, flags: Flags) -> u64 {
    add_with::<T>(a, T::of(b).negated().register(), flags)
}

/// `a * b` with any modifiers.
pub(crate) fn multiply_with<T: Float>(a: u64, b: u64, flags: Flags) -> u64 {
    let (a, b): (T, T) = (input(a, flags), input(b, flags));
    let product = match flags.rounding() {
        Rounding::Nearest => a.product(b),
        rounding => T::of(exact::multiply(T::FORMAT, bits(a), bits(b), rounding)),
    };
    output(product, flags)
}

/// `a * b + c` with any modifiers.
pub(crate) fn fused_with<T: Float>(a: u64, b: u64, c: u64, flags: Flags) -> u64 {
    let (a, b, c): (T, T, T) = (input(a, flags), input(b, flags), input(c, flags));
    let result = match flags.rounding() {
        Rounding::Nearest => a.fused(b, c),
        rounding => T::of(exact::fused(T::FORMAT, bits(a), bits(b), bits(c), rounding)),
    };
    output(result, flags)
}

/// `a / b` with any modifiers; the approximate forms round correctly here.
pub(crate) fn divide_with<T: Float>(a: u64, b: u64, flags: Flags) -> u64 {
    let (a, b): (T, T) = (input(a, flags), input(b, flags));
    let quotient = match flags.rounding() {
        Rounding::Nearest => a.quotient(b),
        rounding => T::of(exact::divide(T::FORMAT, bits(a), bits(b), rounding)),
    };
    output(quotient, flags)
}

/// `1 / a` with any modifiers.
pub(crate) fn reciprocal_with<T: Float>(a: u64, flags: Flags) -> u64 {
    let one = exact::convert(F32, T::FORMAT, u64::from(1f32.to_bits()), Rounding::Nearest);
    divide_with::<T>(one, a, flags)
}

/// The square root with any modifiers.
pub(crate) fn root_with<T: Float>(a: u64, flags: Flags) -> u64 {
    let a: T = input(a, flags);
    let root = match flags.rounding() {
        Rounding::Nearest => a.root(),
        rounding => T::of(exact::square_root(T::FORMAT, bits(a), rounding)),
    };
    output(root, flags)
}

/// The minimum with any modifiers; -0 is less than +0, and a NaN loses unless `.NaN` is set.
pub(crate) fn minimum_with<T: Float>(a: u64, b: u64, flags: Flags) -> u64 {
    choose::<T>(a, b, flags, true)
}

/// The maximum with any modifiers.
pub(crate) fn maximum_with<T: Float>(a: u64, b: u64, flags: Flags) -> u64 {
    choose::<T>(a, b, flags, false)
}

fn choose<T: Float>(a: u64, b: u64, flags: Flags, least: bool) -> u64 {
    let (mut a, mut b): (T, T) = (input(a, flags), input(b, flags));
    let sign = a.is_negative() != b.is_negative();
    if flags.has(Flags::XOR_SIGN) {
        (a, b) = (a.magnitude(), b.magnitude());
    }
    let chosen = match (a.is_nan(), b.is_nan()) {
        (true, true) => a,
        (true, false) => return not_a_number_or::<T>(a, b, flags, sign),
        (false, true) => return not_a_number_or::<T>(b, a, flags, sign),
        _ if a == b => {
            if a.is_negative() == least {
                a
            } else {
                b
            }
        }
        _ => {
            if (a < b) == least {
                a
            } else {
                b
            }
        }
    };
    signed(chosen, flags, sign)
}

fn not_a_number_or<T: Float>(nan: T, other: T, flags: Flags, sign: bool) -> u64 {
    signed(if flags.has(Flags::NAN) { nan } else { other }, flags, sign)
}

fn signed<T: Float>(value: T, flags: Flags, negative: bool) -> u64 {
    let flip = flags.has(Flags::XOR_SIGN) && negative;
    output(if flip { value.negated() } else { value }, flags)
}

/// Clears the sign; NaN keeps its payload.
pub(crate) fn absolute<T: Float>(a: u64, flags: Flags) -> u64 {
    sign_operation::<T>(a, flags, |bits, sign| bits & !sign)
}

/// Flips the sign; NaN keeps its payload.
pub(crate) fn negate<T: Float>(a: u64, flags: Flags) -> u64 {
    sign_operation::<T>(a, flags, |bits, sign| bits ^ sign)
}

#[inline(always)]
fn sign_operation<T: Float>(a: u64, flags: Flags, change: impl Fn(u64, u64) -> u64) -> u64 {
    let width = 1 + T::FORMAT.exponent_bits + T::FORMAT.mantissa_bits;
    let value: T = T::of(a);
    let flush = flags.has(Flags::FLUSH) && !value.is_nan();
    let low = a & (u64::MAX >> (64 - width));
    let bits = if flush { value.flushed().register() } else { low };
    change(bits, 1 << (width - 1))
}

/// `copysign`: the magnitude of `b` with the sign of `a`.
pub(crate) fn copy_sign<const BITS: u32>(a: u64, b: u64) -> u64 {
    let sign = 1u64 << (BITS - 1);
    a & sign | b & (sign - 1)
}

/// The tests of `testp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Test {
    Finite,
    Infinite,
    Number,
    NotANumber,
    Normal,
    Subnormal,
}

/// `testp` of an `f32` (`BITS` 32) or `f64`.
pub(crate) fn test<const BITS: u32>(a: u64, test: u32) -> u64 {
    use std::num::FpCategory;
    let category =
        if BITS == 32 { f32::from_bits(a as u32).classify() } else { f64::from_bits(a).classify() };
    u64::from(match test {
        t if t == Test::Finite as u32 => {
            !matches!(category, FpCategory::Nan | FpCategory::Infinite)
        }
        t if t == Test::Infinite as u32 => category == FpCategory::Infinite,
        t if t == Test::Number as u32 => category != FpCategory::Nan,
        t if t == Test::NotANumber as u32 => category == FpCategory::Nan,
        t if t == Test::Normal as u32 => matches!(category, FpCategory::Normal | FpCategory::Zero),
        _ => category == FpCategory::Subnormal,
    })
}
