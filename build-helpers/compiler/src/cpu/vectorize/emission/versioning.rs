//! Run-time checks at the start of an unmasked body, of what it assumes: loop versioning
//! ([LLVM](https://llvm.org/docs/Vectorizers.html#runtime-checks-of-pointers)) at the level of vectors.
//! Where a check fails the body calls the masked body, which assumes nothing.

use std::collections::HashSet;

use kernelmill_llvm::ir::{Block, IntPredicate, Opcode, Type, Value};

use super::{super::layout::vector_value::VectorValue, exits::Exits, values::Values};
use crate::cpu::uniformity::{clamp_predicate, wanted_bits};

impl<'c> Values<'_, 'c> {
    /// The bit at the start of the function that says whether an instruction's stride holds, and that
    /// of the same with these offsets.
    fn hold_at_start(&mut self, instruction: Value<'c>, offsets: (i64, i64)) -> Value<'c> {
        let operands: Vec<_> = instruction
            .operands()
            .into_iter()
            .map(|operand| (operand, self.at_start(operand)))
            .collect();
        self.cached = operands.into_iter().collect();
        let step = self.stride(instruction).unwrap_or(0);
        let block = self.plan.flow.number(instruction.block());
        self.code.swap_builders();
        let holds = match instruction.opcode() {
            Opcode::And | Opcode::Xor => self.stride_holds(instruction, step, block),
            opcode => self.do_not_wrap(opcode, instruction.operand(0), (step, offsets), block),
        };
        self.code.swap_builders();
        holds
    }

    /// The bit that says whether a strided instruction grows by its step over the whole vector.
    pub(in crate::cpu::vectorize) fn stride_holds(
        &mut self,
        instruction: Value<'c>,
        step: i64,
        block: usize,
    ) -> Value<'c> {
        match instruction.opcode() {
            Opcode::And | Opcode::Xor => self.keeps_bits(instruction, step, block),
            Opcode::Call => self.is_not_clamped(instruction, step, block),
            opcode => self.do_not_wrap(opcode, instruction.operand(0), (step, (0, 0)), block),
        }
    }

    /// Whether all lanes have the same condition, and whether it holds in all of them.
    pub(in crate::cpu::vectorize) fn choose_alike(
        &mut self,
        condition: Value<'c>,
        block: usize,
    ) -> (Value<'c>, Value<'c>) {
        // What a lane has that is not there can be poison.
        let lanes = self.wide(condition, block);
        let lanes = self.code.builder.freeze(lanes);
        let bits = self.code.vectors.bits(&self.code.builder, lanes);
        let same =
            |bit: u64| self.code.builder.compare(IntPredicate::Eq, bits, bits.ty().constant(bit));
        let (all, none) = (same(u64::MAX), same(0));
        (self.code.builder.binary(Opcode::Or, all, none), all)
    }

    /// Whether all lanes have the same number, and that of the first one.
    pub(in crate::cpu::vectorize) fn add_alike(
        &mut self,
        number: Value<'c>,
        block: usize,
    ) -> (Value<'c>, Value<'c>) {
        // What a lane has that is not there can be poison.
        let lanes = self.wide(number, block);
        let lanes = self.code.builder.freeze(lanes);
        let (builder, vectors) = (&self.code.builder, self.code.vectors);
        let first = builder.lane(lanes, Type::int(self.code.unit.context, 32).constant(0));
        let all = vectors.splat(builder, first);
        let bits = vectors.bits(builder, builder.compare(IntPredicate::Eq, lanes, all));
        (builder.compare(IntPredicate::Eq, bits, bits.ty().constant(u64::MAX)), first)
    }

    /// Whether the larger or smaller of a strided number and a uniform one is the strided one in every lane.
    fn is_not_clamped(&mut self, call: Value<'c>, step: i64, block: usize) -> Value<'c> {
        let predicate = clamp_predicate(call).expect("other calls have no stride");
        let is_uniform = |value: &Value<'c>| self.plan.shapes.shape(*value).is_uniform();
        let (limits, others): (Vec<_>, Vec<_>) = call.arguments().into_iter().partition(is_uniform);
        let limit = self.first(limits[0], block);
        let number = VectorValue { step, holds: None, ..self.read(others[0], block) };
        match self.code.span(number, (0, 0)) {
            Some(span) => self.code.all_compare(span, predicate, limit),
            None => Type::int(self.code.unit.context, 1).constant(0),
        }
    }

    /// Whether an `and` or `xor` with a uniform number leaves the bits as they are in which the lanes
    /// of a strided one differ. A mask that is known is that of a remainder.
    fn keeps_bits(&mut self, instruction: Value<'c>, step: i64, block: usize) -> Value<'c> {
        let operands = instruction.operands();
        let is_uniform = |value: &Value<'c>| self.plan.shapes.shape(*value).is_uniform();
        let (masks, others): (Vec<_>, Vec<_>) = operands.into_iter().partition(is_uniform);
        let (mask, other) = (masks[0], others[0]);
        let ty = instruction.ty();
        if let Some(most) = mask.as_u64().filter(|_| instruction.opcode() == Opcode::And) {
            let way = step.unsigned_abs() * u64::from(self.code.vectors.lanes - 1);
            let first = self.first(other, block);
            let first = self.code.builder.and(first, ty.constant(most));
            let limit = ty.constant(most - way);
            return self.code.builder.compare(IntPredicate::Ule, first, limit);
        }
        let (bits, wanted) = wanted_bits(instruction.opcode(), step, self.code.vectors.lanes);
        let mut mask = self.first(mask, block);
        if instruction.opcode() == Opcode::Xor {
            // The first lane must have none of them either, which is known where the block's size is.
            let first = self.first(other, block);
            mask = self.code.builder.binary(Opcode::Or, mask, first);
        }
        let found = self.code.builder.and(mask, ty.constant(bits));
        self.code.builder.compare(IntPredicate::Eq, found, ty.constant(wanted))
    }

    /// Whether a strided number grows over the vector without wrapping, as extensions see it, with each
    /// of the offsets.
    fn do_not_wrap(
        &mut self,
        opcode: Opcode,
        from: Value<'c>,
        (step, offsets): (i64, (i64, i64)),
        block: usize,
    ) -> Value<'c> {
        use IntPredicate::{Sle, Ule};
        let number = VectorValue { step, holds: None, ..self.read(from, block) };
        let no = Type::int(self.code.unit.context, 1).constant(0);
        let Some((lowest, way)) = self.code.extent(number, offsets) else { return no };
        let ty = lowest.ty();
        let Some(bits) = ty.int_width().filter(|bits| way >> (bits - 1).min(63) == 0) else {
            return no;
        };
        let (predicate, most) = match opcode {
            Opcode::ZExt => (Ule, u64::MAX),
            _ => (Sle, (1 << (bits - 1)) - 1),
        };
        self.code.builder.compare(predicate, lowest, ty.constant(most.wrapping_sub(way)))
    }
}

