//! The search for divergent branches that can be linearised.

use std::collections::HashSet;

use kernelmill_llvm::ir::{Block, IntPredicate, Opcode, Type, Value};

use super::phis::incoming;
use crate::{
    LinearizationRefusal,
    cpu::{
        instructions::{is_leaf, is_wide, phis, waits_for_memory},
        lowering::Proof,
        operation::{Operation, number, operations},
        uniformity::{Flow, Graph, dominates},
    },
    ir::reachable,
};

/// A divergent branch that can be linearised, by the numbers of blocks, which hold for copies of the function too.
#[derive(Clone, Debug)]
pub(in crate::cpu) enum Candidate {
    /// The ways of the branch join without coming to it again.
    Branch {
        block: usize,
        /// Which of its two ways comes first: it has collectives.
        way: usize,
        /// Whether the other has collectives too.
        both: bool,
        /// The blocks of the first way and of the other.
        ways: [Vec<usize>; 2],
        /// Where the ways join.
        join: usize,
    },
    /// Threads leave a loop at the branch.
    Cycle {
        block: usize,
        /// Which way leads out, and to which block.
        way: usize,
        join: usize,
        /// The blocks of the loop.
        blocks: Vec<usize>,
    },
}

impl Candidate {
    pub(in crate::cpu) fn block(&self) -> usize {
        match self {
            Self::Branch { block, .. } | Self::Cycle { block, .. } => *block,
        }
    }

    /// The edge that threads do not take which stay in the loop.
    pub(in crate::cpu) fn way_out(&self) -> (usize, usize) {
        match self {
            Self::Branch { block, join, .. } | Self::Cycle { block, join, .. } => (*block, *join),
        }
    }

    /// Whether threads leave the same loop at another branch too.
    pub(in crate::cpu) fn shares_loop(&self, other: &Self) -> bool {
        let has = |it: &Self, block: usize| matches!(it, Self::Cycle { blocks, .. } if blocks.contains(&block));
        has(self, other.block()) && has(other, self.block())
    }
}

/// What the search reads of a function.
pub(in crate::cpu) struct View<'c> {
    function: Value<'c>,
    /// Without the ways of threads that exit.
    flow: Flow<'c>,
    post_dominators: Vec<Option<usize>>,
    /// With them: all edges that can be taken.
    all: Flow<'c>,
    /// The blocks that can be reached by those, by the same.
    reached: Vec<bool>,
    /// What threads wait at, with the blocks.
    waits: Vec<(usize, Value<'c>, Operation)>,
}

impl<'c> View<'c> {
    /// `never` are the edges that are never taken, and `exits` those to the end of the kernel.
    pub(in crate::cpu) fn new(
        function: Value<'c>,
        panics: impl Fn(Block<'c>) -> bool + Copy,
        never: &[(usize, usize)],
        exits: &[(usize, usize)],
    ) -> Self {
        let left_out: Vec<_> = never.iter().chain(exits).copied().collect();
        let flow = Flow::without(function, panics, &left_out);
        let post_dominators = flow.graph.post_dominators(&flow.ends);
        let all = Flow::without(function, panics, never);
        let reached = all.graph.reachable(&[0], None);
        let waits = operations(function).into_iter().filter(|(_, what)| what.waits());
        let waits = waits.map(|(call, what)| (all.number(call.block()), call, what)).collect();
        Self { function, flow, post_dominators, all, reached, waits }
    }

    /// The blocks of the function.
    pub(super) fn blocks(&self) -> Vec<Block<'c>> {
        self.all.blocks.clone()
    }

    /// Whether control can go from a block to another at once.
    pub(super) fn can_go(&self, from: usize, to: usize) -> bool {
        self.reached[from] && self.all.graph.successors[from].contains(&to)
    }

    /// Those of `blocks` at which threads wait.
    fn waits(&self, blocks: &[bool]) -> impl Iterator<Item = &(usize, Value<'c>, Operation)> {
        self.waits.iter().filter(|(block, ..)| blocks[*block])
    }

