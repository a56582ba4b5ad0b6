//! Early exits: threads that return before others come to a barrier, as in `if i >= n { return; }`.
//!
//! Needs: an optimised kernel, whose panics are still calls. Guarantees: a kernel whose early exits come to all barriers of
//! the block, or the kernel as it computes, which [`uniformity`](super::uniformity) refuses then.
//!
//! A work-group of OpenCL's waits at a barrier for all of its work-items, those that have returned too. So a thread that
//! returns goes on, *masked*: it passes the barriers, by the branches that lead the others there, and does nothing
//! else ([predication][allen]):
//!
//! ```text
//! if i >= n { path; return }      if i >= n { path; left = true }
//! rest 1                     =>   if !left { rest 1 }
//! barrier                         barrier
//! rest 2                          if !left { rest 2 }
//! ```
//!
//! A divergent branch is an exit if one of its ways comes to no barrier any more. Without these ways, every barrier has to
//! be uniform. What decides which barriers come next (their [`slice`](super::slice)) is computed apart, by all
//! threads and in slots of its own, so that threads which have left take the same ways. The blocks that they come to so are
//! those of the *spine*; each begins with its part of the slice, and the rest of it is skipped.
//!
//! What the slice computes may be meaningless where all threads of a block have left: a number of iterations, from a length
//! that is 0. So where an exit comes back to the others, and branches decide on barriers behind it, threads that have
//! not left write the number of the visit into a word of shared memory; behind a barrier the block ends where
//! nobody has. The word only grows, so that a thread which is late reads the same of it as the others.
//!
//! A thread that leaves clears its word among those that cross between the lanes of warps, so that it has no vote.
//!
//! [allen]: https://doi.org/10.1145/567067.567085

use std::collections::{BTreeSet, HashMap, HashSet};

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Block, IntPredicate, ModuleExt, Opcode, Type, Value},
    machine::Machine,
};

use super::{
    barriers::{ALIVE, FROM_MEMORY, TO_MEMORY, Writer, is_barrier, isolate},
    divisions,
    slice::{Slice, Ways},
    uniformity::{Divergence, numbers, successors},
};
use crate::{Error, cpu::Graph, ir::reachable};

/// The exits of a kernel at most.
const EXITS: usize = 16;
/// The instructions on the way from an exit to the end of the kernel at most: the way is copied.
const PATH: usize = 400;

/// Words that cross between the lanes of warps, one for each thread of the block (`operations.ll`).
const WARP_WORDS: &str = "__kernelmill_warp_words";

/// Masks the threads of a kernel that return early.
pub(super) fn mask<'c>(
    context: &'c Context,
    module: &Module<'c>,
    machine: &Machine,
    kernel: Value<'c>,
) -> Result<(), Error> {
    if !kernel.instructions().iter().any(is_barrier) {
        return Ok(());
    }
    let Some(exits) = Exits::find(kernel) else { return Ok(()) };
    let isolate_all = || {
        for barrier in kernel.instructions().into_iter().filter(is_barrier) {
            isolate(context, barrier);
        }
    };
    // Values that are used on both sides of a barrier are of several blocks from here on.
    isolate_all();
    machine.run_on_function(kernel, TO_MEMORY)?;
    isolate_all();
    if let Some(plan) = Plan::of(kernel, &exits) {
        Masking::new(context, module, kernel, &plan).mask(&plan);
    }
    Ok(machine.run_on_function(kernel, FROM_MEMORY)?)
}

/// The control flow of a kernel.
struct Flow<'c> {
    blocks: Vec<Block<'c>>,
    successors: Vec<Vec<usize>>,
    /// The blocks that return.
    ends: Vec<usize>,
    /// The blocks from which control never returns, as before a panic.
    cold: Vec<bool>,
    /// The blocks with a barrier, and those from which control comes to one.
    barriers: Vec<bool>,
    coming: Vec<bool>,
}

