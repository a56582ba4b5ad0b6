//! The trait of `f32` and `f64` that the algorithms are generic over.

use super::{
    coefficients::Coefficients,
    payne_hanek::{Turns, turns_24, turns_53},
};
use crate::intrinsics;
use core::ops::{Add, Div, Mul, Neg, Sub};

/// A binary floating-point format of IEEE 754.
pub(crate) trait Real:
    Coefficients
    + Copy
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    const INFINITY: Self;
    const NAN: Self;
    /// The largest exponent of a finite number: 127 or 1023.
    const MAX_EXPONENT: i32;
    /// Bits of a part of a reduced argument, few enough to convert it without rounding.
    const PART_BITS: u32;
    /// Bits of a quotient whose rounding error is at most a quarter.
    const QUOTIENT_BITS: i32;

    /// A small number that the format has exactly.
    fn of(value: f64) -> Self;
    fn from_i32(value: i32) -> Self;
    fn from_u32(value: u32) -> Self;
    /// 2 to the power `n`, `-MAX_EXPONENT < n <= MAX_EXPONENT`.
    fn pow2(n: i32) -> Self;
    /// The nearest integer as both, for magnitudes below 2^21; garbage and NaN for NaN.
    fn nearest(self) -> (Self, i32);
    /// The number with the lower half of its significand cleared: its square is exact.
    fn high(self) -> Self;
    /// `(k, m)` with `self = 2^k m` and `m` between the square roots of 1/2 and 2, for finite
    /// numbers above 0.
    fn normalize(self) -> (i32, Self);
    /// `|self|` modulo a turn, for normal numbers of at least 1.
    fn quarter_turns(self) -> Turns;
    /// The exponent of a normal number, `-MAX_EXPONENT` for subnormal ones and 0.
    fn exponent(self) -> i32;
    /// The cube root of a normal number above 0, to 5 bits.
    fn rough_cbrt(self) -> Self;
    fn abs(self) -> Self;
    fn copysign(self, sign: Self) -> Self;
    fn sqrt(self) -> Self;
    fn trunc(self) -> Self;
    /// `self * factor + summand`, rounded once.
    fn fma(self, factor: Self, summand: Self) -> Self;
    /// `self * factor + summand`, rounded once where that is as fast as a multiplication.
    fn fmuladd(self, factor: Self, summand: Self) -> Self;

    #[inline(always)]
    fn is_nan(self) -> bool {
        self.partial_cmp(&self).is_none()
    }

    #[inline(always)]
    fn is_finite(self) -> bool {
        self.abs() < Self::INFINITY
    }

    #[inline(always)]
    fn is_negative(self) -> bool {
        Self::of(1.0).copysign(self) < Self::of(0.0)
    }

    /// `self` in `low ..= high`; NaN stays NaN.
    #[inline(always)]
    fn limit(self, low: Self, high: Self) -> Self {
        let raised = if self < low { low } else { self };
        if raised > high { high } else { raised }
    }

    /// The polynomial with these coefficients, lowest first, by Horner's rule.
    #[inline(always)]
    fn polynomial(self, coefficients: &[Self]) -> Self {
        let (mut sum, mut left) = (Self::of(0.0), coefficients);
        while let [rest @ .., last] = left {
            sum = sum.fmuladd(self, *last);
            left = rest;
        }
        sum
    }

    /// `self * 2^n`, rounded once, for a normal number and `n` within twice the exponents.
    #[inline(always)]
    fn scale(self, n: i32) -> Self {
        let half = n >> 1;
        self * Self::pow2(half) * Self::pow2(n.wrapping_sub(half))
    }
}

