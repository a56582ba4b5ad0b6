//! Constant expressions: C's operators on integers of 64 bits and on doubles.
//!
//! PTX ISA, "Constant Expressions" and "Constant Expression Evaluation Rules". Where the manual leaves a
//! type open it is what `ptxas` takes: `%` is unsigned, `?:` keeps the type of the side it chooses, and
//! shifts count modulo 64.

use super::lexer::TokenKind;
use super::literal::Constant::{self, Bits, Double, Signed, Single, Unsigned};
use super::literal::literal;
use super::parser::{Parsed, Parser};

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
        self.error(self.line(), "the operands of a constant expression have the wrong types")
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
            _ => self.error(
                self.line(),
                format!("a constant cannot be cast to `.{ty}`: the casts are to `.s64` and `.u64`"),
            ),
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

const MISMATCH: &str = "the operands of a constant expression have the wrong types";
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
