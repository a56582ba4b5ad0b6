//! Comparisons of a number that grows from lane to lane with one that does not: whether they have the
//! same result in every lane, by one comparison of the lowest lane.

use kernelmill_llvm::ir::{IntPredicate, ModuleExt, Opcode, Type, Value};

use super::{form::Form, group::Group};

/// Numbers in a row, without gaps larger than they are counted: the lowest, and how much larger the
/// highest is.
#[derive(Clone, Copy)]
pub(super) struct Span<'c> {
    lowest: Value<'c>,
    way: u64,
    /// The bit that says whether the lanes are as the stride says.
    holds: Option<Value<'c>>,
}

/// A comparison with the number that grows on the left.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Comparison<'c> {
    pub(super) number: Value<'c>,
    pub(super) predicate: IntPredicate,
    pub(super) limit: Value<'c>,
}

impl<'c> Comparison<'c> {
    /// An instruction as a comparison of its only operand that `grows`.
    pub(super) fn of(compare: Value<'c>, grows: impl Fn(Value<'c>) -> bool) -> Option<Self> {
        if !compare.is_instruction() || compare.opcode() != Opcode::ICmp {
            return None;
        }
        let (left, right) = (compare.operand(0), compare.operand(1));
        let predicate = compare.int_predicate();
        match (grows(left), grows(right)) {
            (true, false) => Some(Self { number: left, predicate, limit: right }),
            (false, true) => {
                Some(Self { number: right, predicate: swapped(predicate), limit: left })
            }
            _ => None,
        }
    }

    /// The comparison that holds where this one does not.
    pub(super) fn inverse(self) -> Self {
        Self { predicate: inverse(self.predicate), ..self }
    }
}

fn swapped(predicate: IntPredicate) -> IntPredicate {
    use IntPredicate::*;
    match predicate {
        Eq | Ne | Unknown(_) => predicate,
        Ugt => Ult,
        Uge => Ule,
        Ult => Ugt,
        Ule => Uge,
        Sgt => Slt,
        Sge => Sle,
        Slt => Sgt,
        Sle => Sge,
    }
}

/// The comparison that holds where another does not.
pub(in crate::cpu) fn inverse(predicate: IntPredicate) -> IntPredicate {
    use IntPredicate::*;
    match predicate {
        Eq => Ne,
        Ne => Eq,
        Ugt => Ule,
        Uge => Ult,
        Ult => Uge,
        Ule => Ugt,
        Sgt => Sle,
        Sge => Slt,
        Slt => Sge,
        Sle => Sgt,
        Unknown(_) => unreachable!("modules with unknown predicates are refused"),
    }
}

/// The unsigned predicate that says of numbers with the highest bit flipped what this one says.
fn unsigned(predicate: IntPredicate) -> Option<IntPredicate> {
    use IntPredicate::*;
    match predicate {
        Sgt => Some(Ugt),
        Sge => Some(Uge),
        Slt => Some(Ult),
        Sle => Some(Ule),
        _ => None,
    }
}

/// How much the lanes of a number differ at most, where a comparison of them is worth looking at.
const WAY: u64 = 1 << 30;

impl<'c> Group<'_, 'c> {
    /// The lowest number in the lanes of a form that grows, and how much larger the highest is, with
    /// those that are larger by `offsets`, from the first to the second.
    pub(super) fn extent(&self, form: Form<'c>, offsets: (i64, i64)) -> Option<(Value<'c>, u64)> {
        let first = form.first?;
        let last = form.step.checked_mul(i64::from(self.plan.lanes - 1))?;
        let low = offsets.0.checked_add(last.min(0))?;
        let high = offsets.1.checked_add(last.max(0))?;
        let way = u64::try_from(high.checked_sub(low)?).ok().filter(|way| *way <= WAY)?;
        let lowest = match low {
            0 => first,
            low => self.builder.add(first, first.ty().constant(low as u64)),
        };
        Some((lowest, way))
    }

    /// The same of numbers that are worth a comparison.
    pub(super) fn span(&self, form: Form<'c>, offsets: (i64, i64)) -> Option<Span<'c>> {
        let (lowest, way) = self.extent(form, offsets).filter(|(_, way)| *way > 0)?;
        let is_wide = lowest.ty().int_width().is_some_and(|bits| bits >= 32);
        is_wide.then_some(Span { lowest, way, holds: form.holds })
    }

    /// The bit that says whether a comparison holds for every number of a span, active lanes or not.
    ///
    /// What is in order with the limit is a range of `count` numbers from `from` on, so that all are in
    /// it where `lowest - from < count - way`, without wrapping on the right.
    pub(super) fn all_compare(
        &self,
        span: Span<'c>,
        predicate: IntPredicate,
        limit: Value<'c>,
    ) -> Value<'c> {
        use IntPredicate::*;
        let (builder, ty) = (&self.builder, limit.ty());
        let bits = ty.int_width().expect("numbers are compared");
        let most = ty.constant(u64::MAX);
        let flip = |value| builder.binary(Opcode::Xor, value, ty.constant(1 << (bits - 1)));
        let (predicate, lowest, limit) = match unsigned(predicate) {
            Some(predicate) => (predicate, flip(span.lowest), flip(limit)),
            None => (predicate, span.lowest, limit),
        };
        let less = |count: Value<'c>, way: u64| {
            let function = self.unit.module.intrinsic("llvm.usub.sat", &[ty]);
            builder.call(function, &[count, ty.constant(way)])
        };
        let minus = |left, right| builder.binary(Opcode::Sub, left, right);
        let after = || minus(lowest, builder.add(limit, ty.constant(1)));
        let above = || builder.binary(Opcode::Xor, limit, most);
        // Of these there may be one more than a number can say, but `way` is at least 1.
        let (distance, count) = match predicate {
            Ult => (lowest, less(limit, span.way)),
            Ule => (lowest, less(limit, span.way - 1)),
            Ugt => (after(), less(above(), span.way)),
            Uge => (minus(lowest, limit), less(above(), span.way - 1)),
            Ne => (after(), minus(most, ty.constant(span.way))),
            // Numbers that differ are not all equal to one.
            _ => return Type::int(self.unit.context, 1).constant(0),
        };
        let all = builder.compare(Ult, distance, count);
        span.holds.map_or(all, |holds| builder.and(all, holds))
    }
}
