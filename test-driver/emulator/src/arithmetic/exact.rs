//! Exact binary numbers and their rounding to any format in any mode.
//!
//! The host rounds to nearest only; the other modes, and the formats that the host lacks, go through here.

/// How a result that does not fit is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    /// To the nearest, ties to even.
    Nearest = 0,
    /// Towards zero.
    Zero = 1,
    /// Towards negative infinity.
    Down = 2,
    /// Towards positive infinity.
    Up = 3,
    /// To the nearest, ties away from zero.
    Away = 4,
}

/// An IEEE binary format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    pub(crate) exponent_bits: u32,
    pub(crate) mantissa_bits: u32,
}

pub(crate) const F16: Format = Format { exponent_bits: 5, mantissa_bits: 10 };
pub(crate) const BF16: Format = Format { exponent_bits: 8, mantissa_bits: 7 };
pub(crate) const TF32: Format = Format { exponent_bits: 8, mantissa_bits: 10 };
pub(crate) const F32: Format = Format { exponent_bits: 8, mantissa_bits: 23 };
pub(crate) const F64: Format = Format { exponent_bits: 11, mantissa_bits: 52 };
pub(crate) const E5M2: Format = Format { exponent_bits: 5, mantissa_bits: 2 };

/// `significand * 2^exponent`, plus less than one unit of the significand when `sticky`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exact {
    pub(crate) negative: bool,
    pub(crate) exponent: i32,
    pub(crate) significand: u128,
    pub(crate) sticky: bool,
}

/// A number of some format, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    Nan,
    Infinity { negative: bool },
    Finite(Exact),
}

impl Format {
    fn lowest(self) -> i32 {
        2 - (1 << (self.exponent_bits - 1)) - self.mantissa_bits as i32
    }

    fn sign_bit(self) -> u64 {
        1 << (self.exponent_bits + self.mantissa_bits)
    }

    pub(crate) fn infinity(self, negative: bool) -> u64 {
        let magnitude = ((1u64 << self.exponent_bits) - 1) << self.mantissa_bits;
        magnitude | if negative { self.sign_bit() } else { 0 }
    }

    /// The NaN that NVIDIA devices give: all bits but the sign set, except in `f64`.
    pub(crate) fn nan(self) -> u64 {
        if self == F64 { 0x7ff8_0000_0000_0000 } else { self.sign_bit() - 1 }
    }

    pub(crate) fn unpack(self, bits: u64) -> Number {
        let negative = bits & self.sign_bit() != 0;
        let mantissa = bits & ((1 << self.mantissa_bits) - 1);
        let field = bits >> self.mantissa_bits & ((1 << self.exponent_bits) - 1);
        if field == (1 << self.exponent_bits) - 1 {
            return if mantissa == 0 { Number::Infinity { negative } } else { Number::Nan };
        }
        let implicit = if field == 0 { 0 } else { 1u64 << self.mantissa_bits };
        Number::Finite(Exact {
            negative,
            exponent: self.lowest() + field.max(1) as i32 - 1,
            significand: u128::from(mantissa | implicit),
            sticky: false,
        })
    }

    /// The bits of `value` rounded to this format; too large becomes infinity where the mode says so.
    pub(crate) fn round(self, value: Exact, rounding: Rounding) -> u64 {
        let sign = if value.negative { self.sign_bit() } else { 0 };
        if value.significand == 0 && !value.sticky {
            return sign;
        }
        let length = 128 - value.significand.leading_zeros() as i32;
        let unit = (value.exponent + length - 1 - self.mantissa_bits as i32).max(self.lowest());
        let shifted = shift_right(value.significand, unit - value.exponent, value.sticky);
        let mut mantissa = shifted.whole as u64;
        mantissa += u64::from(shifted.rounds_up(rounding, value.negative));
        let field = (unit - self.lowest()) as u64;
        let bits = (field.min(1 << self.exponent_bits) << self.mantissa_bits) + mantissa;
        let infinity = self.infinity(false);
        if bits < infinity {
            return sign | bits;
        }
        let to_infinity = match rounding {
            Rounding::Nearest | Rounding::Away => true,
            Rounding::Zero => false,
            Rounding::Down => value.negative,
            Rounding::Up => !value.negative,
        };
        sign | if to_infinity { infinity } else { infinity - 1 }
    }
}

