//! Adjoints of instructions: the adjoint of a result is propagated to those of the operands.

use kernelmill_llvm::ir::{
    AtomicOperation, AtomicOrdering, FloatPredicate, Opcode, Type, TypeKind, Value,
};

use super::{memory, state::Reverse, tape::generic};
use crate::{
    analysis::{Transfer, holds_floats, transfer},
    rules::{Emitter, Operand, flows},
};

impl<'c> Reverse<'_, 'c> {
    /// Writes the reverse sweep through one instruction.
    pub(super) fn adjoint(&mut self, instruction: Value<'c>) {
        match instruction.opcode() {
            Opcode::Store => self.store(instruction),
            Opcode::Call if transfer(instruction).is_some() => self.transfer(instruction),
            _ if self.is_active(instruction) => self.operation(instruction),
            _ => {}
        }
    }

    /// The stack slot of a value's adjoint.
    pub(super) fn adjoint_slot(&mut self, value: Value<'c>) -> Value<'c> {
        if let Some(&slot) = self.adjoints.get(&value) {
            return slot;
        }
        let slot = self.new_slot(value.ty());
        self.adjoints.insert(value, slot);
        slot
    }

    /// Reads a value's adjoint and clears it, for the next iteration.
    pub(super) fn take(&mut self, value: Value<'c>) -> Value<'c> {
        let slot = self.adjoint_slot(value);
        let change = self.code.load(value.ty(), slot);
        self.code.store(value.ty().null(), slot);
        change
    }

    /// Adds to a value's adjoint, if it has one.
    pub(super) fn add(&mut self, value: Value<'c>, change: Value<'c>) {
        if self.is_active(value) {
            let slot = self.adjoint_slot(value);
            self.add_at(slot, change, false, None);
        }
    }

    /// Adds to the numbers at an address, atomically if `shared`.
    fn add_at(&self, at: Value<'c>, change: Value<'c>, shared: bool, alignment: Option<u32>) {
        let ty = change.ty();
        let is_vector = ty.lanes().is_some();
        if ty.is_floating() || is_vector && !shared && holds_floats(ty) {
            if shared {
                let (add, relaxed) = (AtomicOperation::FAdd, AtomicOrdering::Monotonic);
                self.code.atomic(add, at, change, relaxed);
                return;
            }
            let before = self.code.load(ty, at);
            let sum = self.code.binary(Opcode::FAdd, before, change);
            sum.ignore_sign_of_zero();
            let store = self.code.store(sum, at);
            for access in
                alignment.map(|bytes| [(before, bytes), (store, bytes)]).into_iter().flatten()
            {
                access.0.set_alignment(access.1);
            }
            return;
        }
        let word = Type::int(self.unit.context, 32);
        let fields = match ty.kind() {
            TypeKind::Struct => ty.fields().len() as u64,
            TypeKind::Array => ty.array_length(),
            _ => u64::from(ty.lanes().unwrap_or(0)),
        };
        for index in 0..fields {
            let position = word.constant(index);
            let field = if is_vector {
                self.code.lane(change, position)
            } else {
                self.code.extract(change, index as u32)
            };
            if holds_floats(field.ty()) {
                let at = self.code.elements(ty, at, &[word.constant(0), position]);
                self.add_at(at, field, shared, None);
            }
        }
    }

    fn store(&mut self, store: Value<'c>) {
        let (value, pointer) = (store.operand(0), store.operand(1));
        if !holds_floats(value.ty()) || !self.shadows.is_shadowed(pointer) {
            return;
        }
        let at = self.shadow(pointer);
        if self.is_active(value) {
            let change = self.code.load(value.ty(), at);
            change.set_alignment(store.alignment());
            self.add(value, change);
        }
        self.code.store(value.ty().null(), at).set_alignment(store.alignment());
    }

    fn transfer(&mut self, call: Value<'c>) {
        let (to, from) = (call.operand(0), call.operand(1));
        if !self.shadows.is_shadowed(to) || self.copies_pointers(call) {
            return;
        }
        let bytes = self.value(call.operand(2));
        let at = self.shadow(to);
        let analysis = self.analysis;
        let element = analysis.elements.at(&analysis.memory, to);
        let from_shadowed =
            transfer(call) != Some(Transfer::Fill) && self.shadows.is_shadowed(from);
        match element.filter(|_| from_shadowed) {
            Some(element) => {
                let source = self.shadow(from);
                let shared = analysis.activities.is_shared(&analysis.memory, from);
                let overlap = transfer(call) == Some(Transfer::Move);
                let adjoints = memory::Adjoints { element, shared, overlap };
                let function = memory::move_adjoints(self.unit, adjoints);
                let pointer = Type::pointer(self.unit.context, 0);
                let (at, source) =
                    (generic(&self.code, at, pointer), generic(&self.code, source, pointer));
                let bytes = self.code.zero_extend(bytes, Type::int(self.unit.context, 64));
                self.code.call(function, &[at, source, bytes]);
            }
            None => self.code.clear_bytes(self.unit.context, at, 1, bytes),
        }
    }

    /// An operation whose result has an adjoint.
    fn operation(&mut self, instruction: Value<'c>) {
        let change = self.take(instruction);
        let operand = |index| instruction.operand(index);
        match instruction.opcode() {
            Opcode::Load => {
                let pointer = operand(0);
                let at = self.shadow(pointer);
                let analysis = self.analysis;
                let shared = analysis.activities.is_shared(&analysis.memory, pointer);
                self.add_at(at, change, shared, Some(instruction.alignment()));
            }
            Opcode::Select => {
                let condition = self.value(operand(0));
                let none = change.ty().null();
                let yes = self.code.select(condition, change, none);
                let no = self.code.select(condition, none, change);
                self.add(operand(1), yes);
                self.add(operand(2), no);
            }
            Opcode::FPExt => {
                let narrow = self.code.cast(Opcode::FPTrunc, change, operand(0).ty());
                self.add(operand(0), narrow);
            }
            Opcode::FPTrunc => {
                let wide = self.code.cast(Opcode::FPExt, change, operand(0).ty());
                self.add(operand(0), wide);
            }
            Opcode::BitCast => {
                let same = self.code.cast(Opcode::BitCast, change, operand(0).ty());
                self.add(operand(0), same);
            }
            Opcode::ExtractValue | Opcode::InsertValue => self.move_field(instruction, change),
            Opcode::ExtractElement | Opcode::InsertElement | Opcode::ShuffleVector => {
                self.move_lane(instruction, change);
            }
            _ => self.by_rule(instruction, change),
        }
    }

    /// Propagates an adjoint by the rules.
    fn by_rule(&mut self, instruction: Value<'c>, change: Value<'c>) {
        let Some(flows) = flows(self.unit.rules, instruction) else { return };
        let arguments = flows.len() as u32;
        let analysis = self.analysis;
        let may_drop = analysis.choices.may_drop(&analysis.cfg, self.unit.rules, instruction);
        for (index, flow) in flows.iter().enumerate() {
            let operand = instruction.operand(index as u32);
            if !self.is_active(operand) {
                continue;
            }
            // Values are looked up whether they are used or not; LLVM removes unused ones.
            let unit = self.unit;
            let builder = kernelmill_llvm::ir::Builder::new(unit.context);
            builder.at_end(self.code.block());
            let emitter = Emitter {
                context: unit.context,
                module: unit.module,
                builder: &builder,
                ty: instruction.ty(),
            };
            let mut source = |which| match which {
                Operand::Argument(index) => self.value(instruction.operand(index)),
                Operand::Result => self.value(instruction),
            };
            let Some(mut term) = emitter.flow(flow, change, arguments, &mut source) else {
                continue;
            };
            if may_drop && flow.is_product() {
                let none = change.ty().null();
                let is_zero = builder.compare_floats(FloatPredicate::Oeq, change, none);
                term = builder.select(is_zero, none, term);
            }
            self.add(operand, term);
        }
    }

    /// Operations that move numbers within structs and arrays.
    fn move_field(&mut self, instruction: Value<'c>, change: Value<'c>) {
        let operand = |index| instruction.operand(index);
        let indices: Vec<_> = instruction.indices().into_iter().map(u64::from).collect();
        if instruction.opcode() == Opcode::ExtractValue {
            if self.is_active(operand(0)) {
                let at = self.field_of(operand(0), &indices);
                self.add_at(at, change, false, None);
            }
            return;
        }
        // In memory, so that the field can be separated from the rest.
        let slot = self.adjoint_slot(instruction);
        self.code.store(change, slot);
        let at = self.field_of(instruction, &indices);
        let field = self.code.load(operand(1).ty(), at);
        self.code.store(field.ty().null(), at);
        let rest = self.take(instruction);
        self.add(operand(1), field);
        self.add(operand(0), rest);
    }

    /// Operations that move numbers within vectors.
    fn move_lane(&mut self, instruction: Value<'c>, change: Value<'c>) {
        let operand = |index| instruction.operand(index);
        match instruction.opcode() {
            Opcode::ExtractElement => {
                let lane = self.value(operand(1));
                if self.is_active(operand(0)) {
                    let none = operand(0).ty().null();
                    let only = self.code.set_lane(none, change, lane);
                    self.add(operand(0), only);
                }
            }
            Opcode::InsertElement => {
                let lane = self.value(operand(2));
                let inserted = self.code.lane(change, lane);
                self.add(operand(1), inserted);
                let rest = self.code.set_lane(change, inserted.ty().null(), lane);
                self.add(operand(0), rest);
            }
            _ => self.unshuffle(instruction, change),
        }
    }

    /// A `shufflevector`: each lane is moved back to the lane that it comes from.
    fn unshuffle(&mut self, shuffle: Value<'c>, change: Value<'c>) {
        let word = Type::int(self.unit.context, 32);
        let lanes = shuffle.operand(0).ty().lanes().unwrap_or(0);
        for (position, from) in shuffle.shuffle_mask().into_iter().enumerate() {
            let Ok(from) = u32::try_from(from) else { continue };
            let source = shuffle.operand(from / lanes);
            if self.is_active(source) {
                let part = self.code.lane(change, word.constant(position as u64));
                let none = source.ty().null();
                let only = self.code.set_lane(none, part, word.constant(u64::from(from % lanes)));
                self.add(source, only);
            }
        }
    }

    /// The address of a field of a value's adjoint.
    fn field_of(&mut self, value: Value<'c>, indices: &[u64]) -> Value<'c> {
        let word = Type::int(self.unit.context, 32);
        let slot = self.adjoint_slot(value);
        let mut all = vec![word.constant(0)];
        all.extend(indices.iter().map(|index| word.constant(*index)));
        self.code.elements(value.ty(), slot, &all)
    }
}
