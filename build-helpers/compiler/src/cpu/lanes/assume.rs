//! What the function for full groups assumes: that the strides hold which could only be checked when
//! they are computed. It makes sure at its start, of those that it can, and else hands the group over
//! to the function for any group.

use std::collections::HashSet;

use kernelmill_llvm::ir::{Block, IntPredicate, ModuleExt, Opcode, Type, Value};

use super::{
    check::root,
    form::Form,
    group::{Group, Kind},
    plan::Plan,
    state::{State, is_harmless},
};
use crate::cpu::uniformity::wanted_bits;

/// The assumptions of a group's function.
pub(super) struct Assumptions<'c> {
    /// The instructions whose stride is taken to hold.
    may: HashSet<Value<'c>>,
    /// Those of them that the code relies on.
    made: HashSet<Value<'c>>,
    /// The values whose stride may not hold all the same.
    pub(super) unsure: HashSet<Value<'c>>,
}

impl<'c> Assumptions<'c> {
    pub(super) fn new(plan: &Plan<'c>, state: &State<'c>, region: usize, kind: Kind<'c>) -> Self {
        let checked = &plan.shapes.checked;
        let may: HashSet<_> = match kind {
            Kind::Full { any: Some(_) } => {
                let known = |value: &&Value<'c>| {
                    let mut operands = value.operands().into_iter();
                    operands.all(|it| is_known_at_start(plan, state, region, **value, it, DEPTH))
                };
                checked.iter().filter(known).copied().collect()
            }
            Kind::Full { any: None } | Kind::Any => HashSet::new(),
        };
        let left = checked.difference(&may).copied().collect();
        let unsure = plan.shapes.computed_from(&left);
        Self { may, made: HashSet::new(), unsure }
    }
}

/// How deep expressions are looked into.
const DEPTH: u32 = 8;

/// Whether `value` can be computed at the start of a region, as it will be where the region comes to
/// `user`: from parameters, and from what is kept that the region does not compute before.
fn is_known_at_start<'c>(
    plan: &Plan<'c>,
    state: &State<'c>,
    region: usize,
    user: Value<'c>,
    value: Value<'c>,
    depth: u32,
) -> bool {
    if !value.is_instruction() {
        return value.is_constant() || plan.function.parameters().contains(&value);
    }
    if state.values.contains_key(&value) {
        let (defined, used) = (plan.flow.number(value.block()), plan.flow.number(user.block()));
        let computes = plan.regions[region].blocks[defined]
            && plan.flow.graph.reachable(&[defined], None)[used];
        return !computes;
    }
    depth > 0
        && is_harmless(value)
        && value
            .operands()
            .into_iter()
            .all(|operand| is_known_at_start(plan, state, region, user, operand, depth - 1))
}

