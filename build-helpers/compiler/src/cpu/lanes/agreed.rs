//! Conditions on a thread's place along x in the launch, such as that it is within a slice or not at an
//! image's border. In most groups all threads agree on them. The function for full groups asks for that
//! with a comparison or two of the first thread's numbers, and is without masks then; a group
//! whose threads differ it leaves to the function for any group, which starts from the beginning. So
//! this is done only where nothing has happened yet that others can see.

use std::collections::HashSet;

use kernelmill_llvm::ir::{Block, IntPredicate, Opcode, Type, Value};

use super::{
    form::Form,
    group::{Group, Kind, Mask},
    plan::Plan,
    range::Comparison,
    support::is_dropped,
};
use crate::{
    ScalarReason,
    cpu::uniformity::{Flow, Shape, is_pure_intrinsic},
};

/// For each block, whether the group can still be left to another function at its start: no block before
/// it changes memory that is not the thread's own.
pub(super) fn starts_over(flow: &Flow<'_>) -> Vec<bool> {
    let changes = |node: &usize| flow.blocks[*node].instructions().into_iter().any(changes_memory);
    let after: Vec<_> = (0..flow.blocks.len())
        .filter(changes)
        .flat_map(|node| flow.graph.successors[node].clone())
        .collect();
    flow.graph.reachable(&after, None).into_iter().map(|after| !after).collect()
}

/// Whether an instruction does what others can see, or may see what others do.
pub(super) fn changes_memory(instruction: Value<'_>) -> bool {
    match instruction.opcode() {
        Opcode::Store => {
            let mut pointer = instruction.operand(1);
            while pointer.is_instruction() && pointer.opcode() == Opcode::GetElementPtr {
                pointer = pointer.operand(0);
            }
            let is_own = pointer.is_instruction() && pointer.opcode() == Opcode::Alloca;
            !is_own || instruction.is_exact_access()
        }
        Opcode::Load => instruction.is_exact_access(),
        Opcode::AtomicRmw | Opcode::AtomicCmpXchg | Opcode::Fence => true,
        Opcode::Call => is_pure_intrinsic(instruction).is_none() && !is_dropped(instruction),
        _ => false,
    }
}

impl<'c> Plan<'c> {
    /// The comparisons that decide divergent branches and are worth asking whether the threads of a
    /// group agree on them. `block_x` is the block's index.
    pub(super) fn agreeable(&self, block_x: Value<'c>) -> HashSet<Value<'c>> {
        let mut found = HashSet::new();
        for &branch in &self.shapes.divergent {
            let end = self.flow.blocks[branch].terminator();
            let Some(condition) = end.and_then(Value::branch_condition) else { continue };
            let mut leaves = Vec::new();
            if self.leaves(condition, &mut leaves)
                && leaves.iter().all(|leaf| self.is_agreeable(*leaf, block_x))
            {
                found.extend(leaves);
            }
        }
        found
    }

    /// Finds the comparisons that a condition is made of, but for uniform parts; `false` where there is
    /// anything else.
    fn leaves(&self, condition: Value<'c>, leaves: &mut Vec<Value<'c>>) -> bool {
        if self.shapes.shape(condition).is_uniform() {
            return true;
        }
        match condition.opcode() {
            Opcode::ICmp => {
                leaves.push(condition);
                true
            }
            Opcode::Select | Opcode::And | Opcode::Or | Opcode::Xor | Opcode::Freeze => {
                condition.operands().into_iter().all(|operand| self.leaves(operand, leaves))
            }
            _ => false,
        }
    }

    /// Whether a comparison is made before anything is changed, once, of a number that depends on the
    /// block's index with one that does not: few groups of a launch differ then.
    fn is_agreeable(&self, compare: Value<'c>, block_x: Value<'c>) -> bool {
        let node = self.flow.number(compare.block());
        let Some(found) = self.comparison(compare) else { return false };
        let before = self.flow.blocks[node].instructions().into_iter();
        self.starts_over[node]
            && !before.take_while(|it| *it != compare).any(changes_memory)
            && !self.is_in_loop(node)
            && depends_on(found.number, block_x)
            && !depends_on(found.limit, block_x)
    }

    fn is_in_loop(&self, node: usize) -> bool {
        self.loops.iter().any(|found| found.nodes.contains(&node))
    }

    /// An instruction as a comparison of a strided number with a uniform one.
    pub(super) fn comparison(&self, compare: Value<'c>) -> Option<Comparison<'c>> {
        let shape = |value| self.shapes.shape(value);
        let found = Comparison::of(compare, |value| !shape(value).is_uniform())?;
        let is_wide = found.number.ty().int_width().is_some_and(|bits| bits >= 32);
        (is_wide && shape(found.number) != Shape::Varying).then_some(found)
    }

    /// Whether all comparisons that are taken to be agreed on are made by all threads together.
    pub(super) fn not_together(&self) -> HashSet<Value<'c>> {
        let apart = |compare: &Value<'c>| {
            !self.shapes.is_reached_together(self.flow.number(compare.block()))
        };
        self.agreed.iter().copied().filter(apart).collect()
    }
}

