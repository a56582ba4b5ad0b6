//! Panics: where any thread of a group comes to one, the first of them goes on alone, writes it
//! down, and the group's function says so; the launch is over then.

use std::collections::HashMap;

use kernelmill_llvm::{
    inkwell::context::Context,
    ir::{Block, Builder, ModuleExt, Opcode, Type, Value},
};

use super::{
    form::resize,
    group::{Group, Mask, PANICKED},
    plan::Plan,
    state::sources,
    support::is_dropped,
    values::phis,
};
use crate::{ScalarReason, cpu::uniformity::dominates};

/// What building panics needs.
pub(super) struct Panics<'c> {
    /// The lane that panics.
    lane: Value<'c>,
    /// The blocks built for the body's.
    built: HashMap<usize, Block<'c>>,
    /// The order in which they are to be built.
    wanted: Vec<usize>,
    /// One lane's value of what the body computed, and of phis and values of panicking blocks.
    slots: HashMap<Value<'c>, Value<'c>>,
    /// For each panicking block that is entered: the values from outside that it and those after
    /// it use.
    used: HashMap<usize, Vec<Value<'c>>>,
}

impl<'c> Panics<'c> {
    pub(super) fn new(
        plan: &Plan<'c>,
        region: usize,
        slots: &Builder<'c>,
        context: &'c Context,
    ) -> Self {
        let lane = slots.alloca(Type::int(context, 32));
        let mut used = HashMap::new();
        for block in (0..plan.flow.blocks.len()).filter(|&block| plan.flow.panics[block]) {
            let from = sources(plan, block);
            if from.iter().any(|&from| plan.regions[region].blocks[from]) {
                used.insert(block, used_after(plan, block));
            }
        }
        Self { lane, built: HashMap::new(), wanted: Vec::new(), slots: HashMap::new(), used }
    }
}

/// The values from outside that panicking blocks use, from one of them on.
fn used_after<'c>(plan: &Plan<'c>, block: usize) -> Vec<Value<'c>> {
    let (mut found, mut seen, mut work) =
        (Vec::new(), vec![false; plan.flow.blocks.len()], vec![block]);
    while let Some(block) = work.pop() {
        if std::mem::replace(&mut seen[block], true) {
            continue;
        }
        for instruction in plan.flow.blocks[block].instructions() {
            for (index, operand) in instruction.operands().into_iter().enumerate() {
                // What a phi takes from outside is given to it on the edge.
                let outside = match instruction.incoming_block(index as u32) {
                    Some(from) => !plan.flow.panics[plan.flow.number(from)],
                    None => false,
                };
                let own =
                    operand.is_instruction() && plan.flow.panics[plan.flow.number(operand.block())];
                let known =
                    operand.is_instruction() || plan.function.parameters().contains(&operand);
                if known && !own && !outside && !found.contains(&operand) {
                    found.push(operand);
                }
            }
        }
        work.extend(plan.flow.blocks[block].successors().iter().map(|b| plan.flow.number(*b)));
    }
    found
}

