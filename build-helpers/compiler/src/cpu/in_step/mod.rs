//! Rounds of a loop that all threads of a block take together.
//!
//! A loop in which threads take elements a whole grid apart is run by one group after the other, from
//! its first round to its last: each round of a group is on another page of memory, and what lies
//! beside it is fetched again for the next group. Such a loop gets a copy whose rounds all groups go
//! through before any of them goes on to the next, so that a block reads and writes memory in rows:
//!
//! ```text
//! if i < n { do { body(i); i += step } while i < n }
//!
//! if all threads take two rounds, and rounds are far apart {
//!     do { barrier; body(i); i += step } while all threads have i < n
//! }
//! while i < n { body(i); i += step }
//! ```
//!
//! What "all threads" do is known from the first and the last of them, where the number that decides
//! grows evenly from thread to thread ([`even`]). The barrier is one between regions like any other.
//! In each round memory is asked for what the one after the next reads: processors fetch ahead only what
//! is near.
//! No kernel can tell: threads do not wait for each other where there is no barrier of theirs, and
//! loops with anything by which they could are left alone.

mod build;
mod even;
mod search;

use std::collections::HashSet;

use kernelmill_llvm::{
    ir::{Block, Type, Value},
    machine::Machine,
};

use super::{
    body::Body,
    context::{Source, is_barrier},
    lanes,
};
use crate::{Error, passes::entry::Unit};
use search::Search;

/// Drops what was built twice, and brings loops back into the form that regions are built from.
const CANONICAL: &str = "early-cse,loop-simplify,lcssa";

/// So many loops of a kernel at most.
const LOOPS: usize = 4;
/// The threads of a group, where it is asked whether there can be groups at all.
const LANES: u32 = 4;
/// The threads of a block at least: there is more than one group.
const THREADS: u64 = 32;

/// A number that grows by the same in each round, and evenly from thread to thread.
struct Induction<'c> {
    phi: Value<'c>,
    start: Value<'c>,
    step: Value<'c>,
    /// By how much it grows from thread to thread.
    stride: i64,
}

/// An access to memory in which threads have elements in a row, another row in each round.
struct Row<'c> {
    access: Value<'c>,
    pointer: Value<'c>,
    /// By how many bytes it is farther in the next round for each 1 of the step.
    bytes: u64,
}

/// A loop whose rounds can be taken in step.
struct Found<'c> {
    header: Block<'c>,
    latch: Block<'c>,
    exit: Block<'c>,
    /// The block before the header.
    before: Block<'c>,
    /// What is done there, where not all threads get there.
    first: Vec<Value<'c>>,
    /// Where all threads decide whether to enter the loop.
    guard: Block<'c>,
    /// The condition on which they do, and whether it holds then; there may be none.
    enters: Option<(Value<'c>, bool)>,
    /// The condition on which they go round again, and whether it holds then.
    again: (Value<'c>, bool),
    /// The loop's blocks, and those after panics in it.
    blocks: Vec<Block<'c>>,
    inductions: Vec<Induction<'c>>,
    /// Other phis of the header, with what they start with.
    carried: Vec<(Value<'c>, Value<'c>)>,
    rows: Vec<Row<'c>>,
    /// The induction's step at least, from which on rounds are far apart.
    far: u64,
    /// Which of the inductions that is.
    driver: usize,
    /// Whether it is right for blocks that are one row of threads only.
    is_for_rows: bool,
}

/// Gives loops of a body rounds that all threads of a block take together; how many.
pub(super) fn loops<'c>(
    unit: &Unit<'_, 'c>,
    machine: &Machine,
    body: &Body<'c>,
) -> Result<usize, Error> {
    let Source::Parameters { thread, dims, .. } = body.source else { return Ok(0) };
    let size = |ty: Type<'c>| machine.size_of(ty);
    let has_barriers = body.function.calls().into_iter().any(is_barrier);
    // Where threads run one after the other all the same, a barrier would be one too many.
    if !has_barriers && !lanes::can_run(body, LANES, &size) {
        return Ok(0);
    }
    let mut done = HashSet::new();
    for count in 0..LOOPS {
        let search = Search::new(body.function, thread, &size);
        let Some(found) = search.find(&done) else { return Ok(count) };
        done.insert(found.header);
        done.insert(build::rounds(unit, &search, dims, &found));
        machine.run_on_function(body.function, CANONICAL)?;
    }
    Ok(LOOPS)
}