fn depends_on<'c>(value: Value<'c>, other: Value<'c>) -> bool {
    let (mut seen, mut work) = (HashSet::new(), vec![value]);
    while let Some(value) = work.pop() {
        if value == other {
            return true;
        }
        if value.is_instruction() && seen.insert(value) {
            work.extend(value.operands());
        }
    }
    false
}

impl<'c> Group<'_, 'c> {
    /// Where to go from where a block is built to leave the group to the function for any, if that can be.
    pub(super) fn start_over(&mut self, block: usize, mask: Mask<'c>) -> Option<Block<'c>> {
        let has_other = matches!(self.kind, Kind::Full { any: Some(_) });
        if !has_other || mask.is_some() || self.changed || !self.plan.starts_over[block] {
            return None;
        }
        let (context, function) = (self.unit.context, self.function);
        Some(*self.other.get_or_insert_with(|| Block::append(context, function, "other")))
    }

    /// What an instruction has computed; where that is an extension that may have wrapped within the
    /// group, which its start does not ask for, it is known from here on that it has not.
    pub(super) fn sure(
        &mut self,
        block: usize,
        instruction: Value<'c>,
        form: Form<'c>,
        mask: Mask<'c>,
    ) -> Form<'c> {
        let is_extension = matches!(instruction.opcode(), Opcode::ZExt | Opcode::SExt);
        let Some(holds) = form.holds.filter(|_| is_extension && !self.plan.is_in_loop(block))
        else {
            return form;
        };
        let Some(other) = self.start_over(block, mask) else { return form };
        let go = self.edge_block();
        let holds = self.builder.freeze(holds);
        self.builder.branch_if(holds, go, other);
        self.builder.at_end(go);
        Form { holds: None, vector: None, ..form }
    }

    /// A comparison that the threads agree on, or else the group is left to the other function.
    pub(super) fn agree(
        &mut self,
        block: usize,
        compare: Value<'c>,
        mask: Mask<'c>,
    ) -> Result<Form<'c>, ScalarReason> {
        const APART: ScalarReason = ScalarReason::SpeculationInDivergentCode;
        let found = self.plan.comparison(compare).ok_or(APART)?;
        let other = self.start_over(block, mask).ok_or(APART)?;
        let (number, limit) = (self.read(found.number, block), self.read(found.limit, block));
        let span = self.span(number, (0, 0)).ok_or(APART)?;
        // So that a number which nothing depends on can be anything.
        let ask = |group: &Self, of: Comparison<'c>| {
            let all = group.all_compare(span, of.predicate, limit.once());
            group.builder.freeze(all)
        };
        let is_usual = is_usual(found);
        let usual = if is_usual { found } else { found.inverse() };
        let (look, go) = (self.edge_block(), self.edge_block());
        let all = ask(self, usual);
        self.builder.branch_if(all, go, look);
        let from = self.builder.block();
        self.builder.at_end(look);
        let none = ask(self, usual.inverse());
        self.builder.branch_if(none, go, other);
        self.builder.at_end(go);
        let bit = Type::int(self.unit.context, 1);
        let result = self.builder.phi(bit);
        result.add_incoming(bit.constant(u64::from(is_usual)), from);
        result.add_incoming(bit.constant(u64::from(!is_usual)), look);
        Ok(Form::uniform(result))
    }
}

/// Whether most threads are expected to have a condition: to be below what is not known, above
/// constants, and not at one place.
fn is_usual(of: Comparison<'_>) -> bool {
    use IntPredicate::*;
    match of.predicate {
        Ne => true,
        Eq | Unknown(_) => false,
        Ult | Ule | Slt | Sle => !of.limit.is_constant(),
        Ugt | Uge | Sgt | Sge => of.limit.is_constant(),
    }
}
