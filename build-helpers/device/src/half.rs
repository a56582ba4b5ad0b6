//! Half precision: `f16` and `bf16`, under the names and with the methods of the crate [`half`].
//!
//! Stable Rust has no such types. A kernel file that belongs to no kernel package has no dependencies; there `use half::f16;`
//! means [`f16`](struct@f16) of this module, and on the host, where the file is a module of a crate, that of the crate `half`. In a
//! kernel package that depends on `half` the crate's own type is meant everywhere. Each of them crosses from host to
//! device as `half`'s type does on the host.
//!
//! Conversions are instructions where the device has them, and integer arithmetic without branches elsewhere. An operator
//! computes in `f32` and rounds once, to the nearest and ties to even, which is what an instruction for halves gives too.
//!
//! [`half`]: https://docs.rs/half

use crate::intrinsics;
use core::{
    cmp::Ordering,
    fmt,
    iter::{Product, Sum},
    ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Rem, RemAssign, Sub, SubAssign},
};

/// A number of IEEE's binary16: 11 bits of precision, up to 65504.
///
/// ```
/// use kernelmill_device::half::f16;
///
/// let third = f16::from_f32(1.0 / 3.0);
/// assert_eq!(third.to_f32(), 0.333_251_95);
/// assert_eq!(third + third + third, f16::ONE);
/// assert_eq!(f16::from_f32(65_520.0), f16::INFINITY);
/// ```
#[expect(non_camel_case_types, reason = "the name of the crate half")]
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
pub struct f16(u16);

/// The upper half of an `f32`: 8 bits of precision, and the range of `f32`.
///
/// ```
/// use kernelmill_device::half::bf16;
///
/// assert_eq!(bf16::from_f32(1.003).to_f32(), 1.0);
/// assert_eq!(bf16::from_f32(1e38).to_f32(), 9.969_21e37);
/// ```
#[expect(non_camel_case_types, reason = "the name of the crate half")]
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
pub struct bf16(u16);

impl f16 {
    /// The difference between 1 and the next larger number.
    pub const EPSILON: Self = Self(0x1400);
    /// Infinity.
    pub const INFINITY: Self = Self(0x7c00);
    /// The largest finite number, 65504.
    pub const MAX: Self = Self(0x7bff);
    /// The smallest finite number, -65504.
    pub const MIN: Self = Self(0xfbff);
    /// The smallest positive number of full precision, 2^-14.
    pub const MIN_POSITIVE: Self = Self(0x0400);
    /// The smallest positive number, 2^-24.
    pub const MIN_POSITIVE_SUBNORMAL: Self = Self(1);
    /// Not a number.
    pub const NAN: Self = Self(0x7e00);
    /// Negative infinity.
    pub const NEG_INFINITY: Self = Self(0xfc00);
    /// -1.
    pub const NEG_ONE: Self = Self(0xbc00);
    /// -0.
    pub const NEG_ZERO: Self = Self(0x8000);
    /// 1.
    pub const ONE: Self = Self(0x3c00);
    /// 0.
    pub const ZERO: Self = Self(0);

    /// The nearest number, the even one in the middle between two.
    #[must_use]
    #[inline(always)]
    pub fn from_f32(value: f32) -> Self {
        Self(intrinsics::f32_to_f16(value))
    }

    /// The nearest number, rounded once.
    #[must_use]
    #[inline(always)]
    pub fn from_f64(value: f64) -> Self {
        Self(intrinsics::f64_to_f16(value))
    }

    /// The same number.
    #[must_use]
    #[inline(always)]
    pub fn to_f32(self) -> f32 {
        intrinsics::f16_to_f32(self.0)
    }
}

impl bf16 {
    /// The difference between 1 and the next larger number.
    pub const EPSILON: Self = Self(0x3c00);
    /// Infinity.
    pub const INFINITY: Self = Self(0x7f80);
    /// The largest finite number.
    pub const MAX: Self = Self(0x7f7f);
    /// The smallest finite number.
    pub const MIN: Self = Self(0xff7f);
    /// The smallest positive number of full precision, 2^-126.
    pub const MIN_POSITIVE: Self = Self(0x0080);
    /// The smallest positive number, 2^-133.
    pub const MIN_POSITIVE_SUBNORMAL: Self = Self(1);
    /// Not a number.
    pub const NAN: Self = Self(0x7fc0);
    /// Negative infinity.
    pub const NEG_INFINITY: Self = Self(0xff80);
    /// -1.
    pub const NEG_ONE: Self = Self(0xbf80);
    /// -0.
    pub const NEG_ZERO: Self = Self(0x8000);
    /// 1.
    pub const ONE: Self = Self(0x3f80);
    /// 0.
    pub const ZERO: Self = Self(0);

