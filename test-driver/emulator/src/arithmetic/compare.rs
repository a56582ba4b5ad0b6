//! Comparisons of `setp` and `set`.

use super::flags::Flags;
use super::float::Float;
use super::half::{Half, value};
use super::integer::Integer;
use std::cmp::Ordering;

/// A comparison, with the forms that are true for NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    EqualUnordered,
    NotEqualUnordered,
    LessUnordered,
    LessEqualUnordered,
    GreaterUnordered,
    GreaterEqualUnordered,
    /// Neither is NaN.
    Ordered,
    /// Either is NaN.
    Unordered,
}

impl Comparison {
    pub(crate) fn named(name: &str) -> Option<Comparison> {
        use Comparison::*;
        Some(match name {
            "eq" => Equal,
            "ne" => NotEqual,
            "lt" | "lo" => Less,
            "le" | "ls" => LessEqual,
            "gt" | "hi" => Greater,
            "ge" | "hs" => GreaterEqual,
            "equ" => EqualUnordered,
            "neu" => NotEqualUnordered,
            "ltu" => LessUnordered,
            "leu" => LessEqualUnordered,
            "gtu" => GreaterUnordered,
            "geu" => GreaterEqualUnordered,
            "num" => Ordered,
            "nan" => Unordered,
            _ => return None,
        })
    }

    /// The result for operands in this order; `None` is NaN.
    #[inline(always)]
    pub(crate) fn holds(self, order: Option<Ordering>) -> bool {
        use Comparison::*;
        use Ordering::{Equal as Same, Greater as More, Less as Fewer};
        match self {
            Equal => order == Some(Same),
            NotEqual => matches!(order, Some(Fewer | More)),
            Less => order == Some(Fewer),
            LessEqual => matches!(order, Some(Fewer | Same)),
            Greater => order == Some(More),
            GreaterEqual => matches!(order, Some(More | Same)),
            EqualUnordered => matches!(order, None | Some(Same)),
            NotEqualUnordered => order != Some(Same),
            LessUnordered => matches!(order, None | Some(Fewer)),
            LessEqualUnordered => order != Some(More),
            GreaterUnordered => matches!(order, None | Some(More)),
            GreaterEqualUnordered => order != Some(Fewer),
            Ordered => order.is_some(),
            Unordered => order.is_none(),
        }
    }
}

#[inline(always)]
pub(crate) fn integers<T: Integer>(a: u64, b: u64, _: Flags) -> Option<Ordering> {
    Some(T::of(a).cmp(&T::of(b)))
}

#[inline(always)]
pub(crate) fn floats<T: Float>(a: u64, b: u64, flags: Flags) -> Option<Ordering> {
    let (a, b) = (T::of(a), T::of(b));
    if flags.has(Flags::FLUSH) {
        return a.flushed().partial_cmp(&b.flushed());
    }
    a.partial_cmp(&b)
}

pub(crate) fn halves<H: Half>(a: u64, b: u64, _: Flags) -> Option<Ordering> {
    value::<H>(a).partial_cmp(&value::<H>(b))
}
