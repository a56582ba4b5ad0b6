//! Assumptions of an unmasked body: that strides hold which only the launch can tell, such as those of 32-bit
//! indices that may wrap before they are extended.
//!
//! The body checks those that it can at its start ([`super::versioning`]), and leaves a vector for which one
//! does not hold to the masked body.

use std::collections::HashSet;

use kernelmill_llvm::ir::{Opcode, Value};

use super::{
    super::{
        analysis::{comparison::root, plan::Plan},
        layout::context_arrays::ContextArrays,
    },
    code::BodyKind,
};
use crate::cpu::{instructions::is_harmless, uniformity::is_choice};

/// The assumptions of a vector's function.
pub(in crate::cpu::vectorize) struct Assumptions<'a, 'c> {
    plan: &'a Plan<'c>,
    /// The instructions whose stride is taken to hold.
    may: HashSet<Value<'c>>,
    /// Those of them that the code relies on.
    made: HashSet<Value<'c>>,
    /// The values whose stride may not hold all the same.
    pub(in crate::cpu::vectorize) unsure: HashSet<Value<'c>>,
}

impl<'a, 'c> Assumptions<'a, 'c> {
    pub(in crate::cpu::vectorize) fn new(
        plan: &'a Plan<'c>,
        arrays: &ContextArrays<'c>,
        region: usize,
        kind: BodyKind<'c>,
    ) -> Self {
        let checked = &plan.shapes.checked;
        let may: HashSet<_> = match kind {
            BodyKind::Unmasked { masked: Some(_) } => {
                // At a border the threads choose differently, which is often where an image is narrow: that is looked at
                // in its place.
                let choices = checked.iter().filter(|value| is_choice(**value)).copied().collect();
                let chosen = plan.shapes.computed_from(&choices);
                let known = |value: &&Value<'c>| {
                    let mut operands = value.operands().into_iter();
                    !(is_choice(**value) || chosen.contains(*value))
                        && operands
                            .all(|it| is_known_at_start(plan, arrays, region, **value, it, DEPTH))
                };
                checked.iter().filter(known).copied().collect()
            }
            BodyKind::Unmasked { masked: None } | BodyKind::Masked => HashSet::new(),
        };
        let left = checked.difference(&may).copied().collect();
        let unsure = plan.shapes.computed_from(&left);
        Self { plan, may, made: HashSet::new(), unsure }
    }

    /// Whether it has to be looked at here if an instruction's stride holds.
    pub(in crate::cpu::vectorize) fn is_checked_here(&mut self, instruction: Value<'c>) -> bool {
        if self.may.contains(&instruction) {
            self.made.insert(instruction);
            return false;
        }
        self.plan.shapes.checked.contains(&instruction)
    }

    /// Whether an instruction's stride is taken to hold, as far as it is used.
    pub(in crate::cpu::vectorize) fn are_made_of(&self, instruction: Value<'c>) -> bool {
        self.may.contains(&instruction)
    }

    /// Assumes what a value was computed from that another region has spilled.
    pub(in crate::cpu::vectorize) fn assume_for(&mut self, value: Value<'c>) {
        let (mut seen, mut work) = (HashSet::new(), vec![value]);
        while let Some(value) = work.pop() {
            if value.is_instruction() && self.plan.shapes.is_unsure(value) && seen.insert(value) {
                self.is_checked_here(value);
                work.extend(value.operands());
            }
        }
    }

    /// An assumption that is not among those done: the first of the code, so that the same source
    /// always makes the same binary. Making sure of one can take others.
    pub(in crate::cpu::vectorize) fn next_assumption(
        &self,
        done: &HashSet<Value<'c>>,
    ) -> Option<Value<'c>> {
        let made = &self.made;
        if made.len() == done.len() {
            return None;
        }
        let mut code = self.plan.function.instructions().into_iter();
        code.find(|instruction| made.contains(instruction) && !done.contains(instruction))
    }

    /// An assumption, and those of numbers that are its own but for constants: extensions, of which one
    /// test is enough. With them how much larger the numbers are, from the least to the most.
    pub(in crate::cpu::vectorize) fn alike(
        &self,
        instruction: Value<'c>,
        done: &HashSet<Value<'c>>,
    ) -> (Vec<Value<'c>>, (i64, i64)) {
        let (mut found, mut offsets) = (vec![instruction], (0, 0));
        if !matches!(instruction.opcode(), Opcode::ZExt | Opcode::SExt) {
            return (found, offsets);
        }
        let (base, own) = root(instruction.operand(0));
        for &other in self.made.difference(done) {
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
}

/// How deep expressions are looked into.
const DEPTH: u32 = 8;

/// Whether `value` can be computed at the start of a region, as it will be where the region comes to
/// `user`: from parameters, and from what is spilled that the region does not compute before.
fn is_known_at_start<'c>(
    plan: &Plan<'c>,
    arrays: &ContextArrays<'c>,
    region: usize,
    user: Value<'c>,
    value: Value<'c>,
    depth: u32,
) -> bool {
    if !value.is_instruction() {
        return value.is_constant() || plan.function.parameters().contains(&value);
    }
    if arrays.values.contains_key(&value) {
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
            .all(|operand| is_known_at_start(plan, arrays, region, user, operand, depth - 1))
}
