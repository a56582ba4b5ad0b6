//! Functions in higher precision, by the crate `astro-float`.

use astro_float::{BigFloat, Consts, RoundingMode};

/// Bits of every result. The argument counts as exact.
const BITS: usize = 128;
/// Nothing is gained by rounding results of this many bits well.
const MODE: RoundingMode = RoundingMode::None;

/// Computes in higher precision.
pub(crate) struct Big {
    constants: Consts,
}

macro_rules! direct {
    ($($name:ident $theirs:ident;)*) => {
        $(pub(crate) fn $name(&mut self, x: f64) -> BigFloat {
            number(x).$theirs(BITS, MODE, &mut self.constants)
        })*
    };
}

impl Big {
    pub(crate) fn new() -> Self {
        Self { constants: Consts::new().expect("memory for constants") }
    }

    direct! {
        sin sin; cos cos; tan tan; asin asin; acos acos; atan atan; sinh sinh; cosh cosh;
        tanh tanh; exp exp; ln ln; log2 log2; log10 log10;
    }

    pub(crate) fn sqrt(&mut self, x: f64) -> BigFloat {
        number(x).sqrt(BITS, MODE)
    }

    pub(crate) fn rsqrt(&mut self, x: f64) -> BigFloat {
        self.sqrt(x).reciprocal(BITS, MODE)
    }

    pub(crate) fn recip(&mut self, x: f64) -> BigFloat {
        number(x).reciprocal(BITS, MODE)
    }

    pub(crate) fn cbrt(&mut self, x: f64) -> BigFloat {
        number(x).cbrt(BITS, MODE)
    }

    pub(crate) fn exp2(&mut self, x: f64) -> BigFloat {
        number(2.0).pow(&number(x), BITS, MODE, &mut self.constants)
    }

    pub(crate) fn exp_m1(&mut self, x: f64) -> BigFloat {
        // Near 0 as many bits cancel as the exponent is below 0.
        let bits = BITS + lost(x);
        let exp = wide(x, bits).exp(bits, MODE, &mut self.constants);
        exp.sub(&number(1.0), bits, MODE)
    }

    pub(crate) fn ln_1p(&mut self, x: f64) -> BigFloat {
        let bits = BITS + lost(x);
        let sum = wide(x, bits).add(&number(1.0), bits, MODE);
        sum.ln(bits, MODE, &mut self.constants)
    }

    pub(crate) fn hypot(&mut self, x: f64, y: f64) -> BigFloat {
        let square = |x: f64| number(x).mul(&number(x), BITS, MODE);
        square(x).add(&square(y), BITS, MODE).sqrt(BITS, MODE)
    }

    pub(crate) fn atan2(&mut self, y: f64, x: f64) -> BigFloat {
        let ratio = number(y).div(&number(x), BITS, MODE);
        let angle = ratio.atan(BITS, MODE, &mut self.constants);
        if x > 0.0 {
            return angle;
        }
        let pi = self.constants.pi(BITS, MODE);
        if y < 0.0 { angle.sub(&pi, BITS, MODE) } else { angle.add(&pi, BITS, MODE) }
    }

    pub(crate) fn powf(&mut self, x: f64, y: f64) -> BigFloat {
        number(x).pow(&number(y), BITS, MODE, &mut self.constants)
    }

    pub(crate) fn mul_add(&mut self, x: f64, y: f64) -> BigFloat {
        // No bit of the product and the sum is lost.
        const ALL: usize = 4608;
        number(x).mul(&number(y), ALL, MODE).add(&number(x), ALL, MODE)
    }
}

fn number(x: f64) -> BigFloat {
    wide(x, BITS)
}

fn wide(x: f64, bits: usize) -> BigFloat {
    if x.is_subnormal() {
        // Half of it is what `from_f64` makes of such a number.
        let scale = 2_f64.powi(64);
        return BigFloat::from_f64(x * scale, bits).div(&number(scale), bits, MODE);
    }
    BigFloat::from_f64(x, bits)
}