    /// The nearest number, the even one in the middle between two.
    #[must_use]
    #[inline(always)]
    pub fn from_f32(value: f32) -> Self {
        let bits = value.to_bits();
        let is_nan = bits & 0x7fff_ffff > 0x7f80_0000;
        let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1));
        // A NaN stays one, also where all its bits are in the lower half.
        let bits = if is_nan { bits | 0x0040_0000 } else { rounded };
        Self((bits >> 16) as u16)
    }

    /// The nearest number, rounded once.
    #[must_use]
    #[inline(always)]
    pub fn from_f64(value: f64) -> Self {
        // Rounded to odd: the last bit says that something is below it, so that rounding again is right.
        let near = value as f32;
        let back = f64::from(near);
        let away = back.to_bits() & (u64::MAX >> 1) > value.to_bits() & (u64::MAX >> 1);
        let towards_zero = near.to_bits() - u32::from(away);
        let is_exact = back == value || value.is_nan();
        let odd = if is_exact { near.to_bits() } else { towards_zero | 1 };
        Self::from_f32(f32::from_bits(odd))
    }

    /// The same number.
    #[must_use]
    #[inline(always)]
    pub fn to_f32(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }
}

macro_rules! operators {
    ($half:ident: $($operator:ident $method:ident $assign:ident $assigned:ident;)*) => {
        $(
            impl $operator for $half {
                type Output = Self;

                #[inline(always)]
                fn $method(self, other: Self) -> Self {
                    Self::from_f32($operator::$method(self.to_f32(), other.to_f32()))
                }
            }

            impl $operator<&Self> for $half {
                type Output = Self;

                #[inline(always)]
                fn $method(self, other: &Self) -> Self {
                    $operator::$method(self, *other)
                }
            }

            impl $assign for $half {
                #[inline(always)]
                fn $assigned(&mut self, other: Self) {
                    *self = $operator::$method(*self, other);
                }
            }

            impl $assign<&Self> for $half {
                #[inline(always)]
                fn $assigned(&mut self, other: &Self) {
                    *self = $operator::$method(*self, *other);
                }
            }
        )*
    };
}