impl<'c> Group<'_, 'c> {
    /// Goes to a panic with the first thread of the mask.
    pub(super) fn panic_now(&mut self, from: usize, to: usize, mask: Mask<'c>) {
        let context = self.unit.context;
        let word = Type::int(context, 32);
        let lane = match mask {
            Some(mask) => {
                let bits = self.vectors.bits(&self.builder, mask);
                let count = self.unit.module.intrinsic("llvm.cttz", &[bits.ty()]);
                let no = Type::int(context, 1).constant(0);
                let lane = self.builder.call(count, &[bits, no]);
                let last = bits.ty().constant(u64::from(self.plan.lanes) - 1);
                let lane = self.builder.and(lane, last);
                resize(&self.builder, lane, word)
            }
            None => word.constant(0),
        };
        self.builder.store(lane, self.panics.lane);
        for value in self.panics.used[&to].clone() {
            if value.is_instruction() {
                let defined = self.plan.flow.number(value.block());
                if !dominates(&self.plan.dominators, defined, from) {
                    continue;
                }
            }
            let form = self.read(value, from);
            let one = self.vectors.one(&self.builder, form, lane);
            let slot = self.panic_slot(value);
            self.builder.store(one, slot);
        }
        let came = self.plan.flow.blocks[from];
        for phi in phis(self.plan.flow.blocks[to].instructions()) {
            let index = (0..phi.operands().len() as u32)
                .find(|index| phi.incoming_block(*index) == Some(came));
            let Some(index) = index else { continue };
            let form = self.read(phi.operand(index), from);
            let one = self.vectors.one(&self.builder, form, lane);
            let slot = self.panic_slot(phi);
            self.builder.store(one, slot);
        }
        let block = self.panic_block(to);
        self.builder.branch(block);
    }

    fn panic_slot(&mut self, value: Value<'c>) -> Value<'c> {
        let ty = value.ty();
        let slots = &self.slots;
        *self.panics.slots.entry(value).or_insert_with(|| slots.alloca(ty))
    }

    fn panic_block(&mut self, block: usize) -> Block<'c> {
        if let Some(built) = self.panics.built.get(&block) {
            return *built;
        }
        let built = Block::append(self.unit.context, self.function, "panics");
        self.panics.built.insert(block, built);
        self.panics.wanted.push(block);
        built
    }

    /// Builds the panicking blocks that anything goes to, for one thread.
    pub(super) fn build_panics(&mut self) -> Result<(), ScalarReason> {
        while let Some(block) = self.panics.wanted.pop() {
            self.builder.at_end(self.panics.built[&block]);
            let mut local = HashMap::new();
            for instruction in self.plan.flow.blocks[block].instructions() {
                self.panic_instruction(block, instruction, &mut local)?;
            }
        }
        Ok(())
    }

    fn panic_instruction(
        &mut self,
        block: usize,
        instruction: Value<'c>,
        local: &mut HashMap<Value<'c>, Value<'c>>,
    ) -> Result<(), ScalarReason> {
        match instruction.opcode() {
            Opcode::Phi => {
                let slot = self.panic_slot(instruction);
                local.insert(instruction, self.builder.load(instruction.ty(), slot));
                return Ok(());
            }
            Opcode::Ret => {
                let word = Type::int(self.unit.context, 32);
                self.builder.ret(Some(word.constant(PANICKED)));
                return Ok(());
            }
            // The marks on stack memory would now name parts of that of all lanes.
            Opcode::Call if is_dropped(instruction) => return Ok(()),
            Opcode::Alloca => return Err(ScalarReason::StackMemoryInPanic),
            _ => {}
        }
        let is_end = self.plan.flow.blocks[block].terminator() == Some(instruction);
        if is_end {
            for next in self.plan.flow.blocks[block].successors() {
                for phi in phis(next.instructions()) {
                    let index = (0..phi.operands().len() as u32).find(|index| {
                        phi.incoming_block(*index) == Some(self.plan.flow.blocks[block])
                    });
                    let Some(index) = index else { continue };
                    let value = self.panic_read(phi.operand(index), local);
                    let slot = self.panic_slot(phi);
                    self.builder.store(value, slot);
                }
            }
        }
        let operands: Vec<_> = instruction
            .operands()
            .into_iter()
            .map(|operand| (!operand.is_block()).then(|| self.panic_read(operand, local)))
            .collect();
        let copy = self.builder.copy(instruction);
        for (index, operand) in operands.into_iter().enumerate() {
            if let Some(operand) = operand {
                copy.set_operand(index as u32, operand);
            }
        }
        if is_end {
            let built = copy.block();
            for next in self.plan.flow.blocks[block].successors() {
                let target = self.panic_block(self.plan.flow.number(next));
                built.redirect(next, target);
            }
        } else if self.plan.escaping.contains(&instruction) {
            let slot = self.panic_slot(instruction);
            self.builder.store(copy, slot);
        }
        local.insert(instruction, copy);
        Ok(())
    }

    fn panic_read(&mut self, value: Value<'c>, local: &HashMap<Value<'c>, Value<'c>>) -> Value<'c> {
        if let Some(value) = local.get(&value) {
            return *value;
        }
        let known = value.is_instruction() || self.parameters.contains_key(&value);
        if !known {
            return value;
        }
        let slot = self.panic_slot(value);
        self.builder.load(value.ty(), slot)
    }
}
