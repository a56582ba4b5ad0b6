//! The search for loops that can be interchanged with the loop over threads.

use std::collections::HashSet;

use kernelmill_llvm::ir::{Block, Opcode, Place, Type, Value};

use super::{
    affine::Affine,
    candidate::{Candidate, Condition, Induction, Row, incoming},
};
use crate::cpu::{
    context::is_barrier,
    instructions::{is_dropped, phis, writes_panic},
    lowering::block_source,
    uniformity::{Asked, Flow, Loop, Shape, Uniformity, dominates, is_pure_intrinsic},
};

/// The instructions of a loop at most: its code is there up to three times then.
const INSTRUCTIONS: usize = 200;
/// What is carried from iteration to iteration for each thread, at most.
const CARRIED: usize = 4;
/// Iterations are far apart from this many bytes on.
const FAR: u64 = 1024;

/// A grid-stride loop that control can leave after its first iteration.
pub(super) struct SingleIteration<'a, 'c> {
    pub(super) latch: Block<'c>,
    /// The condition on which a thread takes another iteration.
    pub(super) again: Condition<'c>,
    pub(super) inductions: Vec<Induction<'c>>,
    /// What is known of values, with these.
    pub(super) affine: Affine<'a, 'c>,
}

/// Looks for such loops.
pub(super) struct Search<'a, 'c> {
    function: Value<'c>,
    pub(super) thread: [Value<'c>; 3],
    flow: Flow<'c>,
    /// What is the same for all threads of a block.
    pub(super) of_block: Uniformity<'c>,
    /// How values grow along x.
    of_row: Uniformity<'c>,
    size: &'a dyn Fn(Type<'c>) -> u64,
}

impl<'a, 'c> Search<'a, 'c> {
    pub(super) fn new(
        function: Value<'c>,
        thread: [Value<'c>; 3],
        size: &'a dyn Fn(Type<'c>) -> u64,
    ) -> Self {
        let flow = Flow::new(function, writes_panic);
        let source = block_source(thread);
        let asked = Asked { lanes: 1, source: &source, size, element: &|_| None };
        let of_block = Uniformity::new(function, &flow, &asked);
        let source = |value| (value == thread[0]).then_some(Shape::Strided(1));
        let asked = Asked { lanes: 2, source: &source, size, element: &|_| None };
        let of_row = Uniformity::new(function, &flow, &asked);
        Self { function, thread, flow, of_block, of_row, size }
    }

