//! Affine values: numbers that grow by a constant from each thread of a block to the next. What all
//! threads compute follows from the first and the last thread.

use std::collections::HashMap;

use kernelmill_llvm::ir::{Builder, IntPredicate, Opcode, Type, Value};

use super::candidate::{Condition, Induction};
use crate::cpu::{
    instructions::{inverse, is_harmless, resize},
    uniformity::Uniformity,
};

/// How deep expressions are looked into.
const DEPTH: u32 = 24;

/// What is known of a body's values, for blocks that are rows along x.
pub(super) struct Affine<'a, 'c> {
    of_block: &'a Uniformity<'c>,
    thread: [Value<'c>; 3],
    /// The strides of inductions.
    inductions: HashMap<Value<'c>, i64>,
}

impl<'a, 'c> Affine<'a, 'c> {
    pub(super) fn new(of_block: &'a Uniformity<'c>, thread: [Value<'c>; 3]) -> Self {
        Self { of_block, thread, inductions: HashMap::new() }
    }

    /// The same, with the inductions of a loop.
    pub(super) fn with(mut self, inductions: &[Induction<'c>]) -> Self {
        self.inductions.extend(inductions.iter().map(|it| (it.phi, it.stride)));
        self
    }

    /// What a phi grows by in each iteration that ends with it being `next`.
    pub(super) fn step(&self, phi: Value<'c>, next: Value<'c>) -> Option<Value<'c>> {
        if !next.is_instruction() || next.opcode() != Opcode::Add {
            return None;
        }
        let step = match next.operands()[..] {
            [left, right] if left == phi => right,
            [left, right] if right == phi => left,
            _ => return None,
        };
        (step != phi && self.stride(step) == Some(0)).then_some(step)
    }

    /// By how much a number grows from each thread to the next, if it does so evenly, save that it may
    /// wrap before it is extended.
    pub(super) fn stride(&self, value: Value<'c>) -> Option<i64> {
        self.stride_within(value, DEPTH)
    }

    fn stride_within(&self, value: Value<'c>, depth: u32) -> Option<i64> {
        let known = |value: Value<'c>| {
            let is_same =
                || self.thread.contains(&value) || self.of_block.shape(value).is_uniform();
            let induction = self.inductions.get(&value).copied();
            induction
                .or_else(|| (value == self.thread[0]).then_some(1))
                .or_else(|| is_same().then_some(0))
        };
        linear(value, depth, &known)
    }

    /// By how many bytes an address is farther where `induction` is 1 more.
    pub(super) fn growth(
        &self,
        address: Value<'c>,
        induction: Value<'c>,
        size: &dyn Fn(Type<'c>) -> u64,
    ) -> Option<i64> {
        let known = |value: Value<'c>| {
            let is_same =
                || self.thread.contains(&value) || self.of_block.shape(value).is_uniform();
            if value == induction { Some(1) } else { is_same().then_some(0) }
        };
        if known(address) == Some(0) {
            return Some(0);
        }
        if !address.is_instruction() || address.opcode() != Opcode::GetElementPtr {
            return None;
        }
        let [base, index] = address.operands()[..] else { return None };
        let bytes = i64::try_from(size(address.element_type())).ok()?;
        let own = linear(index, DEPTH, &known)?.checked_mul(bytes)?;
        self.growth(base, induction, size)?.checked_add(own)
    }

    /// Whether a condition, or that it does not hold, can be known of all threads.
    pub(super) fn decides(&self, condition: Condition<'c>) -> bool {
        self.comparison(condition).is_some()
    }

    /// By how much the number that decides a condition grows from thread to thread, if it can be known of all threads.
    pub(super) fn stride_of(&self, condition: Condition<'c>) -> Option<i64> {
        self.comparison(condition).map(|it| it.stride)
    }