impl<'c> Group<'_, 'c> {
    /// Whether it has to be looked at here if an instruction's stride holds.
    pub(super) fn is_checked_here(&mut self, instruction: Value<'c>) -> bool {
        if self.assumptions.may.contains(&instruction) {
            self.assumptions.made.insert(instruction);
            return false;
        }
        self.plan.shapes.checked.contains(&instruction)
    }

    /// Assumes what a value was computed from that another region has kept.
    pub(super) fn assume_for(&mut self, value: Value<'c>) {
        let (mut seen, mut work) = (HashSet::new(), vec![value]);
        while let Some(value) = work.pop() {
            if value.is_instruction() && self.plan.shapes.is_unsure(value) && seen.insert(value) {
                self.is_checked_here(value);
                work.extend(value.operands());
            }
        }
    }

    /// Goes from the function's first block on to `start` where all assumptions hold, and else, as from
    /// wherever the group is left to it, calls `any`, the function for any group.
    pub(super) fn make_sure(&mut self, entry: Block<'c>, start: Block<'c>, any: Value<'c>) {
        let (mut done, mut all) = (HashSet::new(), None);
        while let Some(instruction) = self.next_assumption(&done) {
            let alike = self.alike(instruction, &done);
            let holds = self.hold_at_start(instruction, alike.1);
            done.extend(alike.0);
            all = Some(match all {
                Some(others) => self.slots.and(others, holds),
                None => holds,
            });
        }
        if all.is_none() && self.other.is_none() {
            return;
        }
        let memory = [(); 2].map(|()| self.kept_memory());
        let (context, function) = (self.unit.context, self.function);
        let other = *self.other.get_or_insert_with(|| Block::append(context, function, "other"));
        if let Some(all) = all {
            if let Some(end) = entry.terminator() {
                end.erase();
            }
            self.builder.at_end(entry);
            self.builder.branch_if(all, start, other);
        }
        self.builder.at_end(other);
        self.hand_over(any, memory);
    }

    /// An assumption that is not among those done: the first of the code, so that the same source
    /// always makes the same binary. Making sure of one can take others.
    fn next_assumption(&self, done: &HashSet<Value<'c>>) -> Option<Value<'c>> {
        let made = &self.assumptions.made;
        if made.len() == done.len() {
            return None;
        }
        let mut code = self.plan.function.instructions().into_iter();
        code.find(|instruction| made.contains(instruction) && !done.contains(instruction))
    }

    /// An assumption, and those of numbers that are its own but for constants: extensions, of which one
    /// test is enough. With them how much larger the numbers are, from the least to the most.
    fn alike(
        &self,
        instruction: Value<'c>,
        done: &HashSet<Value<'c>>,
    ) -> (Vec<Value<'c>>, (i64, i64)) {
        let (mut found, mut offsets) = (vec![instruction], (0, 0));
        if !matches!(instruction.opcode(), Opcode::ZExt | Opcode::SExt) {
            return (found, offsets);
        }
        let (base, own) = root(instruction.operand(0));
        for &other in self.assumptions.made.difference(done) {
            if other.opcode() != instruction.opcode() || other == instruction {
                continue;
            }
            let (other_base, offset) = root(other.operand(0));
            if other_base == base {
                let offset = offset.wrapping_sub(own);
                offsets = (offsets.0.min(offset), offsets.1.max(offset));
                found.push(other);
            }
        }
        (found, offsets)
    }

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
        std::mem::swap(&mut self.builder, &mut self.slots);
        let holds = match instruction.opcode() {
            Opcode::And | Opcode::Xor => self.stride_holds(instruction, step, block),
            opcode => self.do_not_wrap(opcode, instruction.operand(0), (step, offsets), block),
        };
        std::mem::swap(&mut self.builder, &mut self.slots);
        holds
    }

    /// Calls the function for any group with a thread in every lane.
    fn hand_over(&self, any: Value<'c>, memory: [Option<Value<'c>>; 2]) {
        let mut values = self.function.parameters();
        let own = [self.extra.block, self.extra.next];
        for (memory, own) in memory.iter().zip(own) {
            let Some(memory) = memory else { continue };
            self.copy_kept(own, *memory);
            for value in values.iter_mut().filter(|value| **value == own) {
                *value = *memory;
            }
        }
        values.push(self.vectors.every());
        let next = self.builder.call(any, &values);
        if let [_, Some(memory)] = memory {
            self.copy_kept(memory, self.extra.next);
        }
        self.builder.ret(Some(next));
    }

    /// Memory for what is kept for the block: that of the block itself is handed out to no function
    /// that is called, so that it becomes registers.
    fn kept_memory(&self) -> Option<Value<'c>> {
        let bytes = self.state.bytes_of_block;
        (bytes > 0).then(|| {
            let memory = self.slots.alloca(Type::int(self.unit.context, 8).array(bytes));
            memory.set_alignment(16);
            memory
        })
    }

    fn copy_kept(&self, from: Value<'c>, to: Value<'c>) {
        let context = self.unit.context;
        let (pointer, wide) = (Type::pointer(context, 0), Type::int(context, 64));
        let copy = self.unit.module.intrinsic("llvm.memcpy", &[pointer, pointer, wide]);
        let no = Type::int(context, 1).constant(0);
        let bytes = wide.constant(self.state.bytes_of_block);
        self.builder.call(copy, &[to, from, bytes, no]);
    }

    /// The bit that says whether a strided instruction grows by its step over the whole group.
    pub(super) fn stride_holds(
        &mut self,
        instruction: Value<'c>,
        step: i64,
        block: usize,
    ) -> Value<'c> {
        match instruction.opcode() {
            Opcode::And | Opcode::Xor => self.keeps_bits(instruction, step, block),
            opcode => self.do_not_wrap(opcode, instruction.operand(0), (step, (0, 0)), block),
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
        if let Some(most) = mask.as_u64() {
            let way = step.unsigned_abs() * u64::from(self.plan.lanes - 1);
            let first = self.first(other, block);
            let first = self.builder.and(first, ty.constant(most));
            let limit = ty.constant(most - way);
            return self.builder.compare(IntPredicate::Ule, first, limit);
        }
        let (bits, wanted) = wanted_bits(instruction.opcode(), step, self.plan.lanes);
        let mask = self.first(mask, block);
        let found = self.builder.and(mask, ty.constant(bits));
        self.builder.compare(IntPredicate::Eq, found, ty.constant(wanted))
    }

    /// Whether a strided number grows over the group without wrapping, as extensions see it, with each
    /// of the offsets.
    fn do_not_wrap(
        &mut self,
        opcode: Opcode,
        from: Value<'c>,
        (step, offsets): (i64, (i64, i64)),
        block: usize,
    ) -> Value<'c> {
        use IntPredicate::{Sle, Ule};
        let number = Form { step, holds: None, ..self.read(from, block) };
        let no = Type::int(self.unit.context, 1).constant(0);
        let Some((lowest, way)) = self.extent(number, offsets) else { return no };
        let ty = lowest.ty();
        let Some(bits) = ty.int_width().filter(|bits| way >> (bits - 1).min(63) == 0) else {
            return no;
        };
        let (predicate, most) = match opcode {
            Opcode::ZExt => (Ule, u64::MAX),
            _ => (Sle, (1 << (bits - 1)) - 1),
        };
        self.builder.compare(predicate, lowest, ty.constant(most.wrapping_sub(way)))
    }

    /// A value at the start of the function: what is kept, or computed anew.
    pub(super) fn at_start(&mut self, value: Value<'c>) -> Form<'c> {
        if let Some(form) = self.parameters.get(&value).or_else(|| self.anew.get(&value)) {
            return *form;
        }
        if !value.is_instruction() {
            return Form::uniform(value);
        }
        let form = if let Some(keep) = self.state.values.get(&value).copied() {
            self.assume_for(value);
            std::mem::swap(&mut self.builder, &mut self.slots);
            let form = self.fetch(value, keep);
            std::mem::swap(&mut self.builder, &mut self.slots);
            form
        } else {
            self.compute_at_start(value)
        };
        self.anew.insert(value, form);
        form
    }

    fn compute_at_start(&mut self, value: Value<'c>) -> Form<'c> {
        let operands: Vec<_> =
            value.operands().into_iter().map(|operand| (operand, self.at_start(operand))).collect();
        let cached = std::mem::replace(&mut self.cached, operands.into_iter().collect());
        std::mem::swap(&mut self.builder, &mut self.slots);
        let block = self.plan.flow.number(value.block());
        let form = self.compute(block, value, None);
        std::mem::swap(&mut self.builder, &mut self.slots);
        self.cached = cached;
        form.expect("it is an operation on numbers, which vectors have")
    }
}
