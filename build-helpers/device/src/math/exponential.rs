//! Exponential and hyperbolic functions.
//!
//! Argument reduction is that of Cody and Waite, "Software Manual for the Elementary Functions" (1980): a
//! multiple of ln 2, in two parts, is subtracted exactly; a polynomial approximates the remainder.

use super::{double::Double, real::Real};

/// `x + tail = k ln 2 + r + c`, where `c` is what `r` lost to rounding, and the `tail` is below the
/// last place of `x`.
#[inline(always)]
fn reduce<T: Real>(x: T, tail: T) -> (i32, T, T) {
    let (multiple, k) = (x * T::LOG2_E).nearest();
    let high = x - multiple * T::LN2[0];
    let low = multiple * T::LN2[1] - tail;
    let r = high - low;
    (k, r, (high - r) - low)
}

/// `e^(r + c) - 1 - r` for what [`reduce`] returns.
#[inline(always)]
fn rest<T: Real>(r: T, c: T) -> T {
    r * r * r.polynomial(T::EXP) + (c + c * r)
}

/// `(y, k)` with `e^(x + tail) = y 2^k`, for a `tail` below the last place of `x`.
#[inline(always)]
fn parts<T: Real>(x: T, tail: T) -> (Double<T>, i32) {
    let (k, r, c) = reduce(x.limit(T::EXP_RANGE[0], T::EXP_RANGE[1]), tail);
    (Double::sum(T::of(1.0), r).plus_low(rest(r, c)), k)
}

#[inline(always)]
pub(super) fn exp<T: Real>(x: T) -> T {
    exp_of_sum(x, T::of(0.0))
}

/// `e^(x + tail)`, for a `tail` below the last place of `x`.
#[inline(always)]
pub(super) fn exp_of_sum<T: Real>(x: T, tail: T) -> T {
    let (y, k) = parts(x, tail);
    (y.high + y.low).scale(k)
}

#[inline(always)]
pub(super) fn exp2<T: Real>(x: T) -> T {
    let x = x.limit(T::EXP2_RANGE[0], T::EXP2_RANGE[1]);
    let (multiple, k) = x.nearest();
    let r = x - multiple;
    let small = r * T::LN2_NEAREST[1] + r * r * r.polynomial(T::EXP2);
    (T::of(1.0) + (r * T::LN2_NEAREST[0] + small)).scale(k)
}

#[inline(always)]
pub(super) fn exp_m1<T: Real>(x: T) -> T {
    let (k, r, c) = reduce(x.limit(T::EXP_M1_RANGE[0], T::EXP_M1_RANGE[1]), T::of(0.0));
    // 2^k (1 + r + rest) - 1, halved so that 2^k cannot overflow. The sum of the first two terms
    // keeps its error: in each case the first is 0 or the greater.
    let power = T::pow2(k.wrapping_sub(1));
    let (first, second) = (power - T::of(0.5), power * r);
    let sum = first + second;
    let error = (first - sum) + second;
    let half = sum + (error + power * rest(r, c));
    if x.abs() < T::TINY { x } else { half + half }
}

/// Halves of `e^|x|`, also where that overflows, and of `e^-|x|`.
#[inline(always)]
fn halves<T: Real>(x: T) -> (Double<T>, T) {
    let (y, k) = parts(x.abs(), T::of(0.0));
    let k = k.wrapping_sub(1);
    let half = Double { high: y.high.scale(k), low: y.low.scale(k) };
    (half, T::of(0.25) / (half.high + half.low))
}

#[inline(always)]
pub(super) fn sinh<T: Real>(x: T) -> T {
    let square = x * x;
    let small = x + x * (square * square.polynomial(T::SINH));
    let (half, inverse) = halves(x);
    let large = (half.high - inverse) + half.low;
    if x.abs() < T::of(1.0) { small } else { large.copysign(x) }
}

#[inline(always)]
pub(super) fn cosh<T: Real>(x: T) -> T {
    let (half, inverse) = halves(x);
    (half.high + inverse) + half.low
}

#[inline(always)]
pub(super) fn tanh<T: Real>(x: T) -> T {
    let square = x * x;
    let small = x + x * (square * square.polynomial(T::TANH));
    let twice = exp(x.abs() + x.abs());
    let large = T::of(1.0) - T::of(2.0) / (twice + T::of(1.0));
    let value = if x.abs() < T::of(0.55) { small } else { large.copysign(x) };
    if x.abs() < T::TINY { x } else { value }
}
