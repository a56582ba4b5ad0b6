//! Reads and writes the values of the body: within a block as they are, between blocks through
//! stack slots, between regions through memory.

use kernelmill_llvm::ir::{Opcode, Type, TypeKind, Value};

use super::{
    form::Form,
    group::{Group, Mask, Slots},
    state::{Keep, leaf_bytes},
};
use crate::cpu::uniformity::Shape;

impl<'c> Group<'_, 'c> {
    /// The value of an operand where block `block` uses it, at the end of it for phis after it.
    pub(super) fn read(&mut self, value: Value<'c>, block: usize) -> Form<'c> {
        if let Some(form) = self.parameters.get(&value).or_else(|| self.cached.get(&value)) {
            return *form;
        }
        if !value.is_instruction() {
            return Form::uniform(value);
        }
        if value.opcode() == Opcode::Alloca {
            return self.stack_memory(value);
        }
        let defined = self.plan.flow.number(value.block());
        if !self.plan.is_at_hand(self.region, defined, block) {
            if let Some(keep) = self.state.values.get(&value).copied() {
                self.bring(value, keep);
            } else if self.state.anew.contains(&value) {
                return self.at_start(value);
            }
        }
        let form = self.load_slots(value);
        self.cached.insert(value, form);
        form
    }

    /// Loads what another region has kept before anything else is done, so that this region can
    /// compute the value anew on one way and not on another.
    fn bring(&mut self, value: Value<'c>, keep: Keep) {
        if !self.brought.insert(value) {
            return;
        }
        self.assume_for(value);
        let slots = self.value_slots(value);
        std::mem::swap(&mut self.builder, &mut self.slots);
        let form = self.fetch(value, keep);
        self.store_to(slots, form);
        std::mem::swap(&mut self.builder, &mut self.slots);
    }

    fn value_slots(&mut self, value: Value<'c>) -> Slots<'c> {
        if let Some(slots) = self.values.get(&value) {
            return *slots;
        }
        let slots = self.new_slots(value);
        self.values.insert(value, slots);
        slots
    }

    pub(super) fn stride(&self, value: Value<'c>) -> Option<i64> {
        match self.plan.shapes.shape(value) {
            Shape::Strided(step) => Some(step),
            Shape::Varying => None,
        }
    }

    /// The slots of a value, of the form that its shape asks for.
    fn new_slots(&self, value: Value<'c>) -> Slots<'c> {
        let ty = value.ty();
        let step = self.stride(value);
        let unsure = step.is_some_and(|step| step != 0) && self.assumptions.unsure.contains(&value);
        // So that it is not carried over from the group before.
        let new = |ty: Type<'c>| {
            let slot = self.slots.alloca(ty);
            self.slots.store(ty.poison(), slot);
            slot
        };
        let first = step.map(|_| new(ty));
        let vector = (step.is_none() || unsure).then(|| new(self.vectors.widen(ty)));
        let holds = unsure.then(|| new(Type::int(self.unit.context, 1)));
        Slots { first, holds, vector }
    }

    fn load_slots(&mut self, value: Value<'c>) -> Form<'c> {
        let slots = self.value_slots(value);
        self.load_from(value, slots)
    }

    fn load_from(&self, value: Value<'c>, slots: Slots<'c>) -> Form<'c> {
        let ty = value.ty();
        Form {
            first: slots.first.map(|slot| self.builder.load(ty, slot)),
            step: self.stride(value).unwrap_or(0),
            holds: slots.holds.map(|slot| self.builder.load(Type::int(self.unit.context, 1), slot)),
            vector: slots.vector.map(|slot| self.builder.load(self.vectors.widen(ty), slot)),
        }
    }

    /// Notes what a block has computed.
    pub(super) fn write(&mut self, value: Value<'c>, form: Form<'c>) {
        self.cached.insert(value, form);
        if !self.plan.escaping.contains(&value) {
            return;
        }
        if let Some(keep) = self.state.values.get(&value).copied() {
            self.keep(value, form, keep);
        }
        let slots = self.value_slots(value);
        self.store_to(slots, form);
    }

    fn store_to(&self, slots: Slots<'c>, form: Form<'c>) {
        if let Some(slot) = slots.first {
            let first = form.first.expect("a strided value has a first lane");
            self.builder.store(first, slot);
        }
        if let Some(slot) = slots.vector {
            let all = self.vectors.all(&self.builder, form);
            self.builder.store(all, slot);
        }
        if let Some(slot) = slots.holds {
            let yes = Type::int(self.unit.context, 1).constant(1);
            self.builder.store(form.holds.unwrap_or(yes), slot);
        }
    }

    fn phi_slots(&mut self, phi: Value<'c>) -> Slots<'c> {
        if let Some(slots) = self.phis.get(&phi) {
            return *slots;
        }
        let slots = self.new_slots(phi);
        self.phis.insert(phi, slots);
        slots
    }

    /// The value of a phi at the start of its block.
    pub(super) fn phi(&mut self, phi: Value<'c>) {
        let slots = self.phi_slots(phi);
        let form = self.load_from(phi, slots);
        self.write(phi, form);
    }

    /// Forgets what phis of a block were given before, so that it is not carried along.
    pub(super) fn reset_phis(&mut self, block: usize) {
        for phi in phis(self.plan.flow.blocks[block].instructions()) {
            let slots = self.phi_slots(phi);
            if slots.first.is_none()
                && let Some(slot) = slots.vector
            {
                self.builder.store(self.vectors.widen(phi.ty()).poison(), slot);
            }
        }
    }

    /// Gives the phis of `to` their values where control comes from `from`: in the lanes of the
    /// mask, and where a uniform value is concerned, if `taken` holds.
    pub(super) fn set_phis(
        &mut self,
        from: usize,
        to: usize,
        mask: Mask<'c>,
        taken: Option<Value<'c>>,
    ) {
        let came = self.plan.flow.blocks[from];
        for phi in phis(self.plan.flow.blocks[to].instructions()) {
            let index = (0..phi.operands().len() as u32)
                .find(|index| phi.incoming_block(*index) == Some(came));
            let Some(index) = index else { continue };
            let mut form = self.read(phi.operand(index), from);
            let slots = self.phi_slots(phi);
            if let Some(taken) = taken {
                let old = self.load_from(phi, slots);
                form = self.choose(taken, form, old, slots);
            }
            if slots.first.is_none()
                && let (Some(mask), Some(slot)) = (mask, slots.vector)
            {
                let new = self.vectors.all(&self.builder, form);
                let old = self.builder.load(new.ty(), slot);
                let both = self.vectors.blend(&self.builder, mask, new, old);
                form = Form::varying(both);
            }
            self.store_to(slots, form);
        }
    }

    /// The new form where `taken` holds, else the old one; where only lanes decide, the new one.
    fn choose(&self, taken: Value<'c>, new: Form<'c>, old: Form<'c>, slots: Slots<'c>) -> Form<'c> {
        if slots.first.is_none() {
            return new;
        }
        let yes = Type::int(self.unit.context, 1).constant(1);
        let select = |new: Option<Value<'c>>, old: Option<Value<'c>>| {
            Some(self.builder.select(taken, new?, old?))
        };
        Form {
            first: select(new.first, old.first),
            step: old.step,
            holds: slots.holds.and_then(|_| select(Some(new.holds.unwrap_or(yes)), old.holds)),
            vector: slots.vector.map(|_| {
                let all = self.vectors.all(&self.builder, new);
                let before = self.vectors.all(&self.builder, old);
                self.builder.select(taken, all, before)
            }),
        }
    }

    /// The memory of a thread: its own of each lane.
    fn stack_memory(&mut self, alloca: Value<'c>) -> Form<'c> {
        if let Some(form) = self.memory.get(&alloca) {
            return *form;
        }
        let context = self.unit.context;
        let byte = Type::int(context, 8);
        // At the start of the function, where it is at hand everywhere.
        let slots = &self.slots;
        let (base, bytes) = match self.state.memory.get(&alloca) {
            Some((offset, bytes)) => {
                let base = self.threads_at(slots, *offset, *bytes);
                (base, *bytes)
            }
            None => {
                let align = u64::from(alloca.alignment().max(1));
                let bytes = (self.size)(alloca.allocated_type()).next_multiple_of(align).max(1);
                let all = byte.array(bytes * u64::from(self.plan.lanes));
                let base = slots.alloca(all);
                base.set_alignment(alloca.alignment().max(1));
                (base, bytes)
            }
        };
        let form = if self.plan.lanes == 1 {
            Form::uniform(base)
        } else {
            let strided = Form::strided(base, bytes as i64);
            Form::varying(self.vectors.all(slots, strided))
        };
        self.memory.insert(alloca, form);
        form
    }

    /// The address of the group's first element of an array over all threads.
    fn threads_at(
        &self,
        builder: &kernelmill_llvm::ir::Builder<'c>,
        offset: u64,
        bytes: u64,
    ) -> Value<'c> {
        let context = self.unit.context;
        let (byte, wide) = (Type::int(context, 8), Type::int(context, 64));
        let start = builder.multiply(self.extra.padded, wide.constant(offset));
        let step = builder.multiply(self.extra.at, wide.constant(bytes));
        let array = builder.element(byte, self.extra.threads, start);
        builder.element(byte, array, step)
    }

    /// Keeps a value for other regions.
    fn keep(&mut self, value: Value<'c>, form: Form<'c>, keep: Keep) {
        match keep {
            Keep::Once(offset) => {
                let address = self.builder.offset(self.unit.context, self.extra.next, offset);
                self.builder.store(form.once(), address);
            }
            Keep::First(offset) => {
                let bytes = (self.size)(value.ty());
                let address = self.threads_at(&self.builder, offset, bytes);
                let first = form.first.expect("it is strided");
                let store = self.builder.store(first, address);
                store.set_alignment(1);
            }
            Keep::Each(offset) => {
                let all = self.vectors.all(&self.builder, form);
                self.keep_leaves(value.ty(), all, &mut { offset });
            }
        }
    }

    fn keep_leaves(&mut self, ty: Type<'c>, all: Value<'c>, offset: &mut u64) {
        if ty.kind() == TypeKind::Struct {
            for (index, field) in ty.fields().into_iter().enumerate() {
                let part = self.builder.extract(all, index as u32);
                self.keep_leaves(field, part, offset);
            }
            return;
        }
        let (kept, all) = if ty.is_int(1) {
            let byte = Type::int(self.unit.context, 8);
            (byte, self.builder.zero_extend(all, byte.vector(self.plan.lanes)))
        } else {
            (ty, all)
        };
        let bytes = (self.size)(kept);
        let address = self.threads_at(&self.builder, *offset, bytes);
        self.builder.store(all, address).set_alignment(bytes as u32);
        *offset += leaf_bytes(ty, self.size);
    }

    /// A value that another region has kept.
    pub(super) fn fetch(&mut self, value: Value<'c>, keep: Keep) -> Form<'c> {
        let ty = value.ty();
        match keep {
            Keep::Once(offset) => {
                let address = self.builder.offset(self.unit.context, self.extra.block, offset);
                Form::uniform(self.builder.load(ty, address))
            }
            Keep::First(offset) => {
                let address = self.threads_at(&self.builder, offset, (self.size)(ty));
                let first = self.builder.load(ty, address);
                first.set_alignment(1);
                Form::strided(first, self.stride(value).unwrap_or(0))
            }
            Keep::Each(offset) => {
                let all = self.fetch_leaves(ty, &mut { offset });
                self.recover(value, all)
            }
        }
    }

    /// A strided value of which only the vector was kept.
    fn recover(&self, value: Value<'c>, all: Value<'c>) -> Form<'c> {
        let Some(step) = self.stride(value) else { return Form::varying(all) };
        let word = Type::int(self.unit.context, 32);
        if !self.assumptions.unsure.contains(&value) {
            return Form::strided(self.builder.lane(all, word.constant(0)), step);
        }
        let bit = Type::int(self.unit.context, 1);
        let first = self.builder.lane(all, word.constant(0));
        Form { first: Some(first), step, holds: Some(bit.constant(0)), vector: Some(all) }
    }

    fn fetch_leaves(&mut self, ty: Type<'c>, offset: &mut u64) -> Value<'c> {
        if ty.kind() == TypeKind::Struct {
            let mut all = self.vectors.widen(ty).poison();
            for (index, field) in ty.fields().into_iter().enumerate() {
                let part = self.fetch_leaves(field, offset);
                all = self.builder.insert(all, part, index as u32);
            }
            return all;
        }
        let kept = if ty.is_int(1) { Type::int(self.unit.context, 8) } else { ty };
        let bytes = (self.size)(kept);
        let address = self.threads_at(&self.builder, *offset, bytes);
        let all = self.builder.load(kept.vector(self.plan.lanes), address);
        all.set_alignment(bytes as u32);
        *offset += leaf_bytes(ty, self.size);
        if ty.is_int(1) { self.builder.truncate(all, ty.vector(self.plan.lanes)) } else { all }
    }
}

/// The phis at the start of a block.
pub(in crate::cpu) fn phis<'c>(instructions: Vec<Value<'c>>) -> impl Iterator<Item = Value<'c>> {
    instructions.into_iter().take_while(|instruction| instruction.opcode() == Opcode::Phi)
}

/// Whether an `alloca` or anything else is built elsewhere than where it stands.
pub(super) fn is_stack_memory(instruction: Value<'_>) -> bool {
    instruction.opcode() == Opcode::Alloca
}

/// The shape that says a value is held as a vector.
pub(super) const VARYING: Shape = Shape::Varying;
