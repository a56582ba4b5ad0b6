//! Methods of floating-point numbers, the same on every device and on the host.
//!
//! `std`'s methods of `f32` and `f64` take precedence over those of the same name here. Kernels may use
//! them too, and get the functions of [`crate::math`].

use crate::{intrinsics, math};

macro_rules! float_trait {
    ($($(#[$doc:meta])* fn $name:ident(self $(, $argument:ident: $ty:ty)*) -> $output:ty;)*) => {
        /// The methods of `f32` and `f64`.
        ///
        /// ```
        /// use kernelmill_device::float::Float;
        ///
        /// fn norm<F: Float>(x: F, y: F) -> F {
        ///     x.mul_add(x, y * y).sqrt()
        /// }
        /// assert_eq!(norm(3.0_f32, 4.0), 5.0);
        /// assert_eq!(4.0_f64.rsqrt(), 0.5);
        /// ```
        pub trait Float:
            sealed::Sealed
            + Copy
            + PartialOrd
            + core::ops::Add<Output = Self>
            + core::ops::Sub<Output = Self>
            + core::ops::Mul<Output = Self>
            + core::ops::Div<Output = Self>
            + core::ops::Neg<Output = Self>
        {
            $(
                $(#[$doc])*
                #[must_use]
                fn $name(self $(, $argument: $ty)*) -> $output;
            )*
        }
    };
}

float_trait! {
    /// The square root.
    fn sqrt(self) -> Self;
    /// The reciprocal square root. For `f32` on NVIDIA's devices it is one instruction with an error of at
    /// most 2 ulp; elsewhere the square root and the division are each rounded.
    fn rsqrt(self) -> Self;
    /// The cube root.
    fn cbrt(self) -> Self;
    /// The length of the hypotenuse over the sides `self` and `other`.
    fn hypot(self, other: Self) -> Self;
    /// The sine of an angle in radians.
    fn sin(self) -> Self;
    /// The cosine of an angle in radians.
    fn cos(self) -> Self;
    /// The sine and the cosine of an angle in radians.
    fn sin_cos(self) -> (Self, Self);
    /// The tangent of an angle in radians.
    fn tan(self) -> Self;
    /// The arc sine in radians.
    fn asin(self) -> Self;
    /// The arc cosine in radians.
    fn acos(self) -> Self;
    /// The arc tangent in radians.
    fn atan(self) -> Self;
    /// The angle in radians of the point with the ordinate `self` and the abscissa `other`.
    fn atan2(self, other: Self) -> Self;
    /// The hyperbolic sine.
    fn sinh(self) -> Self;
    /// The hyperbolic cosine.
    fn cosh(self) -> Self;
    /// The hyperbolic tangent.
    fn tanh(self) -> Self;
    /// e to the power of `self`.
    fn exp(self) -> Self;
    /// 2 to the power of `self`.
    fn exp2(self) -> Self;
    /// e to the power of `self`, less 1, also where that is near 0.
    fn exp_m1(self) -> Self;
    /// The natural logarithm.
    fn ln(self) -> Self;
    /// The logarithm to base 2.
    fn log2(self) -> Self;
    /// The logarithm to base 10.
    fn log10(self) -> Self;
    /// The natural logarithm of `1 + self`, also where that is near 0.
    fn ln_1p(self) -> Self;
    /// `self` to the power of `exponent`.
    fn powf(self, exponent: Self) -> Self;
    /// `self` to the power of an integer, by repeated multiplication.
    fn powi(self, exponent: i32) -> Self;
    /// `self * factor + summand`, rounded once.
    fn mul_add(self, factor: Self, summand: Self) -> Self;
    /// The absolute value.
    fn abs(self) -> Self;
    /// The next integer towards negative infinity.
    fn floor(self) -> Self;
    /// The next integer towards infinity.
    fn ceil(self) -> Self;
    /// The next integer towards 0.
    fn trunc(self) -> Self;
    /// The nearest integer, away from 0 in the middle between two.
    fn round(self) -> Self;
    /// The nearest integer, the even one in the middle between two.
    fn round_ties_even(self) -> Self;
    /// The fraction that `trunc` removes.
    fn fract(self) -> Self;
    /// The smaller of two numbers; the other one if one is NaN.
    fn min(self, other: Self) -> Self;
    /// The greater of two numbers; the other one if one is NaN.
    fn max(self, other: Self) -> Self;
    /// `self`, but at least `low` and at most `high`; NaN stays NaN. Unlike `std`'s it does not
    /// panic where `low` is greater than `high`: then it is `high`.
    fn clamp(self, low: Self, high: Self) -> Self;
    /// The absolute value of `self` with the sign of `sign`.
    fn copysign(self, sign: Self) -> Self;
    /// 1 or -1 with the sign of `self`; NaN stays NaN.
    fn signum(self) -> Self;
    /// One divided by `self`.
    fn recip(self) -> Self;
    /// Whether it is not a number.
    fn is_nan(self) -> bool;
}

macro_rules! forward {
    ($from:path: $($name:ident($($argument:ident),*))*) => {
        $(
            #[inline(always)]
            fn $name(self $(, $argument: Self)*) -> Self {
                use $from as functions;
                functions::$name(self $(, $argument)*)
            }
        )*
    };
}

macro_rules! float {
    ($float:ident) => {
        impl sealed::Sealed for $float {}

        impl Float for $float {
            forward! { math::$float: cbrt() hypot(other) sin() cos() tan() asin() acos() atan()
            atan2(other) sinh() cosh() tanh() exp() exp2() exp_m1() ln() log2() log10() ln_1p()
            powf(exponent) }
            forward! { intrinsics::$float: sqrt() rsqrt() floor() ceil() trunc() copysign(sign) }

            #[inline(always)]
            fn sin_cos(self) -> (Self, Self) {
                (math::$float::sin(self), math::$float::cos(self))
            }

            #[inline(always)]
            fn powi(self, exponent: i32) -> Self {
                let mut bits = exponent.unsigned_abs();
                let (mut power, mut result) = (self, 1.0);
                while bits != 0 {
                    if bits & 1 != 0 {
                        result *= power;
                    }
                    power *= power;
                    bits >>= 1;
                }
                if exponent < 0 { 1.0 / result } else { result }
            }

            #[inline(always)]
            fn mul_add(self, factor: Self, summand: Self) -> Self {
                intrinsics::$float::fma(self, factor, summand)
            }

            #[inline(always)]
            fn abs(self) -> Self {
                intrinsics::$float::fabs(self)
            }

            #[inline(always)]
            fn round(self) -> Self {
                // The largest number below one half, so that no sum is rounded up to an integer.
                let half = 0.5 - $float::EPSILON / 4.0;
                intrinsics::$float::trunc(self + intrinsics::$float::copysign(half, self))
            }

            #[inline(always)]
            fn round_ties_even(self) -> Self {
                intrinsics::$float::rint(self)
            }

            #[inline(always)]
            fn fract(self) -> Self {
                self - intrinsics::$float::trunc(self)
            }

            #[inline(always)]
            fn min(self, other: Self) -> Self {
                intrinsics::$float::minnum(self, other)
            }

            #[inline(always)]
            fn max(self, other: Self) -> Self {
                intrinsics::$float::maxnum(self, other)
            }

            #[inline(always)]
            fn clamp(self, low: Self, high: Self) -> Self {
                let raised = if self < low { low } else { self };
                if raised > high { high } else { raised }
            }

            #[inline(always)]
            fn signum(self) -> Self {
                if self != self { self } else { intrinsics::$float::copysign(1.0, self) }
            }

            #[inline(always)]
            fn recip(self) -> Self {
                1.0 / self
            }

            #[inline(always)]
            fn is_nan(self) -> bool {
                self != self
            }
        }
    };
}

float!(f32);
float!(f64);

mod sealed {
    /// What only this crate implements.
    pub trait Sealed {}
}

#[cfg(test)]
mod tests {
    use super::Float;

    fn samples() -> impl Iterator<Item = f64> {
        let fixed = [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, 0.499_999_999_999_999_94, 4.5e15, f64::NAN];
        let large = [f64::INFINITY, f64::NEG_INFINITY, 9_007_199_254_740_993.0, -1e300];
        fixed.into_iter().chain(large).chain((-400..400).map(|step| f64::from(step) * 0.125))
    }

    #[test]
    fn rounding_is_that_of_std() {
        let same = |ours: f64, theirs: f64, x: f64| {
            assert!(ours.to_bits() == theirs.to_bits() || ours.is_nan() && theirs.is_nan(), "{x}");
        };
        for x in samples() {
            same(Float::round(x), f64::round(x), x);
            same(Float::round_ties_even(x), f64::round_ties_even(x), x);
            same(Float::fract(x), f64::fract(x), x);
            same(Float::signum(x), f64::signum(x), x);
            same(Float::clamp(x, -2.0, 3.0), f64::clamp(x, -2.0, 3.0), x);
            same(f64::from(Float::round(x as f32)), f64::from(f32::round(x as f32)), x);
        }
    }

    #[test]
    fn powers_of_integers() {
        assert_eq!(Float::powi(3.0_f64, 5), 243.0);
        assert_eq!(Float::powi(2.0_f32, -3), 0.125);
        assert_eq!(Float::powi(7.0_f32, 0), 1.0);
        assert_eq!(Float::powi(1.0_f64, i32::MIN), 1.0);
    }
}
