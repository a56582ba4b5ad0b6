//! Expressions of the derivative rules, and how they are printed.

use std::fmt;

/// An expression of a function's arguments and result.
#[derive(Debug)]
pub(crate) enum Expression {
    /// An argument, from 0.
    Argument(u32),
    /// The function's result.
    Result,
    /// A number.
    Number(f64),
    /// `-a`.
    Negate(&'static Self),
    /// `a + b`.
    Add(&'static Self, &'static Self),
    /// `a - b`.
    Subtract(&'static Self, &'static Self),
    /// `a * b`.
    Multiply(&'static Self, &'static Self),
    /// `a / b`.
    Divide(&'static Self, &'static Self),
    /// A function of the table.
    Call(&'static str, &'static [Self]),
    /// One of two values.
    Where(Condition, &'static Self, &'static Self),
    /// `n * x^(n-1)` for an integer exponent.
    PowerRule,
}

/// A comparison.
#[derive(Debug)]
pub(crate) struct Condition {
    pub(crate) left: &'static Expression,
    pub(crate) comparison: Comparison,
    pub(crate) right: &'static Expression,
}

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Greater,
    AtMost,
    /// The negation of `AtMost`, which holds for NaN too.
    NotAtMost,
    AtLeast,
    /// The negation of `AtLeast`.
    NotAtLeast,
}

/// The partial derivative with respect to one argument.
#[derive(Debug)]
pub(crate) enum Partial {
    /// 0.
    Zero,
    /// 1.
    One,
    /// -1.
    MinusOne,
    /// An expression.
    Times(Expression),
    /// 1 where the condition holds, else 0.
    When(Condition),
}

impl Expression {
    fn binds(&self) -> u8 {
        match self {
            Self::Add(..) | Self::Subtract(..) | Self::Negate(_) => 1,
            Self::Multiply(..) | Self::Divide(..) | Self::PowerRule => 2,
            Self::Where(..) => 0,
            _ => 3,
        }
    }

    fn inside(&self, formatter: &mut fmt::Formatter<'_>, level: u8) -> fmt::Result {
        if self.binds() < level {
            write!(formatter, "({self})")
        } else {
            write!(formatter, "{self}")
        }
    }

    /// Writes `left sign right`, whose operator has the precedence `level`.
    fn pair(
        formatter: &mut fmt::Formatter<'_>,
        level: u8,
        left: &Self,
        sign: char,
        right: &Self,
    ) -> fmt::Result {
        left.inside(formatter, level)?;
        write!(formatter, " {sign} ")?;
        // The right side of `-` and `/` needs parentheses where the left one does not.
        right.inside(formatter, level + u8::from(sign == '-' || sign == '/'))
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMES: [&str; 3] = ["x", "y", "z"];
        match self {
            Self::Argument(index) => formatter.write_str(NAMES[*index as usize]),
            Self::Result => formatter.write_str("f"),
            Self::Number(value) => write!(formatter, "{value}"),
            Self::Negate(value) => {
                formatter.write_str("-")?;
                value.inside(formatter, 2)
            }
            Self::Add(a, b) => Self::pair(formatter, 1, a, '+', b),
            Self::Subtract(a, b) => Self::pair(formatter, 1, a, '-', b),
            Self::Multiply(a, b) => Self::pair(formatter, 2, a, '*', b),
            Self::Divide(a, b) => Self::pair(formatter, 2, a, '/', b),
            Self::Call(name, arguments) => {
                write!(formatter, "{name}(")?;
                for (index, argument) in arguments.iter().enumerate() {
                    write!(formatter, "{}{argument}", if index == 0 { "" } else { ", " })?;
                }
                formatter.write_str(")")
            }
            Self::Where(condition, yes, no) => write!(formatter, "{yes} if {condition}, else {no}"),
            Self::PowerRule => formatter.write_str("y * powi(x, y - 1)"),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.comparison {
            Comparison::Greater => ">",
            Comparison::AtMost => "<=",
            Comparison::NotAtMost => "not <=",
            Comparison::AtLeast => ">=",
            Comparison::NotAtLeast => "not >=",
        };
        write!(formatter, "{} {sign} {}", self.left, self.right)
    }
}

impl fmt::Display for Partial {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zero => formatter.write_str("0"),
            Self::One => formatter.write_str("1"),
            Self::MinusOne => formatter.write_str("-1"),
            Self::Times(factor) => write!(formatter, "{factor}"),
            Self::When(condition) => write!(formatter, "1 if {condition}, else 0"),
        }
    }
}
