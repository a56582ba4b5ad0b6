//! Loops that are known to end: a number that grows by a constant in each iteration is compared with one that stays.

use kernelmill_llvm::ir::{IntPredicate, Opcode, Value};

use crate::cpu::{
    instructions::{inverse, swapped},
    uniformity::{Flow, Loop, dominates},
};

/// Whether control leaves a loop at last, and all loops in it.
pub(super) fn ends(flow: &Flow<'_>, found: &Loop) -> bool {
    let within = |inner: &&Loop| contains(found, inner.header);
    let counted: Vec<_> =
        flow.loops.iter().filter(within).filter(|it| is_counted(flow, it)).collect();
    let returns = |from: usize, to: usize| {
        counted.iter().any(|inner| inner.header == to && contains(inner, from))
    };
    // What is left without the ways back through them must have no cycle.
    let mut left = found.nodes.clone();
    loop {
        let goes_on = |&from: &usize| {
            flow.graph.successors[from].iter().any(|&to| left.contains(&to) && !returns(from, to))
        };
        let remaining: Vec<_> = left.iter().copied().filter(goes_on).collect();
        if remaining.len() == left.len() {
            return remaining.is_empty() && counted.iter().any(|it| it.header == found.header);
        }
        left = remaining;
    }
}

fn contains(found: &Loop, node: usize) -> bool {
    found.nodes.binary_search(&node).is_ok()
}

/// Whether each iteration comes to a comparison that fails at last.
fn is_counted(flow: &Flow<'_>, found: &Loop) -> bool {
    let latches: Vec<_> = flow.graph.predecessors[found.header]
        .iter()
        .copied()
        .filter(|&from| contains(found, from))
        .collect();
    found.nodes.iter().any(|&node| {
        latches.iter().all(|&latch| dominates(flow.dominators(), node, latch))
            && leaves_at_last(flow, found, node)
    })
}

/// Whether control, if it comes to the end of a block in each iteration, leaves the loop there at last.
fn leaves_at_last(flow: &Flow<'_>, found: &Loop, node: usize) -> bool {
    let block = flow.blocks[node];
    let condition = block.terminator().and_then(Value::branch_condition);
    let compare = condition.filter(|it| it.is_instruction() && it.opcode() == Opcode::ICmp);
    let stays: Vec<_> =
        block.successors().iter().map(|next| contains(found, flow.number(*next))).collect();
    let Some(compare) = compare else { return false };
    let yes = match stays[..] {
        [yes, no] if yes != no => yes,
        _ => return false,
    };
    let goes_on = if yes { compare.int_predicate() } else { inverse(compare.int_predicate()) };
    let [left, right] = [0, 1].map(|it| compare.operand(it));
    let stays_so =
        |value: Value<'_>| !value.is_instruction() || !contains(found, flow.number(value.block()));
    [(left, right, goes_on), (right, left, swapped(goes_on))].into_iter().any(
        |(number, bound, goes_on)| {
            stays_so(bound) && step(flow, found, number).is_some_and(|it| it.fails(goes_on))
        },
    )
}

/// By how much a number grows in each iteration.
struct Step {
    by: u64,
    /// Whether it never wraps, either as a signed or as an unsigned number: what it would be is poison, and a branch on that
    /// ends the program's meaning.
    never_wraps: bool,
}

impl Step {
    /// Whether the comparison of the number with one that stays does not hold for ever.
    fn fails(&self, goes_on: IntPredicate) -> bool {
        use IntPredicate::{Eq, Ne, Sgt, Slt, Ugt, Ult};
        // An odd step comes to every number, and for each of these there is one for which they do not hold.
        let is_all = self.by % 2 == 1 && matches!(goes_on, Eq | Ne | Ult | Ugt | Slt | Sgt);
        self.never_wraps || is_all
    }
}

/// The step of a number that a loop counts by, before or after it is added in an iteration.
fn step(flow: &Flow<'_>, found: &Loop, number: Value<'_>) -> Option<Step> {
    let is = |value: Value<'_>, opcode| value.is_instruction() && value.opcode() == opcode;
    let phi = if is(number, Opcode::Add) { number.operand(0) } else { number };
    if !is(phi, Opcode::Phi) || flow.number(phi.block()) != found.header {
        return None;
    }
    let came = (0..phi.operands().len() as u32).filter(|&index| {
        phi.incoming_block(index).is_some_and(|from| contains(found, flow.number(from)))
    });
    let mut next = came.map(|index| phi.operand(index));
    let sum = next.next()?;
    let is_step = is(sum, Opcode::Add) && sum.operand(0) == phi && next.all(|it| it == sum);
    if !is_step || (number != phi && number != sum) {
        return None;
    }
    let by = sum.operand(1).as_u64().filter(|by| *by != 0)?;
    let never_wraps = sum.has_no_signed_wrap() || sum.has_no_unsigned_wrap();
    Some(Step { by, never_wraps })
}