    /// A loop that does not have one of the headers in `done`.
    pub(super) fn find(&self, done: &HashSet<Block<'c>>) -> Option<Candidate<'c>> {
        if self.keeps_stack_memory() {
            return None;
        }
        let is_new =
            |found: &&Loop| found.nodes.iter().all(|&node| !done.contains(&self.flow.blocks[node]));
        self.flow.loops.iter().filter(is_new).find_map(|found| self.examine(found))
    }

    /// Whether threads have memory that they would have to keep from iteration to iteration.
    fn keeps_stack_memory(&self) -> bool {
        let all = self.function.instructions().into_iter();
        all.filter(|it| it.opcode() == Opcode::Alloca).any(|memory| {
            memory.users().into_iter().any(|user| !self.flow.panics[self.flow.number(user.block())])
        })
    }

    fn examine(&self, found: &Loop) -> Option<Candidate<'c>> {
        let (flow, blocks) = (&self.flow, &self.flow.blocks);
        let is_inside = |node: &usize| found.nodes.binary_search(node).is_ok();
        let (inside, outside): (Vec<usize>, Vec<usize>) =
            flow.graph.predecessors[found.header].iter().partition(|node| is_inside(node));
        let ([latch], [before]) = (&inside[..], &outside[..]) else { return None };
        let exits: Vec<_> = found
            .nodes
            .iter()
            .flat_map(|&node| flow.graph.successors[node].iter().map(move |&next| (node, next)))
            .filter(|(_, next)| !is_inside(next))
            .collect();
        let [(from, exit)] = exits[..] else { return None };
        let is_own = from == *latch && flow.graph.predecessors[exit][..] == [*latch];
        if !is_own || *before >= blocks.len() || blocks[*before].successors().len() != 1 {
            return None;
        }
        let (header, latch, before) = (blocks[found.header], blocks[*latch], *before);
        let (guard, enters) = self.guard(before)?;
        let again = branch_to(latch, header)?;
        if !self.is_harmless(found) || self.is_used_outside(found, blocks[exit]) {
            return None;
        }
        let first = if enters.is_some() { blocks[before].instructions() } else { Vec::new() };
        let first: Vec<_> = first.into_iter().take_while(|it| it.opcode() != Opcode::Br).collect();
        if !first.iter().all(|it| self.can_be_repeated(*it, found)) {
            return None;
        }
        let affine = Affine::new(&self.of_block, self.thread);
        let (inductions, carried) = inductions(header, blocks[before], latch, &affine)?;
        if carried.len() > CARRIED || !carried.iter().all(|(_, start)| self.is_at(*start, guard)) {
            return None;
        }
        let affine = affine.with(&inductions);
        let driver = inductions.iter().position(|it| it.stride > 0)?;
        let rows = self.rows(found, &affine, inductions[driver].phi);
        let far = FAR.div_ceil(rows.iter().map(|row| row.bytes).max()?);
        if !affine.decides(again) || enters.is_some_and(|enters| !affine.decides(enters)) {
            return None;
        }
        let step = inductions[driver].step.as_u64();
        if step.is_some_and(|step| step < far) {
            return None;
        }
        let at = |value: Value<'c>| affine.can_be_found(value, &|value| self.is_at(value, guard));
        let mut wanted: Vec<_> = inductions.iter().flat_map(|it| [it.start, it.step]).collect();
        wanted
            .extend(enters.iter().chain([&again]).flat_map(|condition| condition.value.operands()));
        if !wanted.iter().all(|value| at(*value)) {
            return None;
        }
        let is_for_rows = wanted.into_iter().any(|value| affine.is_of_row(value));
        let mut all: Vec<_> = found.nodes.iter().map(|&node| blocks[node]).collect();
        all.extend(self.panics_in(found));
        let exit = blocks[exit];
        Some(Candidate {
            header,
            latch,
            exit,
            before: blocks[before],
            first,
            guard,
            enters,
            again,
            blocks: all,
            inductions,
            carried,
            rows,
            far,
            driver,
            is_for_rows,
        })
    }

    /// The loops of which it can be asked before the launch of a block whether any thread takes a second iteration, in steps
    /// that depend on the size of the grid.
    pub(super) fn single_iterations(&self, grid: Value<'c>) -> Vec<SingleIteration<'_, 'c>> {
        self.flow.loops.iter().filter_map(|found| self.single_iteration(found, grid)).collect()
    }

    fn single_iteration(&self, found: &Loop, grid: Value<'c>) -> Option<SingleIteration<'_, 'c>> {
        let blocks = &self.flow.blocks;
        let is_inside = |node: &usize| found.nodes.binary_search(node).is_ok();
        let (inside, outside): (Vec<usize>, Vec<usize>) =
            self.flow.graph.predecessors[found.header].iter().partition(|node| is_inside(node));
        let ([latch], [before]) = (&inside[..], &outside[..]) else { return None };
        if *before >= blocks.len() {
            return None;
        }
        let (header, latch) = (blocks[found.header], blocks[*latch]);
        let again = branch_to(latch, header)?;
        let affine = Affine::new(&self.of_block, self.thread);
        let (inductions, _) = inductions(header, blocks[*before], latch, &affine)?;
        let affine = affine.with(&inductions);
        if affine.stride_of(again).is_none_or(|stride| stride == 0)
            || !inductions.iter().any(|it| it.stride > 0 && depends_on(it.step, grid))
        {
            return None;
        }
        let starts = inductions.iter().map(|it| it.start);
        let is_found =
            |value: Value<'c>| affine.can_be_found(value, &|_| false) && !affine.is_of_row(value);
        let is_found = starts.chain(again.value.operands()).all(is_found);
        is_found.then_some(SingleIteration { latch, again, inductions, affine })
    }