    /// Why a branch cannot be linearised between whose block and join there are these blocks.
    fn refusal(&self, block: usize, between: &[bool]) -> Option<LinearizationRefusal> {
        if self.waits(between).any(|(.., what)| *what == Operation::Barrier) {
            return Some(LinearizationRefusal::BarrierUnderBranch);
        }
        if self.can_wait_for_memory(between) {
            return Some(LinearizationRefusal::WaitsForMemory);
        }
        let names_all = |(_, call, what): &&(usize, Value<'c>, Operation)| names_all(*call, *what);
        let condition = self.flow.blocks[block].terminator().and_then(Value::branch_condition);
        let splits = condition.is_some_and(|condition| splits_warps(condition, &mut { 32 }));
        (splits && self.waits(between).any(|it| names_all(&it)))
            .then_some(LinearizationRefusal::SplitsWarps)
    }

    /// Whether a loop among some blocks may wait for what other threads do.
    fn can_wait_for_memory(&self, blocks: &[bool]) -> bool {
        let graph = &self.all.graph;
        let edges = graph.successors.iter().enumerate().map(|(from, next)| {
            let inside = next.iter().copied().filter(|&next| blocks[from] && blocks[next]);
            inside.collect()
        });
        let within = Graph::new(edges.collect());
        let members = (0..self.all.blocks.len()).filter(|&block| blocks[block]);
        let mut repeated = members
            .filter(|&block| within.reachable(&within.successors[block], None)[block])
            .flat_map(|block| self.all.blocks[block].instructions());
        repeated.any(|it| waits_for_memory(it) || is_fence(it) || calls_what_waits(it))
    }
}

fn is_fence(instruction: Value<'_>) -> bool {
    instruction.opcode() == Opcode::Call
        && Operation::of_call(instruction) == Some(Operation::Fence)
}

/// Whether a call may lead to code that waits for what other threads do.
fn calls_what_waits(call: Value<'_>) -> bool {
    if !call.is_call() || Operation::of_call(call).is_some() {
        return false;
    }
    let Some(callee) = call.called_function() else { return true };
    let called = reachable(callee).into_iter().filter(|it| it.is_function());
    called
        .flat_map(Value::instructions)
        .any(|it| waits_for_memory(it) || (it.is_call() && it.called_function().is_none()))
}

/// Whether a warp collective names all lanes, whichever are there.
pub(super) fn names_all(call: Value<'_>, what: Operation) -> bool {
    matches!(what, Operation::Warp(which) if which != number::ACTIVE_MASK)
        && call.arguments()[0].as_u64() == Some(u64::from(u32::MAX))
}

/// Whether a condition is computed from the place of the thread in its warp, by few instructions, which are taken
/// off `left`: then it hardly is the same for all lanes.
fn splits_warps(value: Value<'_>, left: &mut u32) -> bool {
    if !value.is_instruction() || *left == 0 {
        return false;
    }
    *left -= 1;
    match value.opcode() {
        Opcode::Call => Operation::of_call(value) == Some(Operation::Lane),
        Opcode::And if value.operand(1).as_u64().is_some_and(|mask| mask < 32) => {
            is_index(value.operand(0)) || splits_warps(value.operand(0), left)
        }
        Opcode::ICmp if is_index(value.operand(0)) => {
            use IntPredicate::{Eq, Ne, Sge, Sgt, Sle, Slt, Uge, Ugt, Ule, Ult, Unknown};
            value.operand(1).as_u64().is_some_and(|bound| match value.int_predicate() {
                Eq | Ne => bound < 1024,
                Ult | Slt | Uge | Sge => bound < 1024 && bound % 32 != 0,
                Ugt | Sgt | Ule | Sle => bound < 1023 && bound % 32 != 31,
                Unknown(_) => false,
            })
        }
        Opcode::Phi | Opcode::Load => false,
        _ => value.operands().into_iter().any(|operand| splits_warps(operand, left)),
    }
}

/// Whether a value is the index of the thread along x, of whatever width.
fn is_index(value: Value<'_>) -> bool {
    value.is_instruction()
        && match value.opcode() {
            Opcode::ZExt | Opcode::SExt | Opcode::Trunc => is_index(value.operand(0)),
            Opcode::Call => Operation::of_call(value) == Some(Operation::ThreadIndex(0)),
            _ => false,
        }
}

/// The loops with warp collectives that threads leave in different iterations, by the branches where they do.
pub(in crate::cpu) fn cycles<'c>(
    view: &View<'c>,
    proof: &Proof<'c>,
    refusals: &mut Vec<LinearizationRefusal>,
) -> Vec<Candidate> {
    let found = divergent(view, proof).filter_map(|block| cycle_at(view, block));
    found.filter_map(|found| found.map_err(|why| note(refusals, why)).ok()).collect()
}

