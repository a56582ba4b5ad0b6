//! The math library: elementary functions for `f32` and `f64`, the same on every device and on the
//! host.
//!
//! The error is at most 2 units in the last place over the whole range, and at most 1 for most
//! functions. Special values are those of C99, annex F. Only the reduction of huge angles uses a table,
//! the digits of 2 / pi, and branches.
//!
//! ```
//! use kernelmill_device::math;
//! assert_eq!(math::f32::exp2(10.0), 1024.0);
//! assert!((math::f64::cos(1e22) - 0.523_214_785_395_138_9).abs() < 2e-16);
//! ```

mod circular;
mod coefficients;
mod double;
mod exponential;
mod inverse;
mod logarithm;
mod payne_hanek;
mod power;
mod real;
mod reduction;
mod remainder;
mod root;

macro_rules! functions {
    ($float:ident: $($(#[$doc:meta])* $from:ident::$name:ident($($parameter:ident),*) $symbol:ident;)*) => {
        $(
            $(#[$doc])*
            // In kernels it stays a function until the compiler has chosen a math library.
            #[must_use]
            #[cfg_attr(kernelmill, inline)]
            #[cfg_attr(not(kernelmill), inline(always))]
            pub fn $name($($parameter: $float),*) -> $float {
                super::$from::$name($($parameter),*)
            }

            #[cfg(kernelmill)]
            #[unsafe(no_mangle)]
            extern "C" fn $symbol($($parameter: $float),*) -> $float {
                $name($($parameter),*)
            }
        )*
    };
}

macro_rules! module {
    ($float:ident: $sin:ident $cos:ident $tan:ident $asin:ident $acos:ident $atan:ident $atan2:ident
        $sinh:ident $cosh:ident $tanh:ident $exp:ident $exp2:ident $exp_m1:ident $ln:ident
        $log2:ident $log10:ident $ln_1p:ident $powf:ident $cbrt:ident $hypot:ident $rem:ident) => {
        #[doc = concat!("The functions on `", stringify!($float), "`.")]
        pub mod $float {
            functions! { $float:
                /// The sine of an angle in radians.
                circular::sin(x) $sin;
                /// The cosine of an angle in radians.
                circular::cos(x) $cos;
                /// The tangent of an angle in radians.
                circular::tan(x) $tan;
                /// The arc sine in radians; NaN outside of -1 to 1.
                inverse::asin(x) $asin;
                /// The arc cosine in radians; NaN outside of -1 to 1.
                inverse::acos(x) $acos;
                /// The arc tangent in radians.
                inverse::atan(x) $atan;
                /// The angle in radians of the point with abscissa `x` and ordinate `y`.
                inverse::atan2(y, x) $atan2;
                /// The hyperbolic sine.
                exponential::sinh(x) $sinh;
                /// The hyperbolic cosine.
                exponential::cosh(x) $cosh;
                /// The hyperbolic tangent.
                exponential::tanh(x) $tanh;
                /// e to the power of `x`.
                exponential::exp(x) $exp;
                /// 2 to the power of `x`.
                exponential::exp2(x) $exp2;
                /// e to the power of `x`, less 1.
                exponential::exp_m1(x) $exp_m1;
                /// The natural logarithm; NaN below 0.
                logarithm::ln(x) $ln;
                /// The logarithm to base 2; NaN below 0.
                logarithm::log2(x) $log2;
                /// The logarithm to base 10; NaN below 0.
                logarithm::log10(x) $log10;
                /// The natural logarithm of `1 + x`; NaN below -1.
                logarithm::ln_1p(x) $ln_1p;
                /// `x` to the power of `y`.
                power::powf(x, y) $powf;
                /// The cube root.
                root::cbrt(x) $cbrt;
                /// The square root of `x * x + y * y`, without overflow on the way.
                root::hypot(x, y) $hypot;
                /// The remainder of `x / y` with the quotient rounded towards 0, as `%`: exact, with the
                /// sign of `x`.
                remainder::rem(x, y) $rem;
            }
        }
    };
}

module! { f32:
    __kernelmill_math_sin_f32 __kernelmill_math_cos_f32 __kernelmill_math_tan_f32
    __kernelmill_math_asin_f32 __kernelmill_math_acos_f32 __kernelmill_math_atan_f32
    __kernelmill_math_atan2_f32 __kernelmill_math_sinh_f32 __kernelmill_math_cosh_f32
    __kernelmill_math_tanh_f32 __kernelmill_math_exp_f32 __kernelmill_math_exp2_f32
    __kernelmill_math_exp_m1_f32 __kernelmill_math_ln_f32 __kernelmill_math_log2_f32
    __kernelmill_math_log10_f32 __kernelmill_math_ln_1p_f32 __kernelmill_math_powf_f32
    __kernelmill_math_cbrt_f32 __kernelmill_math_hypot_f32 __kernelmill_math_rem_f32
}

module! { f64:
    __kernelmill_math_sin_f64 __kernelmill_math_cos_f64 __kernelmill_math_tan_f64
    __kernelmill_math_asin_f64 __kernelmill_math_acos_f64 __kernelmill_math_atan_f64
    __kernelmill_math_atan2_f64 __kernelmill_math_sinh_f64 __kernelmill_math_cosh_f64
    __kernelmill_math_tanh_f64 __kernelmill_math_exp_f64 __kernelmill_math_exp2_f64
    __kernelmill_math_exp_m1_f64 __kernelmill_math_ln_f64 __kernelmill_math_log2_f64
    __kernelmill_math_log10_f64 __kernelmill_math_ln_1p_f64 __kernelmill_math_powf_f64
    __kernelmill_math_cbrt_f64 __kernelmill_math_hypot_f64 __kernelmill_math_rem_f64
}