impl<'c> Flow<'c> {
    fn of(kernel: Value<'c>) -> Self {
        let blocks = kernel.blocks();
        let successors = successors(&blocks);
        let whole = Graph::new(successors.clone());
        let of_kind = |wanted: &dyn Fn(&Block<'c>) -> bool| -> Vec<usize> {
            (0..blocks.len()).filter(|&node| wanted(&blocks[node])).collect()
        };
        let ends =
            of_kind(&|block| block.terminator().is_some_and(|it| it.opcode() == Opcode::Ret));
        let meeting = of_kind(&|block| block.instructions().iter().any(is_barrier));
        let cold = whole.reaching(&ends).into_iter().map(|returns| !returns).collect();
        let coming = whole.reaching(&meeting);
        let mut barriers = vec![false; blocks.len()];
        meeting.into_iter().for_each(|node| barriers[node] = true);
        Self { blocks, successors, ends, cold, barriers, coming }
    }

    /// The ways on which nobody panics, without those of `exits`.
    fn without(&self, exits: &BTreeSet<(usize, usize)>) -> Graph {
        let next = |(node, next): (usize, &Vec<usize>)| -> Vec<usize> {
            let stays = |to: &usize| !self.cold[*to] && !exits.contains(&(node, *to));
            if self.cold[node] { Vec::new() } else { next.iter().copied().filter(stays).collect() }
        };
        Graph::new(self.successors.iter().enumerate().map(next).collect())
    }

    /// The ways from a block that come to no barrier, where others do.
    fn ways_out(&self, node: usize) -> Vec<(usize, usize)> {
        let next = self.successors[node].iter().copied().filter(|&to| !self.cold[to]);
        let (staying, leaving): (Vec<_>, Vec<_>) = next.partition(|&to| self.coming[to]);
        match staying.is_empty() {
            true => Vec::new(),
            false => leaving.into_iter().map(|to| (node, to)).collect(),
        }
    }
}

/// The early exits of a kernel.
struct Exits<'c> {
    /// Branches, with which of their ways lead out.
    ways: Vec<(Value<'c>, Vec<usize>)>,
    /// Other branches that part threads.
    divergent: HashSet<Value<'c>>,
}

impl<'c> Exits<'c> {
    /// The early exits without which all barriers are uniform, where there are some.
    fn find(kernel: Value<'c>) -> Option<Self> {
        let flow = Flow::of(kernel);
        let Flow { blocks, ends, .. } = &flow;
        let everywhere = flow.without(&BTreeSet::new());
        let order = everywhere.reverse_post_order(0);
        // What differs by data alone.
        let none = Graph::new(vec![Vec::new(); blocks.len()]);
        let by_data = Divergence::of(blocks, &none, ends);
        let parts =
            |node: usize| blocks[node].terminator().is_some_and(|it| by_data.is_varying(it));
        let mut exits: BTreeSet<(usize, usize)> =
            { order.iter() }.filter(|&&it| parts(it)).flat_map(|&it| flow.ways_out(it)).collect();
        let (graph, divergence) = loop {
            let graph = flow.without(&exits);
            let divergence = Divergence::of(blocks, &graph, ends);
            let parts = |node: &&usize| divergence.branches.contains(node);
            let more = order.iter().filter(parts).map(|&node| flow.ways_out(node));
            let is_new = |ways: &Vec<_>| ways.iter().any(|way| !exits.contains(way));
            match more.into_iter().find(is_new) {
                Some(ways) => exits.extend(ways),
                None => break (graph, divergence),
            }
        };
        let (live, returning) = (graph.reachable(&[0], None), graph.reaching(ends));
        let is_right = |node: usize| {
            // A loop that threads only leave by exits has no end for those that have left.
            !live[node]
                || returning[node]
                    && !(flow.barriers[node] && divergence.parts_before(node).is_some())
        };
        if exits.is_empty() || !(0..blocks.len()).all(is_right) {
            return None;
        }
        let numbers = numbers(blocks);
        let from: BTreeSet<usize> = exits.iter().map(|(node, _)| *node).collect();
        let ways = from.into_iter().filter_map(|node| {
            let next = blocks[node].successors();
            let leads_out = |way: &usize| exits.contains(&(node, numbers[&next[*way]]));
            Some((blocks[node].terminator()?, (0..next.len()).filter(leads_out).collect()))
        });
        let divergent = divergence.branches.iter().filter_map(|&node| blocks[node].terminator());
        Some(Self { ways: ways.collect(), divergent: divergent.collect() })
    }
}

