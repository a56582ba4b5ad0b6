//! Induction variables and trip counts of loops.

use std::collections::HashMap;

use kernelmill_llvm::ir::{IntPredicate, Opcode, Type, Value};

use super::{
    cfg::Cfg,
    loops::{LoopId, Loops},
};

/// A phi that has `start + iteration * step` as its value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Induction<'c> {
    pub(crate) of: LoopId,
    pub(crate) start: Value<'c>,
    /// The step of an iteration, in elements of `element` for a pointer.
    pub(crate) step: Value<'c>,
    /// The next iteration's value.
    pub(crate) next: Value<'c>,
    /// The type that a pointer's step counts.
    pub(crate) element: Option<Type<'c>>,
}

/// The number of times that a loop is repeated before it is left, in terms of loop invariants.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TripCount<'c> {
    pub(crate) counter: Induction<'c>,
    pub(crate) bound: Value<'c>,
    /// Whether the comparison is with the next iteration's value.
    pub(crate) of_next: bool,
}

/// The induction variables of all loops.
#[derive(Debug)]
pub(crate) struct Inductions<'c> {
    by_phi: HashMap<Value<'c>, Induction<'c>>,
    trip_counts: HashMap<LoopId, TripCount<'c>>,
    bounds: HashMap<LoopId, u64>,
}

/// A comparison by which a loop is left.
struct ExitTest<'c> {
    count: TripCount<'c>,
    /// Whether it compares for equality.
    by_equality: bool,
}

impl<'c> Inductions<'c> {
    pub(crate) fn of(cfg: &Cfg<'c>, loops: &Loops) -> Self {
        let mut found =
            Self { by_phi: HashMap::new(), trip_counts: HashMap::new(), bounds: HashMap::new() };
        for number in 0..loops.all.len() {
            let id = LoopId(number);
            let header = cfg.blocks[loops.get(id).header];
            for phi in header.instructions() {
                if let Some(counter) = counter(cfg, loops, id, phi) {
                    found.by_phi.insert(phi, counter);
                }
            }
            found.exits(cfg, loops, id);
        }
        found
    }

    /// The induction variable of a phi.
    pub(crate) fn counter(&self, phi: Value<'c>) -> Option<&Induction<'c>> {
        self.by_phi.get(&phi)
    }

    /// The trip count of a loop with one exit, which is an exact comparison.
    pub(crate) fn trip_count(&self, id: LoopId) -> Option<&TripCount<'c>> {
        self.trip_counts.get(&id)
    }

    /// An upper bound of the times that a loop's header runs, where it is a constant.
    pub(crate) fn most_iterations(&self, id: LoopId) -> Option<u64> {
        self.bounds.get(&id).copied()
    }

    /// Examines every exit of a loop. Exits to a panic count too: they bound the trip count as well.
    fn exits(&mut self, cfg: &Cfg<'c>, loops: &Loops, id: LoopId) {
        let mut live = Vec::new();
        for &block in &loops.get(id).blocks {
            let inside = |next| cfg.number(next).is_some_and(|next| loops.contains(id, next));
            let leaves_alive = cfg.successors[block].iter().any(|&next| !loops.contains(id, next));
            let leaves = cfg.blocks[block].successors().into_iter().any(|next| !inside(next));
            if !leaves {
                continue;
            }
            let every_time = cfg.dominates(block, loops.get(id).latch);
            let count = self.exit_test(cfg, loops, id, block).filter(|_| every_time);
            if let Some(most) = count.as_ref().and_then(most) {
                let known = self.bounds.entry(id).or_insert(most);
                *known = most.min(*known);
            }
            if leaves_alive {
                live.push(count.filter(|test| test.by_equality).map(|test| test.count));
            }
        }
        if let [Some(count)] = live[..]
            && is_exact(&count.counter)
        {
            self.trip_counts.insert(id, count);
        }
    }

