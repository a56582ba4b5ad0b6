//! Double-word arithmetic: numbers of twice the precision, as unevaluated sums of two.
//!
//! The algorithms are those of Dekker, "A floating-point technique for extending the available
//! precision" (1971), with products by fused multiply-add.

use super::real::Real;

/// The sum of a number and its rounding error.
#[derive(Clone, Copy)]
pub(super) struct Double<T> {
    pub(super) high: T,
    pub(super) low: T,
}

impl<T: Real> Double<T> {
    /// `a + b` where `a` is 0 or its exponent is not below that of `b`.
    #[inline(always)]
    pub(super) fn sum(a: T, b: T) -> Self {
        let high = a + b;
        Self { high, low: (a - high) + b }
    }

    /// `a - b`, whichever is the greater (Knuth).
    #[inline(always)]
    pub(super) fn difference(a: T, b: T) -> Self {
        let high = a - b;
        let part = high - a;
        Self { high, low: (a - (high - part)) - (b + part) }
    }

    /// `a * b`.
    #[inline(always)]
    pub(super) fn product(a: T, b: T) -> Self {
        let high = a * b;
        Self { high, low: a.fma(b, -high) }
    }

    /// `numerator / denominator`.
    #[inline(always)]
    pub(super) fn quotient(numerator: Self, denominator: Self) -> Self {
        let high = numerator.high / denominator.high;
        let rest = (-high).fma(denominator.high, numerator.high);
        let rest = rest + (numerator.low - high * denominator.low);
        Self { high, low: rest / denominator.high }
    }

    /// `self + x`, where `self` is the greater.
    #[inline(always)]
    pub(super) fn plus(self, x: T) -> Self {
        let sum = Self::sum(self.high, x);
        Self { high: sum.high, low: sum.low + self.low }
    }

    /// `self + x`, where `x` is small enough for the second part.
    #[inline(always)]
    pub(super) fn plus_low(self, x: T) -> Self {
        Self { high: self.high, low: self.low + x }
    }

    /// `self + other`, where `self` is the greater.
    #[inline(always)]
    pub(super) fn add(self, other: Self) -> Self {
        let sum = Self::sum(self.high, other.high);
        Self { high: sum.high, low: sum.low + (self.low + other.low) }
    }

    #[inline(always)]
    pub(super) fn times(self, other: Self) -> Self {
        let product = Self::product(self.high, other.high);
        let cross = self.high * other.low + self.low * other.high;
        Self { high: product.high, low: product.low + cross }
    }
}