    /// The comparison that is true where a condition holds: a number that grows evenly, or is
    /// the same for all, must be less than one that is the same for all.
    fn comparison(&self, condition: Condition<'c>) -> Option<Comparison<'c>> {
        use IntPredicate::*;
        let Condition { value: condition, holds } = condition;
        if !condition.is_instruction() || condition.opcode() != Opcode::ICmp {
            return None;
        }
        let (left, right) = (condition.operand(0), condition.operand(1));
        left.ty().int_width()?;
        let predicate = condition.int_predicate();
        let predicate = if holds { predicate } else { inverse(predicate) };
        let (small, large, predicate) = match predicate {
            Ult | Ule | Slt | Sle => (left, right, predicate),
            Ugt => (right, left, Ult),
            Uge => (right, left, Ule),
            Sgt => (right, left, Slt),
            Sge => (right, left, Sle),
            _ => return None,
        };
        let stride = self.stride(small).filter(|stride| *stride >= 0)?;
        (self.stride(large) == Some(0)).then_some(Comparison { small, large, predicate, stride })
    }

    /// Whether what a value is in the first and the last thread can be computed from what is at hand.
    pub(super) fn can_be_found(
        &self,
        value: Value<'c>,
        at_hand: &dyn Fn(Value<'c>) -> bool,
    ) -> bool {
        let is_of_block = || self.of_block.shape(value).is_uniform();
        if !value.is_instruction()
            || self.inductions.contains_key(&value)
            || (is_of_block() && at_hand(value))
        {
            return true;
        }
        is_harmless(value) && value.operands().into_iter().all(|it| self.can_be_found(it, at_hand))
    }

    /// Whether a value is the same for all threads of a row, but not of the block.
    pub(super) fn is_of_row(&self, value: Value<'c>) -> bool {
        if self.of_block.shape(value).is_uniform() || self.inductions.contains_key(&value) {
            return false;
        }
        self.thread[1..].contains(&value)
            || (value.is_instruction() && value.operands().into_iter().any(|it| self.is_of_row(it)))
    }

    /// Builds the bit that says whether a condition holds in all threads of a row of
    /// `last + 1`; `first_thread` and `last_thread` give numbers of these.
    pub(super) fn in_all(
        &self,
        builder: &Builder<'c>,
        condition: Condition<'c>,
        [first_thread, last_thread]: [&Of<'_, 'c>; 2],
        last: Value<'c>,
    ) -> Value<'c> {
        let Comparison { small, large, predicate, stride } =
            self.comparison(condition).expect("it decides");
        let (low, high) = (first_thread.value(builder, small), last_thread.value(builder, small));
        let bound = first_thread.value(builder, large);
        let holds = builder.compare(predicate, high, bound);
        if stride == 0 {
            return holds;
        }
        builder.and(holds, grows(builder, [low, high], (last, stride), predicate))
    }

    /// The same that says whether a condition holds in none of them.
    pub(super) fn in_none(
        &self,
        builder: &Builder<'c>,
        condition: Condition<'c>,
        [first_thread, last_thread]: [&Of<'_, 'c>; 2],
        last: Value<'c>,
    ) -> Value<'c> {
        let Comparison { small, large, predicate, stride } =
            self.comparison(condition).expect("it decides");
        let (low, high) = (first_thread.value(builder, small), last_thread.value(builder, small));
        let bound = first_thread.value(builder, large);
        let fails = builder.compare(inverse(predicate), low, bound);
        builder.and(fails, grows(builder, [low, high], (last, stride), predicate))
    }
}

/// Whether a number grows from the first thread to the last by `stride` from each to the next, and nowhere in between wraps, as
/// a predicate takes it.
fn grows<'c>(
    builder: &Builder<'c>,
    [low, high]: [Value<'c>; 2],
    (last, stride): (Value<'c>, i64),
    predicate: IntPredicate,
) -> Value<'c> {
    let ty = low.ty();
    let is_signed = matches!(predicate, IntPredicate::Slt | IntPredicate::Sle);
    let grows = if is_signed { IntPredicate::Sle } else { IntPredicate::Ule };
    let grows = builder.compare(grows, low, high);
    let way = builder.multiply(resize(builder, last, ty), ty.constant(stride as u64));
    let found = builder.binary(Opcode::Sub, high, low);
    let even = builder.compare(IntPredicate::Eq, found, way);
    builder.and(grows, even)
}

/// What a number grows by where others grow by what is known of them.
fn linear<'c>(
    value: Value<'c>,
    depth: u32,
    known: &dyn Fn(Value<'c>) -> Option<i64>,
) -> Option<i64> {
    if let Some(known) = known(value) {
        return Some(known);
    }
    if depth == 0 || !value.is_instruction() || value.ty().int_width().is_none() {
        return None;
    }
    let operands = value.operands();
    let of = |index: usize| linear(operands[index], depth - 1, known);
    match value.opcode() {
        Opcode::Add => of(0)?.checked_add(of(1)?),
        Opcode::Or if value.is_disjoint() => of(0)?.checked_add(of(1)?),
        Opcode::Sub => of(0)?.checked_sub(of(1)?),
        Opcode::Mul => match (of(0)?, of(1)?) {
            (0, 0) => Some(0),
            (left, 0) => left.checked_mul(number(operands[1])?),
            (0, right) => right.checked_mul(number(operands[0])?),
            _ => None,
        },
        Opcode::Shl => {
            let by = number(operands[1]).filter(|by| (0..16).contains(by))?;
            of(0)?.checked_mul(1 << by)
        }
        Opcode::ZExt | Opcode::SExt | Opcode::Trunc => {
            let narrow = operands[0].ty().int_width()?.min(value.ty().int_width()?);
            of(0).filter(|_| narrow >= 32)
        }
        _ => None,
    }
}

/// `small` compared with `large`.
struct Comparison<'c> {
    small: Value<'c>,
    large: Value<'c>,
    predicate: IntPredicate,
    /// By how much `small` grows from thread to thread.
    stride: i64,
}

