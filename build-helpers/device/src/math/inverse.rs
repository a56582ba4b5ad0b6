//! Inverse trigonometric functions.
//!
//! Reductions and orders of sums are those of Sun's fdlibm (1993).

use super::{double::Double, real::Real};

/// `(asin(x) - x) / x`, for the square of an `x` up to 1/2.
#[inline(always)]
fn arc_rest<T: Real>(square: T) -> T {
    square * square.polynomial(T::ASIN)
}

/// For a size above 1/2, `s = sqrt((1 - size) / 2)` with what it lost to rounding, and its
/// [`arc_rest`].
#[inline(always)]
fn half_chord<T: Real>(size: T) -> (Double<T>, T) {
    let square = (T::of(1.0) - size) * T::of(0.5);
    let root = square.sqrt();
    let high = root.high();
    let low = (square - high * high) / (root + high);
    let low = if root > T::of(0.0) { low } else { T::of(0.0) };
    (Double { high, low }, arc_rest(square))
}

#[inline(always)]
pub(super) fn asin<T: Real>(x: T) -> T {
    let size = x.abs();
    let small = x + x * arc_rest(x * x);
    let (chord, rest) = half_chord(size);
    let two = T::of(2.0);
    let root = chord.high + chord.low;
    let low = two * root * rest - (T::HALF_PI[1] - two * chord.low);
    let large = T::QUARTER_PI[0] - (low - (T::QUARTER_PI[0] - two * chord.high));
    if size < T::of(0.5) { small } else { large.copysign(x) }
}

#[inline(always)]
pub(super) fn acos<T: Real>(x: T) -> T {
    let size = x.abs();
    let [half_pi, half_pi_low] = T::HALF_PI;
    let small = half_pi - (x - (half_pi_low - x * arc_rest(x * x)));
    let (chord, rest) = half_chord(size);
    let two = T::of(2.0);
    let root = chord.high + chord.low;
    let near_zero = two * (chord.high + (root * rest + chord.low));
    let near_pi = T::PI[0] - two * (chord.high + (root * rest + chord.low - half_pi_low));
    if size < T::of(0.5) {
        small
    } else if x.is_negative() {
        near_pi
    } else {
        near_zero
    }
}

#[inline(always)]
pub(super) fn atan<T: Real>(x: T) -> T {
    let size = x.abs();
    let one = T::of(1.0);
    // atan(size) = base + atan(numerator / denominator)
    let (numerator, denominator, base) = if size < T::of(0.4375) {
        (size, one, [T::of(0.0); 2])
    } else if size < T::of(0.6875) {
        (T::of(2.0) * size - one, T::of(2.0) + size, T::ATAN_HALF)
    } else if size < T::of(1.1875) {
        (size - one, size + one, T::QUARTER_PI)
    } else if size < T::of(2.4375) {
        (size - T::of(1.5), one + T::of(1.5) * size, T::ATAN_3_2)
    } else {
        (-one, size, T::HALF_PI)
    };
    let t = numerator / denominator;
    let square = t * t;
    let rest = t * (square * square.polynomial(T::ATAN));
    let value = base[0] + (t + (rest + base[1]));
    value.copysign(x)
}

#[inline(always)]
pub(super) fn atan2<T: Real>(y: T, x: T) -> T {
    let zero = T::of(0.0);
    let quotient = y.abs() / x.abs();
    let quotient = if y == zero { zero } else { quotient };
    let both_infinite = y.abs() == T::INFINITY && x.abs() == T::INFINITY;
    let quotient = if both_infinite { T::of(1.0) } else { quotient };
    let angle = atan(quotient);
    let angle = if x.is_negative() { T::PI[0] - (angle - T::PI[1]) } else { angle };
    if x.is_nan() || y.is_nan() { T::NAN } else { angle.copysign(y) }
}