/// The first other branch with warp collectives that all threads reach together.
pub(in crate::cpu) fn branch<'c>(
    view: &View<'c>,
    proof: &Proof<'c>,
    refusals: &mut Vec<LinearizationRefusal>,
) -> Option<Candidate> {
    let is_reached = |block: &usize| proof.uniformity.is_reached_together(*block);
    divergent(view, proof).filter(is_reached).find_map(|block| {
        let found = branch_at(view, block)?;
        found.map_err(|why| note(refusals, why)).ok()
    })
}

fn note(refusals: &mut Vec<LinearizationRefusal>, why: LinearizationRefusal) {
    if !refusals.contains(&why) {
        refusals.push(why);
    }
}

/// The divergent branches that have two ways, in order.
fn divergent<'v, 'c>(view: &'v View<'c>, proof: &'v Proof<'c>) -> impl Iterator<Item = usize> + 'v {
    let order = view.flow.graph.reverse_post_order(view.flow.blocks.len()).into_iter();
    order.filter(|block| {
        let has_condition = |block: usize| {
            let end = view.flow.blocks[block].terminator();
            end.and_then(Value::branch_condition).is_some()
        };
        proof.uniformity.divergent.contains(block)
            && view.flow.graph.successors[*block].len() == 2
            && has_condition(*block)
    })
}

/// The loop that threads leave at a branch. `None` where there is no loop or it has no collectives.
fn cycle_at(view: &View<'_>, branch: usize) -> Option<Result<Candidate, LinearizationRefusal>> {
    const IRREGULAR: LinearizationRefusal = LinearizationRefusal::Irregular;
    let graph = &view.flow.graph;
    let between = graph.reachable(&graph.successors[branch], view.post_dominators[branch]);
    if !between[branch] {
        return None;
    }
    let blocks = graph.reaching_within(branch, &between);
    view.waits(&blocks).next()?;
    let next: Vec<_> = view.flow.blocks[branch].successors();
    let next: Vec<_> = next.into_iter().map(|next| view.flow.number(next)).collect();
    let [yes, no] = next[..] else { return None };
    let (way, join) = match (blocks[yes], blocks[no]) {
        (true, false) => (1, no),
        (false, true) => (0, yes),
        _ => return Some(Err(IRREGULAR)),
    };
    let members: Vec<_> = (0..view.flow.blocks.len()).filter(|&block| blocks[block]).collect();
    let leaves = |&from: &usize| graph.successors[from].iter().any(|&to| !blocks[to] && to != join);
    let entered = |&block: &usize| {
        block == 0
            || view.all.graph.predecessors[block]
                .iter()
                .any(|&from| !blocks[from] && from < view.all.blocks.len() && view.reached[from])
    };
    let is_irregular = members.iter().any(leaves)
        || members.iter().copied().filter(|it| entered(it)).count() != 1
        || !can_move_values(view, &blocks, join);
    if is_irregular {
        return Some(Err(IRREGULAR));
    }
    if let Some(why) = view.refusal(branch, &blocks) {
        return Some(Err(why));
    }
    Some(Ok(Candidate::Cycle { block: branch, way, join, blocks: members }))
}

/// Whether the values of a loop that are used outside can be kept for each thread when it leaves.
fn can_move_values(view: &View<'_>, inside: &[bool], join: usize) -> bool {
    let members = (0..view.all.blocks.len()).filter(|&block| inside[block]);
    let moved = phis(view.all.blocks[join].instructions())
        .filter(|phi| incoming(*phi).into_iter().any(|(_, from)| inside[view.all.number(from)]));
    if moved.map(Value::ty).any(|ty| !can_store(ty)) {
        return false;
    }
    members.flat_map(|block| view.all.blocks[block].instructions()).all(|value| {
        let outside = uses_outside(view, value, inside, join);
        outside.is_some_and(|uses| uses.is_empty() || can_store(value.ty()))
    })
}