/// A thread: what values are in it where code is built.
pub(super) struct Of<'a, 'c> {
    /// What is known: the thread's number, inductions.
    pub(super) known: HashMap<Value<'c>, Value<'c>>,
    /// Other values that are the same in this thread, where they are at hand.
    pub(super) at_hand: &'a dyn Fn(Value<'c>) -> Option<Value<'c>>,
}

impl<'c> Of<'_, 'c> {
    /// A value in this thread.
    pub(super) fn value(&self, builder: &Builder<'c>, value: Value<'c>) -> Value<'c> {
        if let Some(known) = self.known.get(&value) {
            return *known;
        }
        if !value.is_instruction() {
            return value;
        }
        if let Some(found) = (self.at_hand)(value) {
            return found;
        }
        let operands: Vec<_> =
            value.operands().into_iter().map(|it| self.value(builder, it)).collect();
        // What LLVM has been told of overflows holds in a thread that gets here only.
        match (value.opcode(), &operands[..]) {
            (Opcode::ZExt | Opcode::SExt | Opcode::Trunc, [from]) => {
                builder.cast(value.opcode(), *from, value.ty())
            }
            (Opcode::Or, [left, right]) if value.is_disjoint() => builder.add(*left, *right),
            (Opcode::Add | Opcode::Sub | Opcode::Mul | Opcode::Shl, [left, right]) => {
                builder.binary(value.opcode(), *left, *right)
            }
            _ => {
                let copy = builder.copy(value);
                for (index, operand) in operands.into_iter().enumerate() {
                    copy.set_operand(index as u32, operand);
                }
                builder.freeze(copy)
            }
        }
    }
}

/// A constant as a signed number.
fn number(value: Value<'_>) -> Option<i64> {
    let width = value.ty().int_width().filter(|width| *width <= 64)?;
    let shift = 64 - width;
    Some(((value.as_u64()? << shift) as i64) >> shift)
}