struct Shifted {
    whole: u128,
    /// The part cut off, against a half: less, equal or more.
    rest: std::cmp::Ordering,
    inexact: bool,
}

impl Shifted {
    fn rounds_up(&self, rounding: Rounding, negative: bool) -> bool {
        use std::cmp::Ordering;
        match rounding {
            Rounding::Nearest => match self.rest {
                Ordering::Less => false,
                Ordering::Equal => self.whole & 1 == 1,
                Ordering::Greater => true,
            },
            Rounding::Away => self.rest != Ordering::Less,
            Rounding::Zero => false,
            Rounding::Down => self.inexact && negative,
            Rounding::Up => self.inexact && !negative,
        }
    }
}

fn shift_right(significand: u128, by: i32, sticky: bool) -> Shifted {
    use std::cmp::Ordering;
    if by <= 0 {
        let whole = significand << -by;
        return Shifted { whole, rest: Ordering::Less, inexact: sticky };
    }
    if by > 128 {
        return Shifted { whole: 0, rest: Ordering::Less, inexact: true };
    }
    let (whole, cut) = if by == 128 {
        (0, significand)
    } else {
        (significand >> by, significand & ((1 << by) - 1))
    };
    let rest = cut.cmp(&(1 << (by - 1)));
    let rest = if rest == Ordering::Equal && sticky { Ordering::Greater } else { rest };
    Shifted { whole, rest, inexact: cut != 0 || sticky }
}

impl Exact {
    pub(crate) fn from_integer(value: i128) -> Exact {
        Exact { negative: value < 0, exponent: 0, significand: value.unsigned_abs(), sticky: false }
    }

    fn is_zero(self) -> bool {
        self.significand == 0 && !self.sticky
    }

    /// Moves the highest set bit to bit 125, which leaves room for a carry.
    fn normalised(self) -> Exact {
        let zeros = self.significand.leading_zeros() as i32;
        let shift = zeros - 2;
        let significand =
            if shift >= 0 { self.significand << shift } else { self.significand >> -shift };
        Exact { exponent: self.exponent - shift, significand, ..self }
    }

    fn product(self, other: Exact) -> Exact {
        Exact {
            negative: self.negative != other.negative,
            exponent: self.exponent + other.exponent,
            significand: self.significand * other.significand,
            sticky: false,
        }
    }

    /// The sum; `rounding` decides the sign of an exact zero.
    fn sum(self, other: Exact, rounding: Rounding) -> Exact {
        if self.is_zero() || other.is_zero() {
            return self.sum_with_zero(other, rounding);
        }
        let (mut high, mut low) = (self.normalised(), other.normalised());
        let larger = (high.exponent, high.significand) >= (low.exponent, low.significand);
        if !larger {
            std::mem::swap(&mut high, &mut low);
        }
        let gap = high.exponent - low.exponent;
        let (aligned, lost) = if gap >= 128 {
            (0, true)
        } else {
            (low.significand >> gap, low.significand & ((1u128 << gap) - 1) != 0)
        };
        let significand = if high.negative == low.negative {
            high.significand + aligned
        } else {
            high.significand - aligned - u128::from(lost)
        };
        if significand == 0 && !lost {
            return Exact {
                negative: rounding == Rounding::Down,
                significand,
                sticky: false,
                exponent: 0,
            };
        }
        Exact { significand, sticky: lost, ..high }
    }