macro_rules! real {
    ($float:ident, $bits:ident, $signed:ident, $mantissa:literal, $part:literal, $lift:literal,
        $turns:ident) => {
        impl Real for $float {
            const INFINITY: Self = $float::INFINITY;
            const NAN: Self = $float::NAN;
            const MAX_EXPONENT: i32 = $float::MAX_EXP - 1;
            const PART_BITS: u32 = $part;
            const QUOTIENT_BITS: i32 = $mantissa - 1;

            #[inline(always)]
            fn of(value: f64) -> Self {
                value as Self
            }

            #[inline(always)]
            fn from_i32(value: i32) -> Self {
                value as Self
            }

            #[inline(always)]
            fn from_u32(value: u32) -> Self {
                value as Self
            }

            #[inline(always)]
            fn pow2(n: i32) -> Self {
                Self::from_bits((n.wrapping_add(Self::MAX_EXPONENT) as $bits) << $mantissa)
            }

            #[inline(always)]
            fn nearest(self) -> (Self, i32) {
                // At this size the last place is 1, and the sum's lower bits are the integer.
                const MAGIC: $float = 1.5 * ((1 as $bits) << $mantissa) as $float;
                let sum = self + MAGIC;
                (sum - MAGIC, sum.to_bits().wrapping_sub(MAGIC.to_bits()) as i32)
            }

            #[inline(always)]
            fn high(self) -> Self {
                Self::from_bits(self.to_bits() & ($bits::MAX << (($mantissa + 2) / 2)))
            }

            #[inline(always)]
            fn normalize(self) -> (i32, Self) {
                const ROOT: $bits = core::$float::consts::FRAC_1_SQRT_2.to_bits();
                let subnormal = self < $float::MIN_POSITIVE;
                let lifted = if subnormal { self * Self::pow2($lift) } else { self };
                let bits = lifted.to_bits().wrapping_sub(ROOT);
                let exponent = (bits as $signed >> $mantissa) as i32;
                let rest = (bits & (((1 as $bits) << $mantissa) - 1)).wrapping_add(ROOT);
                // ROOT is between 1/2 and 1, so that the exponent counts from there.
                let k = exponent.wrapping_sub(if subnormal { $lift } else { 0 });
                (k, Self::from_bits(rest))
            }

            #[inline(always)]
            fn quarter_turns(self) -> Turns {
                let fraction = self.to_bits() & (((1 as $bits) << $mantissa) - 1);
                $turns(u64::from(fraction | 1 << $mantissa), self.exponent() - $mantissa)
            }

            #[inline(always)]
            fn exponent(self) -> i32 {
                let field = self.to_bits() << 1 >> ($mantissa + 1);
                field as i32 - Self::MAX_EXPONENT
            }

            #[inline(always)]
            fn rough_cbrt(self) -> Self {
                // The bits, as an integer, are nearly the logarithm: a third of it, and the
                // exponent's offset restored less the mean error.
                const OFFSET: $bits = ((($float::MAX_EXP - 1) as f64 * 2.0 / 3.0
                    - 0.033_062_356_51)
                    * (1_u64 << $mantissa) as f64) as $bits;
                Self::from_bits(self.to_bits() / 3 + OFFSET)
            }

            #[inline(always)]
            fn abs(self) -> Self {
                intrinsics::$float::fabs(self)
            }

            #[inline(always)]
            fn copysign(self, sign: Self) -> Self {
                intrinsics::$float::copysign(self, sign)
            }

            #[inline(always)]
            fn sqrt(self) -> Self {
                intrinsics::$float::sqrt(self)
            }

            #[inline(always)]
            fn trunc(self) -> Self {
                intrinsics::$float::trunc(self)
            }

            #[inline(always)]
            fn fma(self, factor: Self, summand: Self) -> Self {
                intrinsics::$float::fma(self, factor, summand)
            }

            #[inline(always)]
            fn fmuladd(self, factor: Self, summand: Self) -> Self {
                intrinsics::$float::fmuladd(self, factor, summand)
            }
        }
    };
}

real!(f32, u32, i32, 23, 24, 24, turns_24);
real!(f64, u64, i64, 52, 32, 54, turns_53);
