//! Sine, cosine and tangent.
//!
//! The polynomials are summed in the order of Sun's fdlibm (1993), so that the rounding error of the
//! reduced angle is included. The tangent is the quotient of both in double-word arithmetic.

use super::{double::Double, real::Real, reduction::reduce};

/// The sine of a reduced angle; its first part is the angle.
#[inline(always)]
fn sine<T: Real>(angle: Double<T>) -> Double<T> {
    let square = angle.high * angle.high;
    let cube = square * angle.high;
    let rest = square.polynomial(T::SIN);
    let correction = square * (T::of(0.5) * angle.low - cube * rest) - angle.low;
    Double { high: angle.high, low: cube * T::SIN_FIRST - correction }
}

/// The cosine of a reduced angle.
#[inline(always)]
fn cosine<T: Real>(angle: Double<T>) -> Double<T> {
    let square = angle.high * angle.high;
    let sum = Double::sum(T::of(1.0), T::of(-0.5) * square);
    let rest = square * square * square.polynomial(T::COS) - angle.high * angle.low;
    Double { high: sum.high, low: sum.low + rest }
}

#[inline(always)]
pub(super) fn sin<T: Real>(x: T) -> T {
    let (n, angle) = reduce(x);
    let (sine, cosine) = (sine(angle), cosine(angle));
    let value = if n & 1 == 0 { sine } else { cosine };
    let value = value.high + value.low;
    let value = if n & 2 == 0 { value } else { -value };
    if x.abs() < T::TINY { x } else { value }
}

#[inline(always)]
pub(super) fn cos<T: Real>(x: T) -> T {
    let (n, angle) = reduce(x);
    let (sine, cosine) = (sine(angle), cosine(angle));
    let value = if n & 1 == 0 { cosine } else { sine };
    let value = value.high + value.low;
    if n.wrapping_add(1) & 2 == 0 { value } else { -value }
}

#[inline(always)]
pub(super) fn tan<T: Real>(x: T) -> T {
    let (n, angle) = reduce(x);
    let (sine, cosine) = (sine(angle), cosine(angle));
    let sine = Double::sum(sine.high, sine.low);
    let cosine = Double::sum(cosine.high, cosine.low);
    let odd = n & 1 == 1;
    let numerator = if odd { cosine } else { sine };
    let denominator = if odd { sine } else { cosine };
    let quotient = Double::quotient(numerator, denominator);
    let value = quotient.high + quotient.low;
    let value = if odd { -value } else { value };
    if x.abs() < T::TINY { x } else { value }
}
