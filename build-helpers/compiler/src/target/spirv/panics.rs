//! Panics before barriers: a thread that panics goes to the barrier that the others come to next, and the block ends
//! there.
//!
//! A work-group of OpenCL's waits at a barrier for all of its work-items, those that have returned too. So a thread that
//! panics does not return before one: it writes the number of the next barrier into a word of shared memory, the *panic
//! phase*, and goes to that barrier. Behind it every thread of the block compares the word with the number of barriers
//! that it has passed, and returns where they are the same.
//!
//! ```text
//! check; panic => record; end        check; panic => record; phase = n + 1; go to B
//! barrier                       =>   B: barrier; n = n + 1; if phase == n { end }
//! rest                               rest
//! ```
//!
//! A faster thread may panic on its way to barrier n + 1 before a slower one has compared behind barrier n. Then the word is
//! not n for either, so both go on to barrier n + 1. Numbers count the barriers that are compared behind; all threads
//! of a block pass the same ones.
//!
//! The barrier has to be the only one that others can come to first: it is in the nearest post-dominator of the check that
//! has one, with no other on the way there. Where there is none, as before a loop with a barrier, a new one is put at
//! a post-dominator. A thread never goes so into a loop that the check is not in: a loop that is entered in two places is none to
//! those who compile it further, and pocl 3.1 does not end on one. Where that cannot be, the panic stays a return, and
//! [`uniformity`](super::uniformity) refuses the kernel.

use std::collections::{BTreeMap, HashMap, HashSet};

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Block, IntPredicate, Opcode, Value},
    machine::Machine,
};

use super::barriers::{FROM_MEMORY, PHASE, TO_MEMORY, Writer, is_barrier, isolate};
use crate::{Error, base::names::is_panic, cpu::Graph};

/// Where a thread that panics goes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// The first barrier of the block with this number.
    Barrier(usize),
    /// A new one, at the start of it.
    New(usize),
}

/// Leads the panics of a kernel to its barriers.
pub(super) fn lead<'c>(
    context: &'c Context,
    module: &Module<'c>,
    machine: &Machine,
    kernel: Value<'c>,
) -> Result<(), Error> {
    let panics = |function: Value<'c>| {
        let calls = function.calls().into_iter();
        { calls }.any(|call| call.called_function().is_some_and(|it| is_panic(&it.name())))
    };
    if !kernel.instructions().iter().any(is_barrier) || !panics(kernel) {
        return Ok(());
    }
    // Each loop has a block before it.
    machine.run_on_function(kernel, "loop-simplify")?;
    if places(kernel).is_empty() {
        return Ok(());
    }
    // Values that are used on both sides of a barrier are of several blocks from here on.
    for barrier in kernel.instructions().into_iter().filter(is_barrier) {
        isolate(context, barrier);
    }
    machine.run_on_function(kernel, TO_MEMORY)?;
    let blocks = kernel.blocks();
    let mut by_place: BTreeMap<Place, Vec<Block<'c>>> = BTreeMap::new();
    for (panic, place) in places(kernel) {
        by_place.entry(place).or_default().push(blocks[panic]);
    }
    Leading::new(context, module, kernel).lead(&blocks, &by_place);
    Ok(machine.run_on_function(kernel, FROM_MEMORY)?)
}

/// Where the threads go that panic at the end of a block, by the block's number.
fn places(kernel: Value<'_>) -> Vec<(usize, Place)> {
    let blocks = kernel.blocks();
    let numbers: HashMap<_, _> =
        blocks.iter().enumerate().map(|(number, block)| (*block, number)).collect();
    let next = |block: &Block<'_>| block.successors().iter().map(|it| numbers[it]).collect();
    let successors: Vec<Vec<usize>> = blocks.iter().map(next).collect();
    let of_kind = |wanted: &dyn Fn(&Block<'_>) -> bool| -> Vec<usize> {
        (0..blocks.len()).filter(|&node| wanted(&blocks[node])).collect()
    };
    let opcode = |block: &Block<'_>| block.terminator().map(Value::opcode);
    let ends = of_kind(&|block| opcode(block) == Some(Opcode::Ret));
    let panics = of_kind(&ends_in_panic);
    let whole = Graph::new(successors.clone());
    let (ending, panicking) = (whole.reaching(&ends), whole.reaching(&panics));
    let cold: Vec<_> = (0..blocks.len()).map(|node| !ending[node] && panicking[node]).collect();
    let others: Vec<Vec<usize>> = { successors.iter().enumerate() }
        .map(|(node, next)| match cold[node] {
            true => Vec::new(),
            false => next.iter().copied().filter(|&next| !cold[next]).collect(),
        })
        .collect();
    let graph = Graph::new(others);
    let meets = graph.post_dominators(&ends);
    let loops = graph.loops(0);
    let barriers: Vec<_> =
        blocks.iter().map(|block| block.instructions().iter().any(is_barrier)).collect();
    let chain = |start: usize| std::iter::successors(meets[start], |&node| meets[node]);
    let mut found = Vec::new();
    for panic in panics {
        let from = leading_to(&whole, &cold, panic);
        let Some(&first) = from.iter().next() else { continue };
        let starts: Vec<usize> =
            from.iter().flat_map(|&node| graph.successors[node].clone()).collect();
        let comes_to_barrier =
            graph.reachable(&starts, None).iter().zip(&barriers).any(|(comes, has)| *comes && *has);
        if !comes_to_barrier {
            continue;
        }
        let mut place = None;
        for meet in chain(first) {
            if !from.iter().all(|&node| chain(node).any(|it| it == meet)) {
                continue;
            }
            let between = graph.reachable(&starts, Some(meet));
            let passes = |node: usize| node != meet && between[node] && barriers[node];
            if (0..blocks.len()).any(passes) {
                break;
            }
            let enters = loops.iter().any(|it| {
                let has = |node: &usize| it.nodes.binary_search(node).is_ok();
                has(&meet) && !from.iter().all(has)
            });
            match (barriers[meet], enters) {
                (false, true) => {}
                (false, false) => place = Some(Place::New(meet)),
                (true, true) => break,
                (true, false) => {
                    place = Some(Place::Barrier(meet));
                    break;
                }
            }
        }
        found.extend(place.map(|place| (panic, place)));
    }
    found
}

