//! Constant expressions: C's operators on integers of 64 bits and on doubles.
//!
//! PTX ISA, "Constant Expressions" and "Constant Expression Evaluation Rules". Where the manual leaves a
//! type open it is what `ptxas` takes: `%` is unsigned, `?:` keeps the type of the side it chooses, and
//! shifts count modulo 64.

use super::ast::Operand;
use super::lexer::TokenKind;
use super::parser::{Parsed, Parser};

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
    fn truth(value: bool) -> Constant {
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

/// A binary operator with its precedence; those that bind more have a higher one.
#[derive(Clone, Copy)]
struct Binary {
    text: &'static str,
    precedence: u32,
}

/// Operators of two characters come first, so that `<<` is not taken for `<`.
const BINARY: [Binary; 18] = [
    Binary { text: "||", precedence: 1 },
    Binary { text: "&&", precedence: 2 },
    Binary { text: "==", precedence: 6 },
    Binary { text: "!=", precedence: 6 },
    Binary { text: "<=", precedence: 7 },
    Binary { text: ">=", precedence: 7 },
    Binary { text: "<<", precedence: 8 },
    Binary { text: ">>", precedence: 8 },
    Binary { text: "|", precedence: 3 },
    Binary { text: "^", precedence: 4 },
    Binary { text: "&", precedence: 5 },
    Binary { text: "<", precedence: 7 },
    Binary { text: ">", precedence: 7 },
    Binary { text: "+", precedence: 9 },
    Binary { text: "-", precedence: 9 },
    Binary { text: "*", precedence: 10 },
    Binary { text: "/", precedence: 10 },
    Binary { text: "%", precedence: 10 },
];

impl<'a> Parser<'a> {
    /// A constant expression.
    pub(super) fn constant(&mut self) -> Parsed<Constant> {
        self.deeper(|parser| {
            let condition = parser.binary(1)?;
            if !parser.eat('?') {
                return Ok(condition);
            }
            let Some(condition) = condition.integer() else { return parser.mismatch() };
            let yes = parser.constant()?;
            parser.expect(':')?;
            let no = parser.constant()?;
            Ok(if condition != 0 { yes } else { no })
        })
    }

    /// A constant expression whose value is an integer.
    pub(super) fn constant_integer(&mut self) -> Parsed<u64> {
        match self.constant()?.integer() {
            Some(value) => Ok(value),
            None => self.mismatch(),
        }
    }

    fn mismatch<T>(&mut self) -> Parsed<T> {
        self.error(self.line(), "a constant expression of other types")
    }

    /// Operators that bind at least as `least` does; those of the same precedence from left to right.
    fn binary(&mut self, least: u32) -> Parsed<Constant> {
        let mut left = self.unary()?;
        while let Some(operator) = self.peek_binary(least) {
            for _ in operator.text.chars() {
                self.next();
            }
            let right = self.binary(operator.precedence + 1)?;
            left = match apply(operator.text, left, right) {
                Ok(value) => value,
                Err(message) => return self.error(self.line(), message),
            };
        }
        Ok(left)
    }

    fn peek_binary(&self, least: u32) -> Option<Binary> {
        let stands = |operator: &&Binary| {
            operator.text.chars().enumerate().all(|(place, mark)| {
                let token = self.peek_at(place);
                token.kind == TokenKind::Mark(mark) && (place == 0 || !token.spaced)
            })
        };
        // The bar of two results, `%p1|%p2`, never follows a constant.
        BINARY.iter().find(stands).filter(|operator| operator.precedence >= least).copied()
    }

    fn unary(&mut self) -> Parsed<Constant> {
        match self.peek() {
            TokenKind::Mark(mark @ ('+' | '-' | '!' | '~')) => {
                self.next();
                let value = self.deeper(Self::unary)?;
                match negate(mark, value) {
                    Some(value) => Ok(value),
                    None => self.mismatch(),
                }
            }
            TokenKind::Mark('(') => self.parenthesis(),
            TokenKind::Word("WARP_SZ") => {
                self.next();
                Ok(Signed(32))
            }
            TokenKind::Number(text) => match literal(text) {
                Some(value) => {
                    self.next();
                    Ok(value)
                }
                None => self.unexpected("a number"),
            },
            _ => self.unexpected("a constant"),
        }
    }

    /// `(1 + 2)`, or a cast: `(.s64) 5`.
    fn parenthesis(&mut self) -> Parsed<Constant> {
        self.expect('(')?;
        let Some(ty) = self.dot() else {
            let value = self.constant()?;
            self.expect(')')?;
            return Ok(value);
        };
        self.expect(')')?;
        let value = self.deeper(Self::unary)?;
        match (ty, value.integer()) {
            ("s64", Some(value)) => Ok(Signed(value as i64)),
            ("u64", Some(value)) => Ok(Unsigned(value)),
            ("s64" | "u64", None) => self.mismatch(),
            _ => self.error(self.line(), format!("a cast to `.{ty}` is none of constants")),
        }
    }
}

/// `+`, `-`, `!` or `~` of a value; `None` where it has no such type.
fn negate(mark: char, value: Constant) -> Option<Constant> {
    Some(match (mark, value) {
        ('+' | '-', Single(_) | Bits(_)) => return None,
        ('+', value) => value,
        ('-', Signed(value)) => Signed(value.wrapping_neg()),
        ('-', Unsigned(value)) => Unsigned(value.wrapping_neg()),
        ('-', Double(value)) => Double(-value),
        ('!', value) => Constant::truth(value.integer()? == 0),
        (_, value) => Unsigned(!value.integer()?),
    })
}

fn apply(operator: &str, left: Constant, right: Constant) -> Result<Constant, &'static str> {
    match (left, right) {
        (Double(left), Double(right)) => of_doubles(operator, left, right),
        (Signed(left), Signed(right)) => of_signed(operator, left, right),
        _ => match (left.integer(), right.integer()) {
            (Some(_), Some(right)) if matches!(operator, "<<" | ">>") => {
                Ok(shift(operator, left, right))
            }
            (Some(left), Some(right)) => of_unsigned(operator, left, right),
            _ => Err(MISMATCH),
        },
    }
}