macro_rules! half {
    ($($half:ident($exponent:literal))*) => {
        $(
            impl $half {
                /// The number of these bits.
                #[must_use]
                #[inline(always)]
                pub const fn from_bits(bits: u16) -> Self {
                    Self(bits)
                }

                /// The bits in memory.
                #[must_use]
                #[inline(always)]
                pub const fn to_bits(self) -> u16 {
                    self.0
                }

                /// The same number.
                #[must_use]
                #[inline(always)]
                pub fn to_f64(self) -> f64 {
                    f64::from(self.to_f32())
                }

                /// Whether it is not a number.
                #[must_use]
                #[inline(always)]
                pub const fn is_nan(self) -> bool {
                    self.0 & 0x7fff > $exponent
                }

                /// Whether it is infinity or negative infinity.
                #[must_use]
                #[inline(always)]
                pub const fn is_infinite(self) -> bool {
                    self.0 & 0x7fff == $exponent
                }

                /// Whether it is neither infinite nor NaN.
                #[must_use]
                #[inline(always)]
                pub const fn is_finite(self) -> bool {
                    self.0 & $exponent != $exponent
                }

                /// Whether its sign is `-`, also that of -0 and of NaN.
                #[must_use]
                #[inline(always)]
                pub const fn is_sign_negative(self) -> bool {
                    self.0 & 0x8000 != 0
                }

                /// Whether its sign is `+`, also that of 0 and of NaN.
                #[must_use]
                #[inline(always)]
                pub const fn is_sign_positive(self) -> bool {
                    !self.is_sign_negative()
                }

                /// `self` with the sign of `sign`.
                #[must_use]
                #[inline(always)]
                pub const fn copysign(self, sign: Self) -> Self {
                    Self(self.0 & 0x7fff | sign.0 & 0x8000)
                }

                /// The smaller of two numbers; the other one if one is NaN.
                #[must_use]
                #[inline(always)]
                pub fn min(self, other: Self) -> Self {
                    if self.is_nan() || other < self { other } else { self }
                }

                /// The greater of two numbers; the other one if one is NaN.
                #[must_use]
                #[inline(always)]
                pub fn max(self, other: Self) -> Self {
                    if self.is_nan() || other > self { other } else { self }
                }
            }

            operators! {
                $half:
                Add add AddAssign add_assign;
                Sub sub SubAssign sub_assign;
                Mul mul MulAssign mul_assign;
                Div div DivAssign div_assign;
                Rem rem RemAssign rem_assign;
            }

            impl Neg for $half {
                type Output = Self;

                #[inline(always)]
                fn neg(self) -> Self {
                    Self(self.0 ^ 0x8000)
                }
            }

            impl PartialEq for $half {
                #[inline(always)]
                fn eq(&self, other: &Self) -> bool {
                    self.to_f32() == other.to_f32()
                }
            }

            impl PartialOrd for $half {
                #[inline(always)]
                fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                    self.to_f32().partial_cmp(&other.to_f32())
                }
            }

            /// In `f32`, rounded once at the end.
            impl Sum for $half {
                fn sum<I: Iterator<Item = Self>>(numbers: I) -> Self {
                    Self::from_f32(numbers.map(Self::to_f32).sum())
                }
            }

            /// In `f32`, rounded once at the end.
            impl Product for $half {
                fn product<I: Iterator<Item = Self>>(numbers: I) -> Self {
                    Self::from_f32(numbers.map(Self::to_f32).product())
                }
            }

            impl From<$half> for f32 {
                #[inline(always)]
                fn from(number: $half) -> Self {
                    number.to_f32()
                }
            }

            impl From<$half> for f64 {
                #[inline(always)]
                fn from(number: $half) -> Self {
                    number.to_f64()
                }
            }

            impl From<i8> for $half {
                #[inline(always)]
                fn from(number: i8) -> Self {
                    Self::from_f32(f32::from(number))
                }
            }

            impl From<u8> for $half {
                #[inline(always)]
                fn from(number: u8) -> Self {
                    Self::from_f32(f32::from(number))
                }
            }

            impl fmt::Debug for $half {
                fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                    fmt::Debug::fmt(&self.to_f32(), formatter)
                }
            }

            impl fmt::Display for $half {
                fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                    fmt::Display::fmt(&self.to_f32(), formatter)
                }
            }
        )*
    };
}

half! { f16(0x7c00) bf16(0x7f80) }

#[cfg(test)]
mod tests {
    use super::*;
    use ::half::{bf16 as TheirBf16, f16 as TheirF16};

    /// Numbers around each that can be represented, and some far from them.
    fn numbers() -> impl Iterator<Item = f32> {
        let near = (0..=u16::MAX).step_by(7).flat_map(|bits| {
            let [half, brain] =
                [TheirF16::from_bits(bits).to_f32(), TheirBf16::from_bits(bits).to_f32()];
            [half, brain].into_iter().flat_map(|number| {
                let bits = number.to_bits();
                [0, 1, 0x0fff, 0x1000, 0x1001, 0x7fff, 0x8000, 0x8001]
                    .map(|it| f32::from_bits(bits.wrapping_add(it)))
            })
        });
        near.chain([
            0.0,
            -0.0,
            f32::NAN,
            f32::INFINITY,
            f32::NEG_INFINITY,
            65_519.9,
            65_520.0,
            1e-8,
            f32::MAX,
        ])
    }