    /// The comparison by which a loop is left at the end of a block.
    fn exit_test(
        &self,
        cfg: &Cfg<'c>,
        loops: &Loops,
        id: LoopId,
        block: usize,
    ) -> Option<ExitTest<'c>> {
        let last = cfg.blocks[block].terminator()?;
        let condition = last.branch_condition()?;
        if !condition.is_instruction() || condition.opcode() != Opcode::ICmp {
            return None;
        }
        // The first successor of a branch is that for `true`.
        let goes_on = cfg.blocks[block].successors();
        let stays = cfg.number(*goes_on.first()?).is_some_and(|next| loops.contains(id, next));
        let by_equality = match (condition.int_predicate(), stays) {
            (IntPredicate::Eq, false) | (IntPredicate::Ne, true) => true,
            (IntPredicate::Ult | IntPredicate::Slt, true) => false,
            _ => return None,
        };
        let sides = [(0, 1), (1, 0)];
        sides.into_iter().take(if by_equality { 2 } else { 1 }).find_map(|(left, right)| {
            let (tested, bound) = (condition.operand(left), condition.operand(right));
            if !is_invariant(cfg, loops, id, bound) {
                return None;
            }
            let of_phi = self.by_phi.get(&tested).map(|counter| (*counter, false));
            let of_next = || {
                let mut all = self.by_phi.values();
                all.find(|counter| counter.next == tested).map(|counter| (*counter, true))
            };
            let (counter, of_next) = of_phi.or_else(of_next)?;
            let count = TripCount { counter, bound, of_next };
            (counter.of == id).then_some(ExitTest { count, by_equality })
        })
    }
}

/// Whether the number of steps is the distance divided by the step even if the counter wraps: true for
/// powers of two, and for addresses, which do not wrap.
fn is_exact(counter: &Induction<'_>) -> bool {
    counter.element.is_some()
        || signed(counter.step).is_some_and(|step| step.unsigned_abs().is_power_of_two())
}

/// The most iterations that an exit test of constants allows.
fn most(test: &ExitTest<'_>) -> Option<u64> {
    let count = &test.count;
    let (start, step) = (signed(count.counter.start)?, signed(count.counter.step)?);
    let bound = signed(count.bound)?;
    let width = count.bound.ty().int_width()?;
    let last = i128::from(bound) + i128::from(step);
    // One step beyond the bound must not wrap.
    if step == 0 || last.unsigned_abs() >= 1 << (width - 1) {
        return None;
    }
    let distance = bound.checked_sub(start)?;
    let reached = if test.by_equality {
        (distance % step == 0).then_some(distance / step)?
    } else {
        (step > 0 && start >= 0 && bound >= 0).then(|| (distance + step - 1) / step)?.max(0)
    };
    // The header runs once more than the loop is repeated, except where the test is of the next value.
    u64::try_from(reached + i64::from(!count.of_next)).ok().map(|most| most.max(1))
}

fn signed(value: Value<'_>) -> Option<i64> {
    let bits = value.as_u64()?;
    let width = value.ty().int_width()?;
    (width <= 64).then(|| (bits << (64 - width)).cast_signed() >> (64 - width))
}

/// Whether a value is loop-invariant.
pub(crate) fn is_invariant<'c>(cfg: &Cfg<'c>, loops: &Loops, id: LoopId, value: Value<'c>) -> bool {
    !value.is_instruction() || cfg.number_of(value).is_some_and(|block| !loops.contains(id, block))
}

fn counter<'c>(cfg: &Cfg<'c>, loops: &Loops, id: LoopId, phi: Value<'c>) -> Option<Induction<'c>> {
    if phi.opcode() != Opcode::Phi || phi.operands().len() != 2 {
        return None;
    }
    let latch = cfg.blocks[loops.get(id).latch];
    let from_latch = u32::from(phi.incoming_block(1) == Some(latch));
    let (start, next) = (phi.operand(1 - from_latch), phi.operand(from_latch));
    if !next.is_instruction() || phi.incoming_block(from_latch) != Some(latch) {
        return None;
    }
    let operands = next.operands();
    let (step, element) = match next.opcode() {
        Opcode::Add if operands[0] == phi => (operands[1], None),
        Opcode::Add if operands[1] == phi => (operands[0], None),
        Opcode::GetElementPtr if operands[0] == phi && operands.len() == 2 => {
            (operands[1], Some(next.element_type()))
        }
        _ => return None,
    };
    is_invariant(cfg, loops, id, step).then_some(Induction { of: id, start, step, next, element })
}
