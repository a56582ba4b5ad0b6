//! Powers: `x^y = e^(y ln x)`, with the logarithm in double-word arithmetic.
//!
//! The product can multiply an error of the logarithm by as much as the logarithm of the largest number.
//! So the first two terms of its series in `s = (x - 1) / (x + 1)` are computed in twice the precision.
//! The special cases are those of C99, annex F.

use super::{double::Double, exponential, real::Real};

/// The logarithm of a finite number above 0.
#[inline(always)]
fn ln<T: Real>(x: T) -> Double<T> {
    let (k, m) = x.normalize();
    let (k, f) = (T::from_i32(k), m - T::of(1.0));
    let numerator = Double { high: f, low: T::of(0.0) };
    let s = Double::quotient(numerator, Double::sum(T::of(2.0), f));
    let square = s.times(s);
    let [high, low] = T::TWO_THIRDS;
    let series = Double { high, low }.plus(square.high * square.high.polynomial(T::POW));
    let two = T::of(2.0);
    let twice = Double { high: two * s.high, low: two * s.low };
    let logarithm = twice.add(s.times(square).times(series));
    let sum = Double { high: k * T::LN2[0], low: k * T::LN2[1] }.add(logarithm);
    Double::sum(sum.high, sum.low)
}

#[inline(always)]
pub(super) fn powf<T: Real>(x: T, y: T) -> T {
    let (zero, one) = (T::of(0.0), T::of(1.0));
    let size = x.abs();
    let logarithm = ln(size);
    let exponent = Double::product(y, logarithm.high);
    // Where it is out of range, what was lost does not matter, and is not a number.
    let in_range = exponent.high.abs() < T::EXP_RANGE[1] - T::EXP_RANGE[0];
    let tail = if in_range { exponent.low + y * logarithm.low } else { zero };
    let mut result = exponential::exp_of_sum(exponent.high, tail);
    if size == zero || size == T::INFINITY {
        result = if (size == zero) == (y > zero) { zero } else { T::INFINITY };
    }
    if y.abs() == T::INFINITY {
        result = if (size > one) == (y > zero) { T::INFINITY } else { zero };
    }
    let integer = y.trunc() == y;
    let half = y * T::of(0.5);
    let odd = integer && half.trunc() != half && y.is_finite();
    if x.is_negative() {
        if odd {
            result = -result;
        } else if !integer && size > zero && x.is_finite() {
            result = T::NAN;
        }
    }
    if x.is_nan() || y.is_nan() {
        result = T::NAN;
    }
    if x == one || y == zero || (size == one && y.abs() == T::INFINITY) { one } else { result }
}