    fn sum_with_zero(self, other: Exact, rounding: Rounding) -> Exact {
        match (self.is_zero(), other.is_zero()) {
            (true, true) if self.negative != other.negative => {
                Exact { negative: rounding == Rounding::Down, ..self }
            }
            (false, _) => self,
            _ => other,
        }
    }

    fn quotient(self, other: Exact) -> Exact {
        let shift = self.significand.leading_zeros();
        let dividend = self.significand << shift;
        Exact {
            negative: self.negative != other.negative,
            exponent: self.exponent - shift as i32 - other.exponent,
            significand: dividend / other.significand,
            sticky: !dividend.is_multiple_of(other.significand),
        }
    }

    fn square_root(self) -> Exact {
        let mut shift = self.significand.leading_zeros() as i32;
        shift -= (self.exponent - shift) & 1;
        let significand = if shift >= 0 { self.significand << shift } else { self.significand };
        let root = significand.isqrt();
        Exact {
            negative: false,
            exponent: (self.exponent - shift) / 2,
            significand: root,
            sticky: root * root != significand,
        }
    }
}

/// `a + b` of a format, rounded once.
pub(crate) fn add(format: Format, a: u64, b: u64, rounding: Rounding) -> u64 {
    use Number::{Finite, Infinity, Nan};
    match (format.unpack(a), format.unpack(b)) {
        (Nan, _) | (_, Nan) => format.nan(),
        (Infinity { negative: a }, Infinity { negative: b }) if a != b => format.nan(),
        (Infinity { negative }, _) | (_, Infinity { negative }) => format.infinity(negative),
        (Finite(a), Finite(b)) => format.round(a.sum(b, rounding), rounding),
    }
}

/// `a * b + c` of a format, rounded once.
pub(crate) fn fused(format: Format, a: u64, b: u64, c: u64, rounding: Rounding) -> u64 {
    use Number::{Finite, Infinity, Nan};
    let product_negative = (a ^ b) & format.sign_bit() != 0;
    match (format.unpack(a), format.unpack(b), format.unpack(c)) {
        (Nan, ..) | (_, Nan, _) | (.., Nan) => format.nan(),
        (Infinity { .. }, Finite(x), _) | (Finite(x), Infinity { .. }, _) if x.is_zero() => {
            format.nan()
        }
        (Infinity { .. }, _, c) | (_, Infinity { .. }, c) => match c {
            Infinity { negative } if negative != product_negative => format.nan(),
            _ => format.infinity(product_negative),
        },
        (_, _, Infinity { negative }) => format.infinity(negative),
        (Finite(a), Finite(b), Finite(c)) => format.round(a.product(b).sum(c, rounding), rounding),
    }
}

/// `a * b` of a format, rounded once.
pub(crate) fn multiply(format: Format, a: u64, b: u64, rounding: Rounding) -> u64 {
    let zero = (a ^ b) & format.sign_bit();
    fused(format, a, b, zero, rounding)
}

/// `a / b` of a format, rounded once.
pub(crate) fn divide(format: Format, a: u64, b: u64, rounding: Rounding) -> u64 {
    use Number::{Finite, Infinity, Nan};
    let negative = (a ^ b) & format.sign_bit() != 0;
    let zero = (a ^ b) & format.sign_bit();
    match (format.unpack(a), format.unpack(b)) {
        (Nan, _) | (_, Nan) => format.nan(),
        (Infinity { .. }, Infinity { .. }) => format.nan(),
        (Infinity { .. }, _) => format.infinity(negative),
        (_, Infinity { .. }) => zero,
        (Finite(a), Finite(b)) => match (a.is_zero(), b.is_zero()) {
            (true, true) => format.nan(),
            (true, false) => zero,
            (false, true) => format.infinity(negative),
            (false, false) => format.round(a.quotient(b), rounding),
        },
    }
}