/// The users of a value outside of the blocks `inside`, apart from phis of `join`, that come after `join`: each
/// with the number of its operand. `None` where another may be reached.
pub(super) fn uses_outside<'c>(
    view: &View<'c>,
    value: Value<'c>,
    inside: &[bool],
    join: usize,
) -> Option<Vec<(Value<'c>, u32)>> {
    let mut found = Vec::new();
    let users: HashSet<_> = value.users().into_iter().collect();
    let in_order = view.function.instructions().into_iter().filter(|it| users.contains(it));
    for user in in_order {
        for index in 0..user.operands().len() as u32 {
            if user.operand(index) != value {
                continue;
            }
            let at = view.all.number(user.block());
            let place = user.incoming_block(index).map_or(at, |from| view.all.number(from));
            if inside[place] {
                continue;
            }
            if view.all.panics[place] {
                if !panics_inside(view, place, inside) {
                    return None;
                }
                continue;
            }
            if !view.reached[place] {
                continue;
            }
            if !dominates(view.all.dominators(), join, place) {
                return None;
            }
            found.push((user, index));
        }
    }
    Some(found)
}

/// Whether control comes to a block that leads to a panic from the blocks `inside` alone.
fn panics_inside(view: &View<'_>, block: usize, inside: &[bool]) -> bool {
    let (mut seen, mut work) = (HashSet::from([block]), vec![block]);
    while let Some(block) = work.pop() {
        for (from, source) in view.all.blocks.iter().enumerate() {
            if !source.successors().iter().any(|next| view.all.number(*next) == block) {
                continue;
            }
            if view.all.panics[from] {
                if seen.insert(from) {
                    work.push(from);
                }
            } else if !inside[from] && view.reached[from] {
                return false;
            }
        }
    }
    true
}

/// Whether values of a type can be kept in memory of a thread.
fn can_store(ty: Type<'_>) -> bool {
    is_leaf(ty) && ty.int_width().is_none_or(|bits| [1, 8, 16, 32, 64].contains(&bits))
}

/// The ways of a branch to where they join. `None` where neither has collectives.
fn branch_at(view: &View<'_>, branch: usize) -> Option<Result<Candidate, LinearizationRefusal>> {
    const IRREGULAR: LinearizationRefusal = LinearizationRefusal::Irregular;
    let graph = &view.flow.graph;
    let join = view.post_dominators[branch];
    let between = graph.reachable(&graph.successors[branch], join);
    view.waits(&between).next()?;
    let Some(join) = join.filter(|_| !between[branch]) else { return Some(Err(IRREGULAR)) };
    let next: Vec<_> = view.flow.blocks[branch].successors();
    let next: Vec<_> = next.into_iter().map(|next| view.flow.number(next)).collect();
    let [yes, no] = next[..] else { return None };
    let ways = [yes, no].map(|start| graph.reachable(&[start], Some(join)));
    let has_collectives = ways.each_ref().map(|way| view.waits(way).next().is_some());
    let count = view.flow.blocks.len();
    let shares = (0..count).any(|block| ways[0][block] && ways[1][block]);
    let is_entered = |way: &Vec<bool>| {
        (0..count).filter(|&block| way[block]).any(|block| {
            block == 0
                || view.all.graph.predecessors[block]
                    .iter()
                    .any(|&from| from != branch && from < count && !way[from] && view.reached[from])
        })
    };
    let types = phis(view.flow.blocks[join].instructions()).map(Value::ty);
    let is_odd = types.into_iter().any(|ty| !is_wide(ty));
    if shares || ways.iter().any(is_entered) || is_odd {
        return Some(Err(IRREGULAR));
    }
    if let Some(why) = view.refusal(branch, &between) {
        return Some(Err(why));
    }
    let way = usize::from(!has_collectives[0]);
    let both = has_collectives[0] && has_collectives[1];
    let blocks = |way: &Vec<bool>| (0..count).filter(|&block| way[block]).collect();
    let ways = [blocks(&ways[way]), blocks(&ways[1 - way])];
    Some(Ok(Candidate::Branch { block: branch, way, both, ways, join }))
}
