//! Argument reduction of the trigonometric functions: angles modulo a quarter turn.
//!
//! Angles of moderate size are reduced by the method of Cody and Waite ("Software Manual for the
//! Elementary Functions", 1980), larger ones by that of Payne and Hanek (see [`super::payne_hanek`]).

use super::{double::Double, real::Real};

/// `(n, r)` with `x = (n + 4 i) pi / 2 + r` for some integer `i`, `r` in twice the precision and at
/// most pi / 4 in size, save for rounding.
#[inline(always)]
pub(super) fn reduce<T: Real>(x: T) -> (u32, Double<T>) {
    if x.abs() <= T::REDUCIBLE { moderate(x) } else { large(x) }
}

#[inline(always)]
fn moderate<T: Real>(x: T) -> (u32, Double<T>) {
    let (multiple, n) = (x * T::FRAC_2_PI).nearest();
    let [first, second, third, fourth] = T::HALF_PI_PARTS;
    let once = x - multiple * first;
    let twice = Double::difference(once, multiple * second);
    let thrice = Double::difference(twice.high, multiple * third);
    let low = (twice.low + thrice.low) - multiple * fourth;
    (n as u32, Double::sum(thrice.high, low))
}

#[inline(always)]
fn large<T: Real>(x: T) -> (u32, Double<T>) {
    let turns = x.quarter_turns();
    let bits = T::PART_BITS;
    let mask = (1_u64 << bits) - 1;
    let part = |shift: u32| T::from_u32((turns.angle >> shift & mask) as u32);
    let unit = T::pow2(turns.exponent.wrapping_sub(bits as i32));
    let high = part(64 - bits) * unit;
    let low = part(64 - 2 * bits) * unit * T::pow2(-(bits as i32));
    let angle = Double::sum(high, low);
    let sign = if turns.negative == x.is_negative() { T::of(1.0) } else { T::of(-1.0) };
    let sign = if x.is_finite() { sign } else { T::NAN };
    let n = if x.is_negative() { turns.quadrant.wrapping_neg() } else { turns.quadrant };
    (n, Double { high: angle.high * sign, low: angle.low * sign })
}
