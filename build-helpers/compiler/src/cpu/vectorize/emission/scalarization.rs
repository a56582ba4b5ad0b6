//! Scalarisation: instructions that each lane does by itself, which are calls, volatile and atomic accesses.
//!
//! The threads of a block run on one thread of the machine, so an atomic operation on shared memory is
//! one that nothing can come between: it becomes a load and a store.

use kernelmill_llvm::ir::{
    AtomicOperation, IntPredicate, ModuleExt, Opcode, Type, TypeKind, Value,
};

use super::{
    super::layout::vector_value::VectorValue,
    code::{BodyKind, Code, Mask},
    emitter::Emitter,
    reloads::Reread,
};
use crate::cpu::{atomics::Combine, instructions::resize};

impl<'c> Emitter<'_, 'c> {
    /// An instruction for each lane of the mask in turn.
    pub(in crate::cpu::vectorize) fn scalarize(
        &mut self,
        block: usize,
        instruction: Value<'c>,
        mask: Mask<'c>,
    ) {
        let forms: Vec<_> = instruction
            .operands()
            .into_iter()
            .map(|operand| {
                let known =
                    operand.is_instruction() || self.values.parameters.contains_key(&operand);
                known.then(|| self.values.read(operand, block))
            })
            .collect();
        let void = instruction.ty().kind() == TypeKind::Void;
        let wide = (!void && instruction.is_used())
            .then(|| self.values.code.vectors.widen(instruction.ty()));
        let results = wide.map(|ty| (ty, self.values.code.slots.alloca(ty)));
        let every = self.values.code.vectors.every();
        let bits = self.values.code.vectors.bits(&self.values.code.builder, mask.unwrap_or(every));
        if matches!(self.exits.kind, BodyKind::Unmasked { .. })
            && self.values.code.is_own(instruction)
        {
            let (all, some, after) = (
                self.values.code.edge_block(),
                self.values.code.edge_block(),
                self.values.code.edge_block(),
            );
            let full = bits.ty().constant(u64::MAX);
            let is_full = self.values.code.builder.compare(IntPredicate::Eq, bits, full);
            self.values.code.builder.branch_if(is_full, all, some);
            self.values.code.builder.at_end(all);
            // What is to be changed, and where.
            let address = instruction.operand(0);
            let again =
                Reread { values: &mut self.values, block }.can_read_again(instruction, address);
            let written: Vec<_> = forms
                .iter()
                .enumerate()
                .map(|(index, widened)| {
                    widened.filter(|_| index > 0 || !again).map(|it| self.values.code.written(it))
                })
                .collect();
            for number in 0..u64::from(self.values.code.vectors.lanes) {
                let lane = Type::int(self.values.code.unit.context, 32).constant(number);
                let mut forms: Vec<_> = written
                    .iter()
                    .map(|widened| widened.map(|it| self.values.code.read_back(it, number)))
                    .collect();
                if again {
                    forms[0] = Some(VectorValue::uniform(
                        Reread { values: &mut self.values, block }.read_again(address, lane),
                    ));
                }
                self.values.code.one_lane(instruction, &forms, lane, results);
            }
            self.values.code.builder.branch(after);
            self.values.code.builder.at_end(some);
            self.values.code.lane_by_lane(instruction, &forms, bits, results);
            self.values.code.builder.branch(after);
            self.values.code.builder.at_end(after);
        } else {
            self.values.code.lane_by_lane(instruction, &forms, bits, results);
        }
        if let Some((ty, results)) = results {
            let all = self.values.code.builder.load(ty, results);
            self.values.write(instruction, VectorValue::varying(all));
        }
    }
}