    /// Where all threads decide together whether to enter a loop that control comes to from `before`.
    fn guard(&self, before: usize) -> Option<(Block<'c>, Option<Condition<'c>>)> {
        let blocks = &self.flow.blocks;
        if self.of_block.is_reached_together(before) {
            return Some((blocks[before], None));
        }
        let [guard] = self.flow.graph.predecessors[before][..] else { return None };
        if guard >= blocks.len() || !self.of_block.is_reached_together(guard) {
            return None;
        }
        Some((blocks[guard], Some(branch_to(blocks[guard], blocks[before])?)))
    }

    /// Whether a value is at hand at the end of a block.
    fn is_at(&self, value: Value<'c>, block: Block<'c>) -> bool {
        let place = |block| self.flow.number(block);
        !value.is_instruction()
            || dominates(self.flow.dominators(), place(value.block()), place(block))
    }

    /// The same, once what was in the block is in another, save for its end.
    pub(super) fn is_at_end(&self, value: Value<'c>, block: Block<'c>, moved: Block<'c>) -> bool {
        (value.is_instruction() && value.block() == moved) || self.is_at(value, block)
    }

    /// Whether nothing in a loop is by which threads could wait for each other, and there is not too
    /// much of it.
    fn is_harmless(&self, found: &Loop) -> bool {
        let all: Vec<_> =
            found.nodes.iter().flat_map(|&node| self.flow.blocks[node].instructions()).collect();
        let is_harmless = |instruction: &Value<'c>| match instruction.opcode() {
            Opcode::Call => {
                !is_barrier(*instruction)
                    && (is_dropped(*instruction) || is_pure_intrinsic(*instruction).is_some())
            }
            Opcode::Load | Opcode::Store => !instruction.is_exact_access(),
            Opcode::AtomicRmw => !instruction.is_used(),
            Opcode::AtomicCmpXchg | Opcode::Fence | Opcode::Alloca => false,
            _ => true,
        };
        all.len() <= INSTRUCTIONS && all.iter().all(is_harmless)
    }

    /// Whether an instruction before a loop gives the same after iterations of it, for nothing but the loop.
    fn can_be_repeated(&self, instruction: Value<'c>, found: &Loop) -> bool {
        let is_inside = |user: &Value<'c>| {
            let node = self.flow.number(user.block());
            let is_near = user.block() == instruction.block();
            let is_phi = user.opcode() == Opcode::Phi;
            is_near
                || self.flow.panics[node]
                || (found.nodes.binary_search(&node).is_ok() && !is_phi)
        };
        let is_same = match instruction.opcode() {
            Opcode::Load => {
                !instruction.is_exact_access() && self.is_kept(instruction.operand(0), found)
            }
            Opcode::Call => is_pure_intrinsic(instruction).is_some(),
            Opcode::Phi
            | Opcode::Store
            | Opcode::AtomicRmw
            | Opcode::AtomicCmpXchg
            | Opcode::Fence
            | Opcode::Alloca => false,
            _ => true,
        };
        is_same && instruction.users().iter().all(is_inside)
    }

    /// Whether a loop writes nothing at an address: nothing but a parameter leads there, and it leads to
    /// nothing that is written.
    fn is_kept(&self, address: Value<'c>, found: &Loop) -> bool {
        let parameters = self.function.parameters();
        let origin = origin(address);
        let Some(index) = parameters.iter().position(|parameter| *parameter == origin) else {
            return false;
        };
        let is_alone = self.function.has_attribute(Place::Parameter(index as u32), "noalias");
        let all = found.nodes.iter().flat_map(|&node| self.flow.blocks[node].instructions());
        let mut written = all.filter_map(|it| match it.opcode() {
            Opcode::Store => Some(it.operand(1)),
            Opcode::AtomicRmw => Some(it.operand(0)),
            _ => None,
        });
        is_alone
            && written
                .all(|it| parameters.contains(&self::origin(it)) && self::origin(it) != origin)
    }

    /// Whether anything but the phis at a loop's exit uses what it computes, panics in it left out.
    fn is_used_outside(&self, found: &Loop, exit: Block<'c>) -> bool {
        let is_inside = |block: Block<'c>| {
            let node = self.flow.number(block);
            found.nodes.binary_search(&node).is_ok() || self.flow.panics[node]
        };
        let all = found.nodes.iter().flat_map(|&node| self.flow.blocks[node].instructions());
        all.into_iter().flat_map(Value::users).any(|user| {
            let is_phi = user.opcode() == Opcode::Phi && user.block() == exit;
            !is_phi && !is_inside(user.block())
        })
    }

    /// The blocks after panics in a loop.
    fn panics_in(&self, found: &Loop) -> Vec<Block<'c>> {
        let (mut seen, mut order) = (HashSet::new(), Vec::new());
        let mut work: Vec<_> = found.nodes.iter().map(|&node| self.flow.blocks[node]).collect();
        while let Some(block) = work.pop() {
            for next in block.successors() {
                if self.flow.panics[self.flow.number(next)] && seen.insert(next) {
                    order.push(next);
                    work.push(next);
                }
            }
        }
        order
    }

    /// The accesses in a loop to memory in which threads have elements in a row, another row in each
    /// iteration.
    fn rows(&self, found: &Loop, affine: &Affine<'_, 'c>, driver: Value<'c>) -> Vec<Row<'c>> {
        let all = found.nodes.iter().flat_map(|&node| self.flow.blocks[node].instructions());
        let rows = all.filter_map(|access| {
            let pointer = match access.opcode() {
                Opcode::Load => access.operand(0),
                Opcode::Store => access.operand(1),
                _ => return None,
            };
            let is_row = matches!(self.of_row.shape(pointer), Shape::Strided(bytes) if bytes != 0);
            let bytes =
                affine.growth(pointer, driver, self.size).filter(|bytes| is_row && *bytes > 0)?;
            Some(Row { access, pointer, bytes: bytes.unsigned_abs() })
        });
        rows.collect()
    }
}

