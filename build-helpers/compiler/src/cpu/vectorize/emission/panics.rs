//! Panics: where any thread of a vector comes to one, the first of them goes on alone, writes the
//! record, and the function says so. The launch is over then.

use std::collections::HashMap;

use kernelmill_llvm::{
    inkwell::context::Context,
    ir::{Block, Builder, ModuleExt, Opcode, Type, Value},
};

use super::{
    super::{
        analysis::plan::{Plan, sources},
        layout::region_function::PANICKED,
    },
    code::Mask,
    values::Values,
};
use crate::{
    ScalarReason,
    cpu::{
        instructions::{is_dropped, phis, resize},
        uniformity::dominates,
    },
};

/// What building panics needs.
pub(in crate::cpu::vectorize) struct Panics<'c> {
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
    pub(in crate::cpu::vectorize) fn new(
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

impl<'c> Panics<'c> {
    /// Goes to a panic with the first thread of the mask.
    pub(in crate::cpu::vectorize) fn panic_now(
        &mut self,
        values: &mut Values<'_, 'c>,
        from: usize,
        to: usize,
        mask: Mask<'c>,
    ) {
        let context = values.code.unit.context;
        let word = Type::int(context, 32);
        let lane = match mask {
            Some(mask) => {
                let bits = values.code.vectors.bits(&values.code.builder, mask);
                let count = values.code.unit.module.intrinsic("llvm.cttz", &[bits.ty()]);
                let no = Type::int(context, 1).constant(0);
                let lane = values.code.builder.call(count, &[bits, no]);
                let last = bits.ty().constant(u64::from(values.code.vectors.lanes) - 1);
                let lane = values.code.builder.and(lane, last);
                resize(&values.code.builder, lane, word)
            }
            None => word.constant(0),
        };
        values.code.builder.store(lane, self.lane);
        for value in self.used[&to].clone() {
            if value.is_instruction() {
                let defined = values.plan.flow.number(value.block());
                if !dominates(&values.plan.dominators, defined, from) {
                    continue;
                }
            }
            let widened = values.read(value, from);
            let one = values.code.vectors.one(&values.code.builder, widened, lane);
            let slot = self.panic_slot(values, value);
            values.code.builder.store(one, slot);
        }
        let came = values.plan.flow.blocks[from];
        for phi in phis(values.plan.flow.blocks[to].instructions()) {
            let index = (0..phi.operands().len() as u32)
                .find(|index| phi.incoming_block(*index) == Some(came));
            let Some(index) = index else { continue };
            let widened = values.read(phi.operand(index), from);
            let one = values.code.vectors.one(&values.code.builder, widened, lane);
            let slot = self.panic_slot(values, phi);
            values.code.builder.store(one, slot);
        }
        let block = self.panic_block(values, to);
        values.code.builder.branch(block);
    }

    pub(in crate::cpu::vectorize) fn panic_slot(
        &mut self,
        values: &mut Values<'_, 'c>,
        value: Value<'c>,
    ) -> Value<'c> {
        let ty = value.ty();
        let slots = &values.code.slots;
        *self.slots.entry(value).or_insert_with(|| slots.alloca(ty))
    }

    pub(in crate::cpu::vectorize) fn panic_block(
        &mut self,
        values: &mut Values<'_, 'c>,
        block: usize,
    ) -> Block<'c> {
        if let Some(built) = self.built.get(&block) {
            return *built;
        }
        let built = Block::append(values.code.unit.context, values.code.function, "panics");
        self.built.insert(block, built);
        self.wanted.push(block);
        built
    }

    /// Builds the panicking blocks that anything goes to, for one thread.
    pub(in crate::cpu::vectorize) fn build_panics(
        &mut self,
        values: &mut Values<'_, 'c>,
    ) -> Result<(), ScalarReason> {
        while let Some(block) = self.wanted.pop() {
            values.code.builder.at_end(self.built[&block]);
            let mut local = HashMap::new();
            for instruction in values.plan.flow.blocks[block].instructions() {
                self.panic_instruction(values, block, instruction, &mut local)?;
            }
        }
        Ok(())
    }

    pub(in crate::cpu::vectorize) fn panic_instruction(
        &mut self,
        values: &mut Values<'_, 'c>,
        block: usize,
        instruction: Value<'c>,
        local: &mut HashMap<Value<'c>, Value<'c>>,
    ) -> Result<(), ScalarReason> {
        match instruction.opcode() {
            Opcode::Phi => {
                let slot = self.panic_slot(values, instruction);
                local.insert(instruction, values.code.builder.load(instruction.ty(), slot));
                return Ok(());
            }
            Opcode::Ret => {
                let word = Type::int(values.code.unit.context, 32);
                values.code.builder.ret(Some(word.constant(PANICKED)));
                return Ok(());
            }
            // The marks on stack memory would now name parts of that of all lanes.
            Opcode::Call if is_dropped(instruction) => return Ok(()),
            Opcode::Alloca => return Err(ScalarReason::StackMemoryInPanic),
            _ => {}
        }
        let is_end = values.plan.flow.blocks[block].terminator() == Some(instruction);
        if is_end {
            for next in values.plan.flow.blocks[block].successors() {
                for phi in phis(next.instructions()) {
                    let index = (0..phi.operands().len() as u32).find(|index| {
                        phi.incoming_block(*index) == Some(values.plan.flow.blocks[block])
                    });
                    let Some(index) = index else { continue };
                    let value = self.panic_read(values, phi.operand(index), local);
                    let slot = self.panic_slot(values, phi);
                    values.code.builder.store(value, slot);
                }
            }
        }
        let operands: Vec<_> = instruction
            .operands()
            .into_iter()
            .map(|operand| (!operand.is_block()).then(|| self.panic_read(values, operand, local)))
            .collect();
        let copy = values.code.builder.copy(instruction);
        for (index, operand) in operands.into_iter().enumerate() {
            if let Some(operand) = operand {
                copy.set_operand(index as u32, operand);
            }
        }
        if is_end {
            let built = copy.block();
            for next in values.plan.flow.blocks[block].successors() {
                let target = self.panic_block(values, values.plan.flow.number(next));
                built.redirect(next, target);
            }
        } else if values.plan.escaping.contains(&instruction) {
            let slot = self.panic_slot(values, instruction);
            values.code.builder.store(copy, slot);
        }
        local.insert(instruction, copy);
        Ok(())
    }

    pub(in crate::cpu::vectorize) fn panic_read(
        &mut self,
        values: &mut Values<'_, 'c>,
        value: Value<'c>,
        local: &HashMap<Value<'c>, Value<'c>>,
    ) -> Value<'c> {
        if let Some(value) = local.get(&value) {
            return *value;
        }
        let known = value.is_instruction() || values.parameters.contains_key(&value);
        if !known {
            return value;
        }
        let slot = self.panic_slot(values, value);
        values.code.builder.load(value.ty(), slot)
    }
}