impl<'c> Code<'_, 'c> {
    /// Writes the lanes of a vector to the stack: to read each of them back takes the processor less
    /// than to take the vector apart.
    fn written(&self, widened: VectorValue<'c>) -> Written<'c> {
        let Some(vector) = widened.vector.filter(|vector| is_number(*vector)) else {
            return Written::No(widened);
        };
        let slot = self.slots.alloca(vector.ty());
        self.builder.store(vector, slot).make_volatile();
        Written::At(slot, vector.ty().element())
    }

    fn read_back(&self, written: Written<'c>, lane: u64) -> VectorValue<'c> {
        match written {
            Written::No(widened) => widened,
            Written::At(slot, ty) => {
                let lane = Type::int(self.unit.context, 64).constant(lane);
                let value = self.builder.load(ty, self.builder.element(ty, slot, lane));
                // So that LLVM does not take the vector apart after all.
                value.make_volatile();
                VectorValue::uniform(value)
            }
        }
    }

    /// Loops over the lanes of a mask.
    fn lane_by_lane(
        &mut self,
        instruction: Value<'c>,
        forms: &[Option<VectorValue<'c>>],
        bits: Value<'c>,
        results: Option<(Type<'c>, Value<'c>)>,
    ) {
        let context = self.unit.context;
        let bits_type = bits.ty();
        let left = self.slots.alloca(bits_type);
        self.builder.store(bits, left);
        let (head, body, after) = (self.edge_block(), self.edge_block(), self.edge_block());
        self.builder.branch(head);
        self.builder.at_end(head);
        let bits = self.builder.load(bits_type, left);
        let more = self.builder.compare(IntPredicate::Ne, bits, bits_type.constant(0));
        self.builder.branch_if(more, body, after);
        self.builder.at_end(body);
        let count = self.unit.module.intrinsic("llvm.cttz", &[bits_type]);
        let yes = Type::int(context, 1).constant(1);
        let lane = self.builder.call(count, &[bits, yes]);
        let lane = resize(&self.builder, lane, Type::int(context, 32));
        self.one_lane(instruction, forms, lane, results);
        let rest = self.builder.add(bits, bits_type.constant(u64::MAX));
        let rest = self.builder.and(bits, rest);
        self.builder.store(rest, left);
        self.builder.branch(head);
        self.builder.at_end(after);
    }

    /// An instruction for one lane.
    fn one_lane(
        &mut self,
        instruction: Value<'c>,
        forms: &[Option<VectorValue<'c>>],
        lane: Value<'c>,
        results: Option<(Type<'c>, Value<'c>)>,
    ) {
        let operands: Vec<_> = forms
            .iter()
            .map(|widened| widened.map(|widened| self.vectors.one(&self.builder, widened, lane)))
            .collect();
        let result = self.copy_with(instruction, &operands);
        if let Some((ty, results)) = results {
            let old = self.builder.load(ty, results);
            let new = self.set_lane(old, result, lane);
            self.builder.store(new, results);
        }
    }

    /// A copy of an instruction with those operands that are given.
    pub(in crate::cpu::vectorize) fn copy_with(
        &self,
        instruction: Value<'c>,
        operands: &[Option<Value<'c>>],
    ) -> Value<'c> {
        if self.is_own(instruction)
            && let &[pointer, value] = operands
            && let Some(operation) = instruction.atomic_operation()
        {
            let pointer = pointer.unwrap_or_else(|| instruction.operand(0));
            let value = value.unwrap_or_else(|| instruction.operand(1));
            return self.not_atomic(operation, pointer, value);
        }
        let copy = self.builder.copy(instruction);
        for (index, operand) in operands.iter().enumerate() {
            if let Some(operand) = operand {
                copy.set_operand(index as u32, *operand);
            }
        }
        copy
    }

    /// Whether an instruction is an atomic operation on the block's own memory that need not be one.
    fn is_own(&self, instruction: Value<'c>) -> bool {
        let Some(operation) = instruction.atomic_operation() else { return false };
        Combine::of(operation).is_some() && self.is_shared(instruction.operand(0))
    }

    /// Whether an address leads to the block's own memory.
    pub(in crate::cpu::vectorize) fn is_shared(&self, mut pointer: Value<'c>) -> bool {
        while pointer.is_instruction() && pointer.opcode() == Opcode::GetElementPtr {
            pointer = pointer.operand(0);
        }
        pointer == self.shared
    }

    /// What an atomic operation does, and the value from before.
    fn not_atomic(
        &self,
        operation: AtomicOperation,
        pointer: Value<'c>,
        value: Value<'c>,
    ) -> Value<'c> {
        let old = self.builder.load(value.ty(), pointer);
        let combine = Combine::of(operation).unwrap_or(Combine::Replace);
        self.builder.store(combine.apply(&self.builder, old, value), pointer);
        old
    }

    fn set_lane(&self, all: Value<'c>, value: Value<'c>, lane: Value<'c>) -> Value<'c> {
        if value.ty().kind() != TypeKind::Struct {
            return self.builder.set_lane(all, value, lane);
        }
        (0..value.ty().fields().len() as u32).fold(all, |all, index| {
            let (old, new) = (self.builder.extract(all, index), self.builder.extract(value, index));
            let field = self.set_lane(old, new, lane);
            self.builder.insert(all, field, index)
        })
    }
}

/// A value, or where its lanes have been written to, with their type.
#[derive(Clone, Copy)]
enum Written<'c> {
    No(VectorValue<'c>),
    At(Value<'c>, Type<'c>),
}

/// Whether the lanes of a vector are numbers or addresses that lie in memory as they are.
fn is_number(vector: Value<'_>) -> bool {
    vector.ty().kind() == TypeKind::Vector
        && vector.ty().element().int_width().is_none_or(|bits| bits >= 8 && bits.is_power_of_two())
}