/// What is done to a kernel whose values of several blocks are in slots.
struct Plan<'c> {
    flow: Flow<'c>,
    /// The ways that threads take which have not left.
    graph: Graph,
    meets: Vec<Option<usize>>,
    slice: Slice<'c>,
    /// The blocks that threads come to which have left.
    spine: BTreeSet<usize>,
    /// The ways out, with the blocks of the spine that threads come back to.
    exits: Vec<((usize, usize), usize)>,
}

impl<'c> Plan<'c> {
    /// `None` where a thread that has left could not be led.
    fn of(kernel: Value<'c>, exits: &Exits<'c>) -> Option<Self> {
        let flow = Flow::of(kernel);
        let numbers = numbers(&flow.blocks);
        let mut out = BTreeSet::new();
        for (branch, ways) in &exits.ways {
            let (node, next) = (numbers[&branch.block()], branch.block().successors());
            out.extend(ways.iter().map(|way| (node, numbers[&next[*way]])));
        }
        let graph = flow.without(&out);
        let (meets, live) = (graph.post_dominators(&flow.ends), graph.reachable(&[0], None));
        let ways = Ways {
            blocks: &flow.blocks,
            graph: &graph,
            meets: &meets,
            live: &live,
            barriers: &flow.barriers,
        };
        let slice = Slice::of(kernel, &ways)?;
        let mut spine = BTreeSet::new();
        let mut work = vec![0];
        while let Some(node) = work.pop() {
            if spine.insert(node) {
                match &*graph.successors[node] {
                    next if next.len() < 2 || slice.relevant[node] => work.extend(next),
                    _ => work.extend(meets[node]),
                }
            }
        }
        let come_back = |&(node, to): &(usize, usize)| {
            let place = match &*graph.successors[node] {
                [next] if spine.contains(next) => Some(*next),
                _ => std::iter::successors(meets[node], |&it| meets[it])
                    .find(|it| spine.contains(it)),
            };
            Some(((node, to), place?))
        };
        let exits_back: Option<Vec<_>> = out.iter().map(come_back).collect();
        let this = Self { flow, graph, meets, slice, spine, exits: exits_back? };
        this.is_sound(&live, &exits.divergent).then_some(this)
    }

    fn is_sound(&self, live: &[bool], divergent: &HashSet<Value<'c>>) -> bool {
        let Self { flow, graph, slice, spine, exits, .. } = self;
        let is_short = |&((_, to), _): &_| {
            let path = way_out(flow, to);
            path.iter().map(|&node| flow.blocks[node].instructions().len()).sum::<usize>() <= PATH
        };
        let is_led = |node: usize| {
            let block = flow.blocks[node];
            let instructions = block.instructions();
            let Some(end) = block.terminator() else { return false };
            let is_wanted =
                flow.barriers[node] || instructions.iter().any(|it| slice.needed.contains(it));
            let is_alone = !flow.barriers[node] || instructions.len() == 2;
            let is_uniform = !slice.relevant[node]
                || !divergent.contains(&end)
                    && graph.successors[node].len() == flow.successors[node].len();
            let is_own = |it: &Value<'c>| {
                it.opcode() == Opcode::Alloca || it.users().iter().all(|user| user.block() == block)
            };
            (!live[node] || !is_wanted || spine.contains(&node))
                && is_alone
                && is_uniform
                && instructions.iter().all(is_own)
        };
        exits.len() <= EXITS && exits.iter().all(is_short) && (0..flow.blocks.len()).all(is_led)
    }
}

/// The blocks that control comes to from one that comes to no barrier.
fn way_out(flow: &Flow<'_>, start: usize) -> Vec<usize> {
    let reached = Graph::new(flow.successors.clone()).reachable(&[start], None);
    (0..reached.len()).filter(|&node| reached[node]).collect()
}

