//! Logarithms.
//!
//! The method is that of `log` in Sun's fdlibm (1993): with `1 + f` between the square roots of 1/2 and 2,
//! and `s = f / (2 + f)`, `ln(1 + f) = 2 atanh(s) = f - f^2/2 + s (f^2/2 + R(s^2))`, in which the large
//! terms are exact. For other bases, the product with 1 / ln 2 or 1 / ln 10 is taken in parts.

use super::real::Real;

/// `(f^2 / 2, s (f^2 / 2 + R))`.
#[inline(always)]
fn terms<T: Real>(f: T) -> (T, T) {
    let half_square = T::of(0.5) * f * f;
    let s = f / (T::of(2.0) + f);
    let square = s * s;
    (half_square, s * (half_square + square * square.polynomial(T::LN)))
}

/// `value`, or the special value where the logarithm of `x` is not finite.
#[inline(always)]
fn checked<T: Real>(x: T, value: T) -> T {
    if x > T::of(0.0) && x < T::INFINITY {
        value
    } else if x == T::of(0.0) {
        -T::INFINITY
    } else if x == T::INFINITY {
        x
    } else {
        T::NAN
    }
}

#[inline(always)]
pub(super) fn ln<T: Real>(x: T) -> T {
    let (k, m) = x.normalize();
    let (k, f) = (T::from_i32(k), m - T::of(1.0));
    let (half_square, term) = terms(f);
    let value = k * T::LN2[0] - ((half_square - (term + k * T::LN2[1])) - f);
    checked(x, value)
}

#[inline(always)]
pub(super) fn ln_1p<T: Real>(x: T) -> T {
    let one = T::of(1.0);
    let sum = one + x;
    let (k, m) = sum.normalize();
    // What the sum lost, and its effect on the logarithm. Without a power of 2 to take off, x
    // itself is what is wanted, and nothing is lost.
    let lost = if x > one { one - (sum - x) } else { x - (sum - one) };
    let (f, correction) = if k == 0 { (x, T::of(0.0)) } else { (m - one, lost / sum) };
    let k = T::from_i32(k);
    let (half_square, term) = terms(f);
    let value = k * T::LN2[0] - ((half_square - (term + (k * T::LN2[1] + correction))) - f);
    if x.abs() < T::TINY { x } else { checked(sum, value) }
}

/// `k whole + ln(m) inverse` for a number `2^k m`.
#[inline(always)]
fn to_base<T: Real>(x: T, inverse: [T; 2], whole: [T; 2]) -> T {
    let (k, m) = x.normalize();
    let (k, f) = (T::from_i32(k), m - T::of(1.0));
    let (half_square, term) = terms(f);
    let high = (f - half_square).high();
    let low = (f - high) - half_square + term;
    let product = high * inverse[0];
    let rest = (low + high) * inverse[1] + low * inverse[0] + k * whole[1];
    let multiple = k * whole[0];
    let sum = multiple + product;
    checked(x, (rest + ((multiple - sum) + product)) + sum)
}

#[inline(always)]
pub(super) fn log2<T: Real>(x: T) -> T {
    to_base(x, T::INV_LN2, [T::of(1.0), T::of(0.0)])
}

#[inline(always)]
pub(super) fn log10<T: Real>(x: T) -> T {
    to_base(x, T::INV_LN10, T::LOG10_2)
}