/// What an address is an offset from.
fn origin(mut address: Value<'_>) -> Value<'_> {
    while address.is_instruction() && address.opcode() == Opcode::GetElementPtr {
        address = address.operand(0);
    }
    address
}

/// Whether a value is computed from another one, by no phi.
fn depends_on<'c>(value: Value<'c>, on: Value<'c>) -> bool {
    value == on
        || (value.is_instruction()
            && value.opcode() != Opcode::Phi
            && value.operands().into_iter().any(|it| depends_on(it, on)))
}

/// The condition on which a block's branch goes to `to`.
fn branch_to<'c>(from: Block<'c>, to: Block<'c>) -> Option<Condition<'c>> {
    let value = from.terminator()?.branch_condition()?;
    match from.successors()[..] {
        [yes, no] if yes != no && (yes == to || no == to) => {
            Some(Condition { value, holds: yes == to })
        }
        _ => None,
    }
}

/// The phis of a loop's header: those that are inductions, and the others with what they start with.
#[expect(clippy::type_complexity, reason = "two lists")]
fn inductions<'c>(
    header: Block<'c>,
    before: Block<'c>,
    latch: Block<'c>,
    affine: &Affine<'_, 'c>,
) -> Option<(Vec<Induction<'c>>, Vec<(Value<'c>, Value<'c>)>)> {
    let (mut inductions, mut others) = (Vec::new(), Vec::new());
    for phi in phis(header.instructions()) {
        let from = |block: Block<'c>| incoming(phi, block);
        let (start, next) = (from(before)?, from(latch)?);
        match affine.step(phi, next).zip(affine.stride(start).filter(|stride| *stride >= 0)) {
            Some((step, stride)) => inductions.push(Induction { phi, start, step, stride }),
            None => others.push((phi, start)),
        }
    }
    Some((inductions, others))
}
