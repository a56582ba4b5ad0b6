//! The cube root and the hypotenuse.

use super::{double::Double, real::Real};

/// The cube root, by the method of FreeBSD's `cbrt` (Kahan and Evans): the first approximation is a
/// division of the bits by 3, followed by Halley's iterations, the last from a number whose square is
/// exact.
#[inline(always)]
pub(super) fn cbrt<T: Real>(x: T) -> T {
    let size = x.abs();
    // 2^54, of which 2^18 is the cube root, for what may be subnormal.
    let small = size < T::pow2(54 - T::MAX_EXPONENT);
    let lifted = if small { size * T::pow2(54) } else { size };
    let mut root = lifted.rough_cbrt();
    let mut step = 0;
    while step < T::CBRT_STEPS {
        root = halley(root, lifted);
        step += 1;
    }
    root = halley(root.high(), lifted);
    let root = if small { root * T::pow2(-18) } else { root };
    if x.is_finite() && x != T::of(0.0) { root.copysign(x) } else { x + x }
}

/// A step towards the cube root of `x`.
#[inline(always)]
fn halley<T: Real>(root: T, x: T) -> T {
    let quotient = x / (root * root);
    root + root * ((quotient - root) / (root + root + quotient))
}

/// The hypotenuse: the sum of squares in double-word arithmetic, scaled to be near 1, and one Newton
/// iteration on its root.
#[inline(always)]
pub(super) fn hypot<T: Real>(x: T, y: T) -> T {
    let (x, y) = (x.abs(), y.abs());
    let (long, short) = if x < y { (y, x) } else { (x, y) };
    let exponent = long.exponent();
    let exponent = if exponent < T::MAX_EXPONENT { exponent } else { T::MAX_EXPONENT - 1 };
    let exponent = if exponent > -T::MAX_EXPONENT { exponent } else { 1 - T::MAX_EXPONENT };
    let down = T::pow2(-exponent);
    let (a, b) = (long * down, short * down);
    let sum = Double::product(a, a).add(Double::product(b, b));
    let root = sum.high.sqrt();
    let missing = sum.low - root.fma(root, -sum.high);
    let length = (root + missing / (root + root)) * T::pow2(exponent);
    if x == T::INFINITY || y == T::INFINITY {
        T::INFINITY
    } else if long == T::of(0.0) {
        x + y
    } else {
        length
    }
}