/// The square root of a format, rounded once.
pub(crate) fn square_root(format: Format, a: u64, rounding: Rounding) -> u64 {
    match format.unpack(a) {
        Number::Nan => format.nan(),
        Number::Finite(value) if value.is_zero() => a,
        Number::Infinity { negative: false } => a,
        Number::Finite(value) if !value.negative => format.round(value.square_root(), rounding),
        _ => format.nan(),
    }
}

/// A number of one format in another.
pub(crate) fn convert(from: Format, to: Format, bits: u64, rounding: Rounding) -> u64 {
    match from.unpack(bits) {
        Number::Nan => to.nan(),
        Number::Infinity { negative } => to.infinity(negative),
        Number::Finite(value) => to.round(value, rounding),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(state: &mut u64) -> u64 {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        *state
    }

    fn same(expected: f64, bits: u64) -> bool {
        let found = f64::from_bits(bits);
        (expected.is_nan() && found.is_nan()) || expected.to_bits() == bits
    }

    #[test]
    fn nearest_agrees_with_the_host() {
        let mut state = 0x9e37_79b9_7f4a_7c15;
        for _ in 0..100_000 {
            let (a, b, c) = (next(&mut state), next(&mut state), next(&mut state));
            let (x, y, z) = (f64::from_bits(a), f64::from_bits(b), f64::from_bits(c));
            let nearest = Rounding::Nearest;
            assert!(same(x + y, add(F64, a, b, nearest)), "{a:x} + {b:x}");
            assert!(same(x * y, multiply(F64, a, b, nearest)), "{a:x} * {b:x}");
            assert!(same(x / y, divide(F64, a, b, nearest)), "{a:x} / {b:x}");
            assert!(same(x.sqrt(), square_root(F64, a, nearest)), "sqrt {a:x}");
            assert!(same(x.mul_add(y, z), fused(F64, a, b, c, nearest)), "fma {a:x} {b:x} {c:x}");
        }
    }

    #[test]
    fn close_exponents_agree_with_the_host() {
        let mut state = 7;
        for _ in 0..100_000 {
            let mut near =
                || (next(&mut state) & 0x800f_ffff_ffff_ffff) | (next(&mut state) % 64 + 990) << 52;
            let (a, b, c) = (near(), near(), near());
            let (x, y, z) = (f64::from_bits(a), f64::from_bits(b), f64::from_bits(c));
            assert!(same(x - y, add(F64, a, b ^ 1 << 63, Rounding::Nearest)));
            assert!(same(x.mul_add(y, z), fused(F64, a, b, c, Rounding::Nearest)));
        }
    }

    #[test]
    fn directed_roundings_enclose() {
        let third =
            |rounding| f64::from_bits(divide(F64, 1f64.to_bits(), 3f64.to_bits(), rounding));
        assert!(third(Rounding::Down) < third(Rounding::Up));
        assert_eq!(third(Rounding::Zero), third(Rounding::Down));
        assert_eq!(third(Rounding::Down).next_up(), third(Rounding::Up));
        let huge = f64::MAX.to_bits();
        assert_eq!(f64::from_bits(add(F64, huge, huge, Rounding::Zero)), f64::MAX);
        assert_eq!(f64::from_bits(add(F64, huge, huge, Rounding::Up)), f64::INFINITY);
    }

    #[test]
    fn narrow_formats_round_like_the_host_narrows() {
        let mut state = 11;
        for _ in 0..100_000 {
            let bits = next(&mut state);
            let expected = f64::from_bits(bits) as f32;
            let found = f32::from_bits(convert(F64, F32, bits, Rounding::Nearest) as u32);
            assert!(expected.is_nan() && found.is_nan() || expected.to_bits() == found.to_bits());
        }
        assert_eq!(convert(F32, F16, u64::from(65519f32.to_bits()), Rounding::Nearest), 0x7bff);
        assert_eq!(convert(F32, F16, u64::from(65520f32.to_bits()), Rounding::Nearest), 0x7c00);
    }
}
