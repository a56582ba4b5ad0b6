//! Speculative uniformity: conditions on a thread's position in the grid that most vectors of threads
//! agree on, such as that an index is within a slice or not at an image's border.
//!
//! This is loop versioning at the level of vectors ([LLVM's
//! `LoopVersioning`](https://llvm.org/docs/Vectorizers.html#runtime-checks-of-pointers)). The unmasked
//! body is planned as if such comparisons were uniform. It checks that at run time and leaves a vector
//! whose threads differ to the masked body, which starts from the beginning. So this is done only before
//! any side effect. Needs: a [`Plan`]. Guarantees: every speculated comparison is reached by all threads
//! together, outside of loops.

use std::collections::HashSet;

use kernelmill_llvm::ir::{Opcode, Type, Value};

use super::{comparison::Comparison, plan::Plan};
use crate::cpu::{instructions::changes_memory, uniformity::Shape};

impl<'c> Plan<'c> {
    /// The plan for those vectors whose threads have the same result of conditions on their position, of
    /// which `place` has the index along the vectors' axis of the thread and of the block; `None` where there are no
    /// such conditions.
    pub(in crate::cpu::vectorize) fn speculated(
        &self,
        size: &dyn Fn(Type<'c>) -> u64,
        place: (Value<'c>, Value<'c>),
    ) -> Option<Self> {
        let mut speculated = self.speculable(place.1);
        let along = (self.axis, place.0);
        while !speculated.is_empty() {
            let plan =
                Self::where_uniform(self.function, self.lanes, size, along, speculated.clone())
                    .ok()?;
            let apart = plan.in_divergent_code();
            if apart.is_empty() {
                return Some(plan);
            }
            speculated.retain(|compare| !apart.contains(compare));
        }
        None
    }

    /// The comparisons that decide divergent branches and are worth asking whether the threads of a
    /// vector agree on them. `block` is the block's index along the vectors' axis.
    pub(in crate::cpu::vectorize) fn speculable(&self, block: Value<'c>) -> HashSet<Value<'c>> {
        let mut found = HashSet::new();
        for &branch in &self.shapes.divergent {
            let end = self.flow.blocks[branch].terminator();
            let Some(condition) = end.and_then(Value::branch_condition) else { continue };
            let mut leaves = Vec::new();
            if self.leaves(condition, &mut leaves)
                && leaves.iter().all(|leaf| self.is_speculable(*leaf, block))
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
    /// block's index with one that does not: few vectors of a launch differ then.
    fn is_speculable(&self, compare: Value<'c>, block: Value<'c>) -> bool {
        let node = self.flow.number(compare.block());
        let Some(found) = self.comparison(compare) else { return false };
        let before = self.flow.blocks[node].instructions().into_iter();
        self.can_restart[node]
            && !before.take_while(|it| *it != compare).any(changes_memory)
            && !self.is_in_loop(node)
            && depends_on(found.number, block)
            && !depends_on(found.limit, block)
    }

    pub(in crate::cpu::vectorize) fn is_in_loop(&self, node: usize) -> bool {
        self.loops.iter().any(|found| found.nodes.contains(&node))
    }

    /// An instruction as a comparison of a strided number with a uniform one.
    pub(in crate::cpu::vectorize) fn comparison(
        &self,
        compare: Value<'c>,
    ) -> Option<Comparison<'c>> {
        let shape = |value| self.shapes.shape(value);
        let found = Comparison::of(compare, |value| !shape(value).is_uniform())?;
        let is_wide = found.number.ty().int_width().is_some_and(|bits| bits >= 32);
        (is_wide && shape(found.number) != Shape::Varying).then_some(found)
    }

    /// Whether all comparisons that are taken to be uniform are made by all threads together.
    pub(in crate::cpu::vectorize) fn in_divergent_code(&self) -> HashSet<Value<'c>> {
        let apart = |compare: &Value<'c>| {
            !self.shapes.is_reached_together(self.flow.number(compare.block()))
        };
        self.speculated.iter().copied().filter(apart).collect()
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