    #[test]
    fn conversions_are_those_of_the_crate_half() {
        for number in numbers() {
            let (f, b) = (f16::from_f32(number), bf16::from_f32(number));
            if number.is_nan() {
                assert!(f.is_nan() && b.is_nan() && f != f && b != b, "{number}");
                continue;
            }
            assert_eq!(f.to_bits(), TheirF16::from_f32(number).to_bits(), "{number:e}");
            assert_eq!(b.to_bits(), TheirBf16::from_f32(number).to_bits(), "{number:e}");
            // Of which an `f32` would be in the middle between two.
            for double in [
                f64::from(number),
                f64::from(number) * (1.0 + f64::EPSILON),
                f64::from(number) * 1.000_000_01,
            ] {
                let expected = exact(
                    double,
                    |bits| TheirF16::from_bits(bits).to_f64(),
                    f16::INFINITY.0,
                    65_520.0,
                );
                assert_eq!(f16::from_f64(double).to_bits(), expected, "{double:e}");
                if double.abs() < 3.38e38 {
                    let expected = exact(
                        double,
                        |bits| TheirBf16::from_bits(bits).to_f64(),
                        bf16::INFINITY.0,
                        f64::MAX,
                    );
                    assert_eq!(bf16::from_f64(double).to_bits(), expected, "{double:e}");
                }
            }
        }
        for bits in 0..=u16::MAX {
            let (f, b) = (f16::from_bits(bits), bf16::from_bits(bits));
            let (their_f, their_b) = (TheirF16::from_bits(bits), TheirBf16::from_bits(bits));
            assert_eq!(
                f.to_f32().to_bits() & !0x0040_0000,
                their_f.to_f32().to_bits() & !0x0040_0000,
                "{bits:x}"
            );
            assert_eq!(
                b.to_f32().to_bits() | 0x0040_0000,
                their_b.to_f32().to_bits() | 0x0040_0000,
                "{bits:x}"
            );
            let ours = [
                f.is_nan(),
                f.is_infinite(),
                f.is_finite(),
                b.is_nan(),
                b.is_infinite(),
                b.is_finite(),
            ];
            let theirs = [
                their_f.is_nan(),
                their_f.is_infinite(),
                their_f.is_finite(),
                their_b.is_nan(),
                their_b.is_infinite(),
                their_b.is_finite(),
            ];
            assert_eq!(ours, theirs, "{bits:x}");
        }
    }

    /// The bits of the nearest number, by search among all.
    fn exact(number: f64, value: impl Fn(u16) -> f64, infinity: u16, overflow: f64) -> u16 {
        let sign = if number.is_sign_negative() { 0x8000 } else { 0 };
        let number = number.abs();
        if number >= overflow {
            return infinity | sign;
        }
        let (mut low, mut high) = (0, infinity);
        while high - low > 1 {
            let middle = low.midpoint(high);
            if value(middle) <= number { low = middle } else { high = middle }
        }
        let (below, above) = (number - value(low), value(high) - number);
        let nearest = match below.total_cmp(&above) {
            Ordering::Less => low,
            Ordering::Greater if high < infinity => high,
            Ordering::Equal if low % 2 == 0 => low,
            // The largest number, up to the middle to what would be next.
            _ if high == infinity => low,
            _ => high,
        };
        nearest | sign
    }

    #[test]
    fn operators_round_once_as_those_of_the_crate_half() {
        let picked: Vec<u16> =
            (0..=u16::MAX).step_by(331).chain([0x7c00, 0xfc00, 0x0001, 0x7bff]).collect();
        for (&a, &b) in picked.iter().flat_map(|a| picked.iter().map(move |b| (a, b))) {
            let (x, y) = (f16::from_bits(a), f16::from_bits(b));
            let (p, q) = (TheirF16::from_bits(a), TheirF16::from_bits(b));
            let mut assigned = x;
            assigned += y;
            assigned -= &x;
            for (ours, theirs) in [
                (x + y, p + q),
                (Sub::sub(x, &y), p - q),
                (x * y, p * q),
                (x / y, p / q),
                (x % y, p % q),
                (-x, -p),
                (assigned, p + q - p),
                (x.copysign(y), p.copysign(q)),
            ] {
                let same = ours.is_nan() && theirs.is_nan() || ours.to_bits() == theirs.to_bits();
                assert!(same, "{a:x} {b:x}: {ours} {theirs}");
            }
            assert_eq!(x.partial_cmp(&y), p.partial_cmp(&q));
            assert_eq!((x == y, x < y), (p == q, p < q));
            if !(x.is_nan() && y.is_nan()) && x != y {
                assert_eq!(
                    [x.min(y).0, x.max(y).0],
                    [p.min(q).to_bits(), p.max(q).to_bits()],
                    "{x} {y}"
                );
            }
            let (x, y, p, q) = (bf16(a), bf16(b), TheirBf16::from_bits(a), TheirBf16::from_bits(b));
            for (ours, theirs) in [(x + y, p + q), (x - y, p - q), (x * y, p * q), (x / y, p / q)] {
                let same = ours.is_nan() && theirs.is_nan() || ours.to_bits() == theirs.to_bits();
                assert!(same, "{a:x} {b:x}: {ours} {theirs}");
            }
        }
        assert_eq!(
            [0.5, 1.5, 2048.0].map(f16::from_f32).into_iter().sum::<f16>(),
            f16::from_f32(2050.0)
        );
        assert_eq!(f16::from(3_u8).to_string() + &format!("{:?}", bf16::from(-2_i8)), "3-2.0");
    }
}
