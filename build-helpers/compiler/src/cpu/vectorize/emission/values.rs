//! Values of the scalar code in a vector body: within a block as they are, between blocks through stack slots,
//! which LLVM promotes to registers, and between regions through context arrays.

use std::collections::{HashMap, HashSet};

use kernelmill_llvm::ir::{Block, Opcode, Type, Value};

use super::{
    super::{
        analysis::plan::Plan,
        layout::{context_arrays::Spill, vector_value::VectorValue},
    },
    assumptions::Assumptions,
    code::{AffineSlots, Code, Mask, Slots},
    spills::Spills,
};
use crate::cpu::{instructions::phis, uniformity::Shape};

/// The values of a vector body.
pub(in crate::cpu::vectorize) struct Values<'a, 'c> {
    pub(in crate::cpu::vectorize) code: Code<'a, 'c>,
    pub(in crate::cpu::vectorize) plan: &'a Plan<'c>,
    pub(in crate::cpu::vectorize) region: usize,
    pub(in crate::cpu::vectorize) spills: Spills<'a, 'c>,
    pub(in crate::cpu::vectorize) assumptions: Assumptions<'a, 'c>,
    pub(in crate::cpu::vectorize) parameters: HashMap<Value<'c>, VectorValue<'c>>,
    /// What the block that is built has computed or read.
    pub(in crate::cpu::vectorize) cached: HashMap<Value<'c>, VectorValue<'c>>,
    /// The stack memory of threads.
    memory: HashMap<Value<'c>, VectorValue<'c>>,
    value_slots: HashMap<Value<'c>, Slots<'c>>,
    phis: HashMap<Value<'c>, Slots<'c>>,
    /// Values of other regions that have been loaded.
    preloaded: HashSet<Value<'c>>,
    /// What has been rematerialised at the start of the function.
    pub(in crate::cpu::vectorize) rematerialized: HashMap<Value<'c>, VectorValue<'c>>,
    /// Whether blocks with affine values have a version for these.
    pub(super) has_affine: bool,
    /// In such a version, the other one.
    pub(super) otherwise: Option<Block<'c>>,
}

impl<'a, 'c> Values<'a, 'c> {
    pub(in crate::cpu::vectorize) fn new(
        code: Code<'a, 'c>,
        plan: &'a Plan<'c>,
        region: usize,
        spills: Spills<'a, 'c>,
        assumptions: Assumptions<'a, 'c>,
        (parameters, has_affine): (HashMap<Value<'c>, VectorValue<'c>>, bool),
    ) -> Self {
        Self {
            code,
            plan,
            region,
            spills,
            assumptions,
            parameters,
            cached: HashMap::new(),
            memory: HashMap::new(),
            value_slots: HashMap::new(),
            phis: HashMap::new(),
            preloaded: HashSet::new(),
            rematerialized: HashMap::new(),
            has_affine,
            otherwise: None,
        }
    }