const MISMATCH: &str = "a constant expression of other types";
const ZERO: &str = "a constant expression divides by zero";

/// A shift has the type of what is shifted.
fn shift(operator: &str, left: Constant, right: u64) -> Constant {
    let count = right as u32;
    match (operator, left) {
        ("<<", Signed(left)) => Signed(left.wrapping_shl(count)),
        (_, Signed(left)) => Signed(left.wrapping_shr(count)),
        ("<<", left) => Unsigned(left.integer().unwrap_or(0).wrapping_shl(count)),
        (_, left) => Unsigned(left.integer().unwrap_or(0).wrapping_shr(count)),
    }
}

fn of_doubles(operator: &str, left: f64, right: f64) -> Result<Constant, &'static str> {
    Ok(match operator {
        "+" => Double(left + right),
        "-" => Double(left - right),
        "*" => Double(left * right),
        "/" => Double(left / right),
        "<" => Constant::truth(left < right),
        "<=" => Constant::truth(left <= right),
        ">" => Constant::truth(left > right),
        ">=" => Constant::truth(left >= right),
        "==" => Constant::truth(left == right),
        "!=" => Constant::truth(left != right),
        _ => return Err(MISMATCH),
    })
}

fn of_signed(operator: &str, left: i64, right: i64) -> Result<Constant, &'static str> {
    Ok(match operator {
        "/" if right == 0 => return Err(ZERO),
        "/" => Signed(left.wrapping_div(right)),
        "<" => Constant::truth(left < right),
        "<=" => Constant::truth(left <= right),
        ">" => Constant::truth(left > right),
        ">=" => Constant::truth(left >= right),
        "<<" | ">>" => shift(operator, Signed(left), right as u64),
        // The bits are the same as without signs; `%` has none.
        _ => match of_unsigned(operator, left as u64, right as u64)? {
            Unsigned(value) if operator != "%" => Signed(value as i64),
            value => value,
        },
    })
}

fn of_unsigned(operator: &str, left: u64, right: u64) -> Result<Constant, &'static str> {
    Ok(match operator {
        "+" => Unsigned(left.wrapping_add(right)),
        "-" => Unsigned(left.wrapping_sub(right)),
        "*" => Unsigned(left.wrapping_mul(right)),
        "/" | "%" if right == 0 => return Err(ZERO),
        "/" => Unsigned(left / right),
        "%" => Unsigned(left % right),
        "&" => Unsigned(left & right),
        "|" => Unsigned(left | right),
        "^" => Unsigned(left ^ right),
        "<" => Constant::truth(left < right),
        "<=" => Constant::truth(left <= right),
        ">" => Constant::truth(left > right),
        ">=" => Constant::truth(left >= right),
        "==" => Constant::truth(left == right),
        "!=" => Constant::truth(left != right),
        "&&" => Constant::truth(left != 0 && right != 0),
        _ => Constant::truth(left != 0 || right != 0),
    })
}