/// Whether a block ends in a panic.
fn ends_in_panic(block: &Block<'_>) -> bool {
    let [.., call, end] = &*block.instructions() else { return false };
    let callee = call.called_function();
    end.opcode() == Opcode::Unreachable && callee.is_some_and(|it| is_panic(&it.name()))
}

/// The blocks whose branches lead to a panic and to something else.
fn leading_to(whole: &Graph, cold: &[bool], panic: usize) -> HashSet<usize> {
    let (mut from, mut seen, mut work) = (HashSet::new(), HashSet::from([panic]), vec![panic]);
    while let Some(node) = work.pop() {
        for &before in &whole.predecessors[node] {
            if !cold[before] {
                from.insert(before);
            } else if seen.insert(before) {
                work.push(before);
            }
        }
    }
    from
}

/// A kernel whose panics are led to barriers.
struct Leading<'a, 'c> {
    writer: Writer<'a, 'c>,
    kernel: Value<'c>,
    /// The panic phase.
    phase: Value<'c>,
    /// How many barriers the thread has passed.
    passed: Value<'c>,
    /// Where the threads of the block end.
    end: Block<'c>,
}

impl<'a, 'c> Leading<'a, 'c> {
    fn new(context: &'c Context, module: &'a Module<'c>, kernel: Value<'c>) -> Self {
        let writer = Writer::new(context, module);
        let phase = writer.shared_word(PHASE);
        let start = kernel.blocks()[0].instructions();
        let start = { start.into_iter() }.find(|it| it.opcode() != Opcode::Alloca);
        writer.builder.before(start.expect("a block ends with a terminator"));
        let passed = writer.counter(0);
        let end = Block::append(context, kernel, "panicked");
        // All threads write the same; none panics before all have.
        writer.write(phase, writer.word.constant(0));
        writer.barrier();
        writer.builder.at_end(end);
        writer.builder.ret(None);
        Self { writer, kernel, phase, passed, end }
    }

    fn lead(&self, blocks: &[Block<'c>], by_place: &BTreeMap<Place, Vec<Block<'c>>>) {
        for (place, panics) in by_place {
            let barrier = match *place {
                Place::Barrier(block) => blocks[block].instructions().into_iter().find(is_barrier),
                Place::New(block) => blocks[block].first_after_phis().map(|first| {
                    self.writer.builder.before(first);
                    self.writer.barrier()
                }),
            };
            // A block that was found to have one.
            let Some(barrier) = barrier else { continue };
            let meeting = self.compare_behind(barrier);
            for panic in panics {
                self.redirect(*panic, meeting);
            }
        }
    }

    /// Puts a barrier into a block of its own, behind which the threads of a block end that panics. Gives that block.
    fn compare_behind(&self, barrier: Value<'c>) -> Block<'c> {
        let Writer { context, ref builder, word, .. } = self.writer;
        let (meeting, rest) = isolate(context, barrier);
        if let Some(branch) = meeting.terminator() {
            branch.erase();
        }
        builder.at_end(meeting);
        let passed = builder.add(builder.load(word, self.passed), word.constant(1));
        builder.store(passed, self.passed);
        let ends = builder.compare(IntPredicate::Eq, self.writer.read(self.phase), passed);
        builder.branch_if(ends, self.end, rest);
        meeting
    }

    /// Leads the threads that panic at the end of a block to a barrier.
    fn redirect(&self, panic: Block<'c>, meeting: Block<'c>) {
        let Writer { ref builder, word, .. } = self.writer;
        let Some(end) = panic.terminator() else { return };
        builder.before(end);
        let next = builder.add(builder.load(word, self.passed), word.constant(1));
        self.writer.write(self.phase, next);
        builder.branch(meeting);
        end.erase();
        debug_assert!(panic.function() == self.kernel);
    }
}
