//! The remainder of a division (`fmod`).

use super::real::Real;

/// The remainder of `x / y` with the quotient rounded towards 0: exact, with the sign of `x`.
#[inline(always)]
pub(super) fn rem<T: Real>(x: T, y: T) -> T {
    let (mut rest, size) = (x.abs(), y.abs());
    if !x.is_finite() || y.is_nan() || size == T::of(0.0) {
        return T::NAN;
    }
    while rest >= size {
        // A multiple of the divisor that goes into the rest so few times that the quotient is known
        // to the last but one place.
        let mut step = size;
        while step < rest * T::pow2(-T::QUOTIENT_BITS) {
            step = step * T::pow2(T::QUOTIENT_BITS - 1);
        }
        // A multiple of the last place of the step and below it, so that it is not rounded.
        rest = step.fma(-(rest / step).trunc(), rest);
        if rest < T::of(0.0) {
            rest = rest + step;
        }
    }
    rest.copysign(x)
}