/// A kernel whose early exits are masked.
struct Masking<'a, 'c> {
    writer: Writer<'a, 'c>,
    kernel: Value<'c>,
    /// Whether the thread has left.
    left: Value<'c>,
    /// How often it has been asked whether all have.
    visits: Value<'c>,
    /// Slots of the slice, for those of the kernel.
    slots: HashMap<Value<'c>, Value<'c>>,
    /// The first instruction that is no slot.
    start: Value<'c>,
    /// Where threads end that have left.
    end: Block<'c>,
}

impl<'a, 'c> Masking<'a, 'c> {
    fn new(
        context: &'c Context,
        module: &'a Module<'c>,
        kernel: Value<'c>,
        plan: &Plan<'c>,
    ) -> Self {
        let writer = Writer::new(context, module);
        let start = kernel.blocks()[0].instructions();
        let start = { start.into_iter() }.find(|it| it.opcode() != Opcode::Alloca);
        let start = start.expect("a block ends with a terminator");
        writer.builder.before(start);
        let (left, visits) = (writer.counter(0), writer.counter(0));
        let copy = |slot: &Value<'c>| {
            let own = writer.builder.alloca(slot.allocated_type());
            own.set_alignment(slot.alignment());
            (*slot, own)
        };
        let slots = plan.slice.slots.iter().map(copy).collect();
        let end = Block::append(context, kernel, "left");
        writer.builder.at_end(end);
        writer.builder.ret(None);
        Self { writer, kernel, left, visits, slots, start, end }
    }

    fn mask(&self, plan: &Plan<'c>) {
        let Plan { flow, slice, spine, exits, .. } = plan;
        for ((node, to), back) in exits {
            let path = way_out(flow, *to);
            let out = self.copy_path(flow, &path, *to, flow.blocks[*back]);
            flow.blocks[*node].redirect(flow.blocks[*to], out);
        }
        // Edges to a block go to its head from here on.
        let mut heads = flow.blocks.clone();
        let mut masked = Vec::new();
        for &node in spine.iter().filter(|&&node| !flow.barriers[node]) {
            let block = flow.blocks[node];
            let mut body = block.instructions();
            if node == 0 {
                body = body.into_iter().skip_while(|it| *it != self.start).collect();
            } else if body.len() == 1 && flow.successors[node].len() < 2 {
                continue;
            }
            heads[node] = block.split_before(self.writer.context, body[0], "masked");
            masked.push((node, body));
        }
        if slice.relevant.iter().any(|it| *it) {
            self.writer.builder.at_end(heads[0]);
            let alive = self.writer.shared_word(ALIVE);
            // All threads write the same; none leaves before all have.
            self.writer.write(alive, self.writer.word.constant(0));
            self.writer.barrier();
        }
        for (node, body) in masked {
            self.skip(plan, &heads, node, &body);
        }
        if slice.relevant.iter().any(|it| *it) {
            let places: BTreeSet<usize> = exits.iter().map(|(_, back)| *back).collect();
            places.into_iter().for_each(|node| self.end_without_others(heads[node]));
        }
    }

    /// Copies the way from `start` to the end of the kernel. The copy ends with the thread's having left, and goes
    /// on at `back`.
    fn copy_path(
        &self,
        flow: &Flow<'c>,
        path: &[usize],
        start: usize,
        back: Block<'c>,
    ) -> Block<'c> {
        let Writer { context, ref builder, .. } = self.writer;
        let append =
            |&node: &usize| (flow.blocks[node], Block::append(context, self.kernel, "out"));
        let copies: HashMap<_, _> = path.iter().map(append).collect();
        for &node in path {
            let old = flow.blocks[node];
            builder.at_end(copies[&old]);
            let mut values = HashMap::new();
            for instruction in old.instructions() {
                if instruction.opcode() == Opcode::Ret {
                    self.leave();
                    builder.branch(back);
                } else {
                    self.copy(instruction, &mut values);
                }
            }
            for next in old.successors() {
                copies[&old].redirect(next, copies[&next]);
            }
        }
        copies[&flow.blocks[start]]
    }

    /// A copy of an instruction with operands that have been copied before.
    fn copy(
        &self,
        instruction: Value<'c>,
        values: &mut HashMap<Value<'c>, Value<'c>>,
    ) -> Value<'c> {
        let copy = self.writer.builder.copy(instruction);
        for (index, operand) in instruction.operands().into_iter().enumerate() {
            if let Some(value) = values.get(&operand) {
                copy.set_operand(index as u32, *value);
            }
        }
        values.insert(instruction, copy);
        copy
    }

    /// Notes that the thread has left.
    fn leave(&self) {
        let Writer { context, module, ref builder, word, .. } = self.writer;
        builder.store(word.constant(1), self.left);
        let words = module.global(WARP_WORDS);
        let Some(words) = words.filter(|it| reachable(self.kernel).contains(it)) else { return };
        let ask = |name: &str, axis: u64| {
            let ask = module.declare(name, Type::int(context, 64).function(&[word]));
            builder.call(ask, &[word.constant(axis)])
        };
        let (index, size) = ("_Z12get_local_idj", "_Z14get_local_sizej");
        let rows = builder.multiply(ask(index, 2), ask(size, 1));
        let rows = builder.add(rows, ask(index, 1));
        let thread = builder.add(builder.multiply(rows, ask(size, 0)), ask(index, 0));
        builder.store(word.constant(0), builder.element(word, words, thread)).set_alignment(4);
    }

    /// Lets threads that have left skip what a block of the spine does, but for its part of the slice.
    fn skip(&self, plan: &Plan<'c>, heads: &[Block<'c>], node: usize, body: &[Value<'c>]) {
        let Writer { context, ref builder, word, .. } = self.writer;
        let Plan { flow, graph, meets, slice, .. } = plan;
        let block = flow.blocks[node];
        builder.at_end(heads[node]);
        let mut values = self.slots.clone();
        for instruction in body.iter().filter(|it| slice.needed.contains(it)) {
            let copy = self.copy(*instruction, &mut values);
            divisions::guard(builder, copy);
            builder.at_end(heads[node]);
        }
        let next = match &*graph.successors[node] {
            _ if slice.relevant[node] => {
                let (way, old) = (Block::append(context, self.kernel, "way"), block.terminator());
                builder.at_end(way);
                let old = old.expect("a block ends with a terminator");
                self.copy(old, &mut values);
                old.erase();
                builder.at_end(block);
                builder.branch(way);
                Some(way)
            }
            [] => None,
            [next] => Some(heads[*next]),
            _ => meets[node].map(|meet| heads[meet]),
        };
        builder.at_end(heads[node]);
        let left =
            builder.compare(IntPredicate::Ne, builder.load(word, self.left), word.constant(0));
        builder.branch_if(left, next.unwrap_or(self.end), block);
    }

    /// Ends all threads of the block before a block of the spine, where all have left.
    fn end_without_others(&self, place: Block<'c>) {
        let Writer { context, ref builder, word, .. } = self.writer;
        let [ask, tell, wait] =
            ["ask", "tell", "wait"].map(|name| Block::append(context, self.kernel, name));
        for block in self.kernel.blocks() {
            block.redirect(place, ask);
        }
        builder.at_end(ask);
        let visit = builder.add(builder.load(word, self.visits), word.constant(1));
        builder.store(visit, self.visits);
        let left =
            builder.compare(IntPredicate::Ne, builder.load(word, self.left), word.constant(0));
        builder.branch_if(left, wait, tell);
        builder.at_end(tell);
        let alive = self.writer.shared_word(ALIVE);
        self.writer.write(alive, visit);
        builder.branch(wait);
        builder.at_end(wait);
        self.writer.barrier();
        let nobody = builder.compare(IntPredicate::Ult, self.writer.read(alive), visit);
        builder.branch_if(nobody, self.end, place);
    }
}
