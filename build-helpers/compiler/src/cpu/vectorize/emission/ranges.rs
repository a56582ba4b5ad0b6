//! Comparisons of all lanes at once: whether a comparison of a strided number with a uniform one has the same
//! result in every lane, by one comparison of the lowest lane.

use kernelmill_llvm::ir::{IntPredicate, ModuleExt, Opcode, Type, Value};

use super::{super::layout::vector_value::VectorValue, code::Code};

/// Numbers in a row, without gaps larger than they are counted: the lowest, and how much larger the
/// highest is.
#[derive(Clone, Copy)]
pub(in crate::cpu::vectorize) struct Span<'c> {
    lowest: Value<'c>,
    way: u64,
    /// The bit that says whether the lanes are as the stride says.
    holds: Option<Value<'c>>,
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

impl<'c> Code<'_, 'c> {
    /// The lowest number in the lanes of a strided value that grows, and how much larger the highest is, with
    /// those that are larger by `offsets`, from the first to the second.
    pub(in crate::cpu::vectorize) fn extent(
        &self,
        widened: VectorValue<'c>,
        offsets: (i64, i64),
    ) -> Option<(Value<'c>, u64)> {
        let first = widened.first?;
        let last = widened.step.checked_mul(i64::from(self.vectors.lanes - 1))?;
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
    pub(in crate::cpu::vectorize) fn span(
        &self,
        widened: VectorValue<'c>,
        offsets: (i64, i64),
    ) -> Option<Span<'c>> {
        let (lowest, way) = self.extent(widened, offsets).filter(|(_, way)| *way > 0)?;
        let is_wide = lowest.ty().int_width().is_some_and(|bits| bits >= 32);
        is_wide.then_some(Span { lowest, way, holds: widened.holds })
    }

    /// The bit that says whether a comparison holds for every number of a span, active lanes or not.
    ///
    /// What is in order with the limit is a range of `count` numbers from `from` on, so that all are in
    /// it where `lowest - from < count - way`, without wrapping on the right.
    pub(in crate::cpu::vectorize) fn all_compare(
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
