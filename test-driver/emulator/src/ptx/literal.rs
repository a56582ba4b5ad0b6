//! Literals and the values of constants.
//!
//! PTX ISA, "Constants".

use super::ast::Operand;

/// The value of a constant expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Constant {
    Signed(i64),
    Unsigned(u64),
    Double(f64),
    /// `0f3F800000`, which stands alone.
    Single(u32),
    /// `0d3FF0000000000000`, which stands alone.
    Bits(u64),
}

use Constant::{Bits, Double, Signed, Single, Unsigned};

impl Constant {
    pub(super) fn truth(value: bool) -> Constant {
        Signed(i64::from(value))
    }

    /// The bits of an integer.
    pub(super) fn integer(self) -> Option<u64> {
        match self {
            Signed(value) => Some(value as u64),
            Unsigned(value) => Some(value),
            _ => None,
        }
    }

    /// The operand that stands for the constant.
    pub(super) fn operand<'a>(self) -> Operand<'a> {
        match self {
            Signed(value) => Operand::Integer(value as u64),
            Unsigned(value) => Operand::Integer(value),
            Double(value) => Operand::Double(value.to_bits()),
            Single(bits) => Operand::Single(bits),
            Bits(bits) => Operand::Double(bits),
        }
    }
}

/// A literal: an integer, a float by its bits, or a decimal.
pub(super) fn literal(text: &str) -> Option<Constant> {
    let digits = text.get(2..).unwrap_or("");
    match text.get(..2).unwrap_or("") {
        "0f" | "0F" if digits.len() == 8 => u32::from_str_radix(digits, 16).ok().map(Single),
        "0d" | "0D" if digits.len() == 16 => u64::from_str_radix(digits, 16).ok().map(Bits),
        "0f" | "0F" | "0d" | "0D" => None,
        _ => match parse_integer(text) {
            Some(value) if text.ends_with('U') => Some(Unsigned(value)),
            Some(value) => Some(i64::try_from(value).map_or(Unsigned(value), Signed)),
            None => decimal(text).map(Double),
        },
    }
}

/// A decimal: it has a point or an exponent.
fn decimal(text: &str) -> Option<f64> {
    if !text.contains(['.', 'e', 'E']) || text.contains(['x', 'X', 'b', 'B']) {
        return None;
    }
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

/// An integer literal of any base, with or without the suffix `U`.
pub(super) fn parse_integer(text: &str) -> Option<u64> {
    let text = text.strip_suffix('U').unwrap_or(text);
    match text.get(..2).unwrap_or("") {
        "0x" | "0X" => u64::from_str_radix(&text[2..], 16).ok(),
        "0b" | "0B" => u64::from_str_radix(&text[2..], 2).ok(),
        _ if text.len() > 1 && text.starts_with('0') => u64::from_str_radix(&text[1..], 8).ok(),
        _ => text.parse().ok(),
    }
}