/// Bits that cancel where a number is added to 1 or taken from it.
fn lost(x: f64) -> usize {
    (-exponent(x)).clamp(0, 1100) as usize
}

fn exponent(x: f64) -> i32 {
    (x.abs().to_bits() >> 52) as i32 - 1023
}

/// The distance of a number of so many bits in the mantissa, and so small an exponent, from the
/// exact one, in units of the last place of the latter.
pub(crate) fn ulps(ours: f64, exact: &BigFloat, mantissa: i32, least: i32) -> f64 {
    let Some((words, _, sign, exponent, _)) = exact.as_raw_parts() else {
        return if ours.is_nan() && exact.is_nan() { 0.0 } else { f64::INFINITY };
    };
    if !ours.is_finite() {
        return f64::INFINITY;
    }
    // The value is that of the top 128 bits, as a fraction, times 2 to the exponent.
    let word = |from_top: usize| {
        let index = words.len().checked_sub(1 + from_top);
        index.map_or(0, |index| u128::from(words[index]))
    };
    let top = word(0) << 64 | word(1);
    if top == 0 {
        return if ours == 0.0 { 0.0 } else { f64::INFINITY };
    }
    let unit = (exponent - 1).max(least) - (mantissa - 1);
    // In units of 2 to the -60 of a unit of the last place.
    let shift = unit - 60 + 128 - exponent;
    let exact = if shift < 128 { (top >> shift) as i128 } else { 0 };
    let exact = if sign.is_negative() { -exact } else { exact };
    let ours = scaled(ours, unit) * (1_i128 << 60);
    (ours - exact).unsigned_abs() as f64 / (1_u64 << 60) as f64
}

/// A number as a multiple of 2 to the exponent, which it is; the largest where it is larger.
fn scaled(x: f64, unit: i32) -> i128 {
    let bits = x.abs().to_bits();
    let (field, fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
    let (integer, at) =
        if field == 0 { (fraction, -1074) } else { (fraction | 1 << 52, field - 1075) };
    let shift = at - unit;
    let value = if shift >= 0 {
        i128::from(integer) << shift.min(10)
    } else {
        i128::from(integer) >> (-shift).min(63)
    };
    if x < 0.0 { -value } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_in_units_of_the_last_place() {
        let exact = |x: f64| number(x);
        let next = |x: f64| f64::from_bits(x.to_bits() + 1);
        for x in [1.0, 1.5, 3e-310, 5e-324, 1e300] {
            assert_eq!(ulps(x, &exact(x), 53, -1022), 0.0, "{x:e}");
            assert_eq!(ulps(next(x), &exact(x), 53, -1022), 1.0, "{x:e}");
            assert_eq!(ulps(-x, &exact(-next(x)), 53, -1022), 1.0, "{x:e}");
        }
        let third = number(1.0).div(&number(3.0), BITS, MODE);
        let error = ulps(1.0 / 3.0, &third, 53, -1022);
        assert!((error - 1.0 / 3.0).abs() < 1e-9, "{error}");
        assert_eq!(ulps(f64::INFINITY, &third, 53, -1022), f64::INFINITY);
    }

    /// From Maple's and mpmath's documentation.
    #[test]
    fn the_reference_knows_hard_cases() {
        let mut big = Big::new();
        let near = |found: &BigFloat, value: f64| ulps(value, found, 53, -1022) <= 0.5;
        assert!(near(&big.sin(1e22), -0.852_200_849_767_188_8));
        assert!(near(&big.exp_m1(1e-20), 1e-20) && near(&big.ln_1p(1e-20), 1e-20));
        assert!(near(&big.atan2(-1.0, -1.0), -2.356_194_490_192_345));
        assert!(near(&big.mul_add(1e300, 1e-300), 1e300) && near(&big.exp2(0.5), 2_f64.sqrt()));
    }
}