    /// The value of an operand where block `block` uses it, at the end of it for phis after it.
    pub(in crate::cpu::vectorize) fn read(
        &mut self,
        value: Value<'c>,
        block: usize,
    ) -> VectorValue<'c> {
        if let Some(widened) = self.parameters.get(&value).or_else(|| self.cached.get(&value)) {
            return *widened;
        }
        if !value.is_instruction() {
            return VectorValue::uniform(value);
        }
        if value.opcode() == Opcode::Alloca {
            return self.stack_memory(value);
        }
        let defined = self.plan.flow.number(value.block());
        if !self.plan.is_at_hand(self.region, defined, block) {
            if let Some(keep) = self.spills.arrays.values.get(&value).copied() {
                self.preload(value, keep);
            } else if self.spills.arrays.rematerialized.contains(&value) {
                return self.at_start(value);
            }
        }
        // A slot that nothing has stored to is poison, and a branch on that ends the program's meaning.
        assert!(self.is_at_hand(value, block), "{value:?} is not at hand in block {block}");
        let widened = self.load_slots(value);
        self.cached.insert(value, widened);
        widened
    }

    /// Whether [`Values::read`] can be asked for a value in a block. It can for the operands of the block's own
    /// instructions; for any other value, such as an operand of a comparison that another block makes, this
    /// must be asked first.
    pub(in crate::cpu::vectorize) fn is_at_hand(&self, value: Value<'c>, block: usize) -> bool {
        if !value.is_instruction()
            || value.opcode() == Opcode::Alloca
            || self.parameters.contains_key(&value)
            || self.cached.contains_key(&value)
        {
            return true;
        }
        let defined = self.plan.flow.number(value.block());
        let arrays = &self.spills.arrays;
        match self.plan.is_at_hand(self.region, defined, block) {
            true => self.is_kept(value),
            false => arrays.values.contains_key(&value) || arrays.rematerialized.contains(&value),
        }
    }

    /// Whether a value is kept in slots: other blocks read it, or its block has two versions.
    fn is_kept(&self, value: Value<'c>) -> bool {
        let in_versions = |value: Value<'c>| {
            self.has_affine && self.plan.affine.is_in(self.plan.flow.number(value.block()))
        };
        self.plan.escaping.contains(&value) || in_versions(value)
    }

    /// Whether a value may be affine.
    pub(super) fn may_be_affine(&self, value: Value<'c>) -> bool {
        self.has_affine && self.plan.affine.values.contains(&value)
    }

    /// Loads what another region has spilled before anything else is done, so that this region can
    /// compute the value again on one path and not on another.
    fn preload(&mut self, value: Value<'c>, keep: Spill) {
        if !self.preloaded.insert(value) {
            return;
        }
        self.assumptions.assume_for(value);
        let slots = self.value_slots(value);
        self.code.swap_builders();
        let widened = self.reload(value, keep);
        self.code.store_to(slots, widened);
        self.code.swap_builders();
    }

    fn value_slots(&mut self, value: Value<'c>) -> Slots<'c> {
        if let Some(slots) = self.value_slots.get(&value) {
            return *slots;
        }
        let slots = self.new_slots(value);
        self.value_slots.insert(value, slots);
        slots
    }

    pub(in crate::cpu::vectorize) fn stride(&self, value: Value<'c>) -> Option<i64> {
        match self.plan.shapes.shape(value) {
            Shape::Strided(step) => Some(step),
            Shape::Varying => None,
        }
    }

    /// The slots of a value, as its shape asks for.
    fn new_slots(&self, value: Value<'c>) -> Slots<'c> {
        let ty = value.ty();
        let step = self.stride(value);
        let unsure = step.is_some_and(|step| step != 0) && self.assumptions.unsure.contains(&value);
        // So that it is not carried over from the vector before.
        let new = |ty: Type<'c>| {
            let slot = self.code.slots.alloca(ty);
            self.code.slots.store(ty.poison(), slot);
            slot
        };
        let first = step.map(|_| new(ty));
        let vector = (step.is_none() || unsure).then(|| new(self.code.vectors.widen(ty)));
        let holds = unsure.then(|| new(Type::int(self.code.unit.context, 1)));
        let affine = self.may_be_affine(value).then(|| {
            let bit = Type::int(self.code.unit.context, 1);
            let (first, slope) = (new(ty), new(self.code.slope_type(ty)));
            AffineSlots { first, slope, holds: new(bit) }
        });
        Slots { first, holds, vector, affine }
    }

    fn load_slots(&mut self, value: Value<'c>) -> VectorValue<'c> {
        let slots = self.value_slots(value);
        self.load_from(value, slots)
    }

    fn load_from(&self, value: Value<'c>, slots: Slots<'c>) -> VectorValue<'c> {
        let ty = value.ty();
        if let (Some(affine), Some(vector)) = (slots.affine, slots.vector) {
            return self.code.load_affine(ty, (affine, vector), self.otherwise);
        }
        VectorValue {
            first: slots.first.map(|slot| self.code.builder.load(ty, slot)),
            step: self.stride(value).unwrap_or(0),
            slope: None,
            holds: slots
                .holds
                .map(|slot| self.code.builder.load(Type::int(self.code.unit.context, 1), slot)),
            vector: slots
                .vector
                .map(|slot| self.code.builder.load(self.code.vectors.widen(ty), slot)),
        }
    }

    /// Notes what a block has computed.
    pub(in crate::cpu::vectorize) fn write(&mut self, value: Value<'c>, widened: VectorValue<'c>) {
        self.cached.insert(value, widened);
        if !self.is_kept(value) {
            return;
        }
        if let Some(keep) = self.spills.arrays.values.get(&value).copied() {
            self.spills.keep(&self.code, value, widened, keep);
        }
        let slots = self.value_slots(value);
        self.code.store_to(slots, widened);
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
    pub(in crate::cpu::vectorize) fn phi(&mut self, phi: Value<'c>) {
        let slots = self.phi_slots(phi);
        let widened = self.load_from(phi, slots);
        self.write(phi, widened);
    }

    /// Forgets what phis of a block were given before, so that it is not carried along.
    pub(in crate::cpu::vectorize) fn reset_phis(&mut self, block: usize) {
        for phi in phis(self.plan.flow.blocks[block].instructions()) {
            let slots = self.phi_slots(phi);
            if slots.first.is_none()
                && let Some(slot) = slots.vector
            {
                self.code.builder.store(self.code.vectors.widen(phi.ty()).poison(), slot);
            }
        }
    }

    /// Gives the phis of `to` their values where control comes from `from`: in the lanes of the
    /// mask, and where a uniform value is concerned, if `taken` holds.
    pub(in crate::cpu::vectorize) fn set_phis(
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
            let slots = self.phi_slots(phi);
            if self.copies_affine(phi.operand(index), slots) {
                continue;
            }
            let mut widened = self.read(phi.operand(index), from);
            if let Some(taken) = taken {
                let old = self.load_from(phi, slots);
                widened = self.code.choose(taken, widened, old, slots);
            }
            if slots.first.is_none()
                && let (Some(mask), Some(slot)) = (mask, slots.vector)
            {
                let new = self.code.vectors.all(&self.code.builder, widened);
                let old = self.code.builder.load(new.ty(), slot);
                let both = self.code.vectors.blend(&self.code.builder, mask, new, old);
                widened = VectorValue::varying(both);
            }
            self.code.store_to(slots, widened);
        }
    }

    /// Gives a phi a value of another block as it is held there, affine or not; whether it is one that may be.
    fn copies_affine(&mut self, value: Value<'c>, to: Slots<'c>) -> bool {
        if to.affine.is_none() || self.cached.contains_key(&value) || !self.may_be_affine(value) {
            return false;
        }
        let from = self.value_slots(value);
        self.code.copy_affine((value.ty(), from), to)
    }

    /// The memory of a thread: its own of each lane.
    fn stack_memory(&mut self, alloca: Value<'c>) -> VectorValue<'c> {
        if let Some(widened) = self.memory.get(&alloca) {
            return *widened;
        }
        let context = self.code.unit.context;
        let byte = Type::int(context, 8);
        // At the start of the function, where it is at hand everywhere.
        let slots = &self.code.slots;
        let (base, bytes) = match self.spills.arrays.memory.get(&alloca) {
            Some((offset, bytes)) => {
                let base = self.spills.threads_at(&self.code, slots, *offset, *bytes);
                (base, *bytes)
            }
            None => {
                let align = u64::from(alloca.alignment().max(1));
                let bytes =
                    (self.code.size)(alloca.allocated_type()).next_multiple_of(align).max(1);
                let all = byte.array(bytes * u64::from(self.code.vectors.lanes));
                let base = slots.alloca(all);
                base.set_alignment(alloca.alignment().max(1));
                (base, bytes)
            }
        };
        let widened = if self.code.vectors.lanes == 1 {
            VectorValue::uniform(base)
        } else if let Some(element) = self.plan.private.element(alloca) {
            VectorValue::strided(base, element as i64)
        } else {
            let strided = VectorValue::strided(base, bytes as i64);
            VectorValue::varying(self.code.vectors.all(slots, strided))
        };
        self.memory.insert(alloca, widened);
        widened
    }

    /// A value that another region has spilled.
    pub(in crate::cpu::vectorize) fn reload(
        &mut self,
        value: Value<'c>,
        keep: Spill,
    ) -> VectorValue<'c> {
        let ty = value.ty();
        match keep {
            Spill::Block(offset) => {
                let address = self.code.builder.offset(
                    self.code.unit.context,
                    self.spills.extra.block,
                    offset,
                );
                VectorValue::uniform(self.code.builder.load(ty, address))
            }
            Spill::FirstLane(offset) => {
                let address = self.spills.threads_at(
                    &self.code,
                    &self.code.builder,
                    offset,
                    (self.code.size)(ty),
                );
                let first = self.code.builder.load(ty, address);
                first.set_alignment(1);
                VectorValue::strided(first, self.stride(value).unwrap_or(0))
            }
            Spill::Lanes(offset) => {
                let all = self.spills.reload_leaves(&self.code, ty, &mut { offset });
                self.recover(value, all)
            }
        }
    }

    /// A strided value of which only the vector was spilled.
    fn recover(&self, value: Value<'c>, all: Value<'c>) -> VectorValue<'c> {
        let Some(step) = self.stride(value) else { return VectorValue::varying(all) };
        let word = Type::int(self.code.unit.context, 32);
        if !self.assumptions.unsure.contains(&value) {
            return VectorValue::strided(self.code.builder.lane(all, word.constant(0)), step);
        }
        let bit = Type::int(self.code.unit.context, 1);
        // Where the lanes are no row, those in the middle are the likeliest to be part of one.
        let middle = self.code.vectors.lanes / 2;
        let lane = self.code.builder.lane(all, word.constant(u64::from(middle)));
        let back = (-step * i64::from(middle)) as u64;
        let first = if lane.ty().is_pointer() {
            let (byte, wide) =
                (Type::int(self.code.unit.context, 8), Type::int(self.code.unit.context, 64));
            self.code.builder.elements(byte, lane, &[wide.constant(back)])
        } else {
            self.code.builder.add(lane, lane.ty().constant(back))
        };
        let (first, holds) = (Some(first), Some(bit.constant(0)));
        VectorValue { first, step, slope: None, holds, vector: Some(all) }
    }
}