impl<'c> Exits<'c> {
    /// Goes from the function's first block on to `start` where all assumptions hold, and else, as from
    /// wherever the vector is left to it, calls the masked body.
    pub(in crate::cpu::vectorize) fn emit_checks(
        &mut self,
        values: &mut Values<'_, 'c>,
        entry: Block<'c>,
        start: Block<'c>,
        masked: Value<'c>,
    ) {
        let (mut done, mut all) = (HashSet::new(), None);
        while let Some(instruction) = values.assumptions.next_assumption(&done) {
            let alike = values.assumptions.alike(instruction, &done);
            let holds = values.hold_at_start(instruction, alike.1);
            // No thread need come to the instruction, and what it is computed from can be poison then, which
            // must neither decide the branch nor hide what the other checks find.
            let holds = values.code.slots.freeze(holds);
            done.extend(alike.0);
            all = Some(match all {
                Some(others) => values.code.slots.and(others, holds),
                None => holds,
            });
        }
        if all.is_none() && self.other.is_none() {
            return;
        }
        let memory = [(); 2].map(|()| values.spills.block_context(&values.code));
        let (context, function) = (values.code.unit.context, values.code.function);
        let other = *self.other.get_or_insert_with(|| Block::append(context, function, "other"));
        if let Some(all) = all {
            if let Some(end) = entry.terminator() {
                end.erase();
            }
            values.code.builder.at_end(entry);
            values.code.builder.branch_if(all, start, other);
        }
        values.code.builder.at_end(other);
        values.spills.call_masked(&values.code, masked, memory);
    }
}
