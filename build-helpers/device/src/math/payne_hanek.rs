//! Argument reduction of large angles by integer arithmetic.
//!
//! The method is that of Payne and Hanek, "Radian reduction for trigonometric functions" (SIGNUM
//! Newsletter 18, 1983): of the product with 2 / pi, only the digits are computed that decide the
//! quadrant and the remainder.

use super::coefficients::TWO_OVER_PI;

/// An angle of `quadrant` quarters of a turn and `± angle 2^(exponent - 64)`, at most half a
/// quarter, modulo whole turns.
#[derive(Clone, Copy)]
pub(crate) struct Turns {
    pub(super) quadrant: u32,
    pub(super) negative: bool,
    pub(super) angle: u64,
    pub(super) exponent: i32,
}

/// pi / 2 times 2^63.
const HALF_PI: u64 = 0xc90f_daa2_2168_c235;

impl Turns {
    /// From quarters of a turn: the quadrant in the two highest bits of `first`, and the fraction
    /// in what follows. `times` multiplies and drops the lower 64 bits.
    #[inline(always)]
    fn from_quarters(first: u64, second: u64, third: u64, times: impl Fn(u64, u64) -> u64) -> Self {
        let quadrant = (first >> 62) as u32;
        let (first, second) = (first << 2 | second >> 62, second << 2 | third >> 62);
        let negative = first >> 63 == 1;
        let flip = if negative { u64::MAX } else { 0 };
        let (first, second) = (first ^ flip, second ^ flip);
        let zeros = first.leading_zeros() & 63;
        let fraction = first << zeros | second >> 1 >> (63 - zeros);
        let quadrant = quadrant + u32::from(negative);
        Self { quadrant, negative, angle: times(fraction, HALF_PI), exponent: 1 - zeros as i32 }
    }
}

/// The higher half of a product, to 31 bits.
#[inline(always)]
fn product_31(a: u64, b: u64) -> u64 {
    (a >> 32) * (b >> 32)
}

/// The higher half of a product, to 62 bits.
#[inline(always)]
fn product_62(a: u64, b: u64) -> u64 {
    let (a_high, a_low) = (a >> 32, a & 0xffff_ffff);
    let (b_high, b_low) = (b >> 32, b & 0xffff_ffff);
    a_high * b_high + ((a_high * b_low) >> 32) + ((a_low * b_high) >> 32)
}

/// The 32 digits of 2 / pi from the one after `start + 32 index` zeros and digits.
///
/// Digits above `exponent - 2` of a number `m 2^exponent` give multiples of 4 quarters; the table
/// starts with zeros for exponents down to -62.
#[inline(always)]
fn digits(exponent: i32, index: usize) -> u64 {
    let start = exponent.wrapping_add(62) as u32;
    let word = (start / 32) as usize + index;
    let pair = u64::from(TWO_OVER_PI[word & 63]) << 32 | u64::from(TWO_OVER_PI[(word + 1) & 63]);
    pair >> (32 - start % 32) & 0xffff_ffff
}

/// The quarters of a turn in `significand 2^exponent`, for significands of 24 bits: with 94 bits
/// below the quadrant, of which the last 24 are not exact.
#[inline(always)]
pub(crate) fn turns_24(significand: u64, exponent: i32) -> Turns {
    let last = significand * digits(exponent, 2);
    let middle = significand * digits(exponent, 1) + (last >> 32);
    let first = significand * digits(exponent, 0) + (middle >> 32);
    Turns::from_quarters(first << 32 | middle & 0xffff_ffff, last << 32, 0, product_31)
}

/// The quarters of a turn in `significand 2^exponent`, for significands of 53 bits: with 190 bits
/// below the quadrant, of which the last 53 are not exact.
#[inline(always)]
pub(crate) fn turns_53(significand: u64, exponent: i32) -> Turns {
    let (low_half, high_half) = (significand & 0xffff_ffff, significand >> 32);
    let mut product = [0_u64; 6];
    let (mut carry, mut below) = (0_u64, 0_u64);
    let mut index = product.len();
    while index > 0 {
        index -= 1;
        let digit = digits(exponent, index);
        let (a, b) = (low_half * digit, high_half * below);
        let sum = (a & 0xffff_ffff) + (b & 0xffff_ffff) + (carry & 0xffff_ffff);
        carry = (a >> 32) + (b >> 32) + (carry >> 32) + (sum >> 32);
        product[index] = sum & 0xffff_ffff;
        below = digit;
    }
    let [a, b, c, d, e, f] = product;
    Turns::from_quarters(a << 32 | b, c << 32 | d, e << 32 | f, product_62)
}

#[cfg(test)]
mod tests {
    use super::{Turns, turns_24, turns_53};

    #[test]
    fn quarter_turns_of_small_integers() {
        // 2 / pi = 0.6366..., 11 * 2 / pi = 7.0028..., 33 * 2 / pi = 21.0084...
        let integers = [(1_u64, 1, -0.363_380_227), (11, 3, 0.002_817_496), (33, 1, 0.008_452_488)];
        for (integer, quadrant, rest) in integers {
            let check = |turns: Turns| {
                let angle = turns.angle as f64 * 2.0_f64.powi(turns.exponent - 64);
                let size = angle * core::f64::consts::FRAC_2_PI;
                assert_eq!((turns.quadrant & 3, turns.negative), (quadrant, rest < 0.0));
                assert!((size - f64::abs(rest)).abs() < 1e-9, "{integer}: {size}");
            };
            check(turns_24(integer << 18, -18));
            check(turns_53(integer << 40, -40));
        }
    }
}
