//! Interchange of grid-stride loops with the loop over the threads of a block.
//!
//! Needs: a lowered body, before region formation. Guarantees: the same results, with barriers only where all
//! threads of the block take an iteration together. The method is
//! [loop interchange](https://en.wikipedia.org/wiki/Loop_interchange), guarded by a run-time check.
//!
//! In a grid-stride loop threads take elements a whole grid apart. A vector of threads that runs it from
//! the first iteration to the last touches another page of memory in each, and the next vector fetches
//! the cache lines beside them again. The loop gets a copy in which all vectors of the block take an
//! iteration before any takes the next, so that a block reads and writes consecutive memory:
//!
//! ```text
//! if i < n { do { body(i); i += step } while i < n }
//!
//! if all threads take two iterations, and iterations are far apart {
//!     do { barrier; body(i); i += step } while all threads have i < n
//! }
//! while i < n { body(i); i += step }
//! ```
//!
//! What "all threads" do is known from the first and the last of them, where the number that decides
//! grows evenly from thread to thread ([`affine`]). The barrier is one between regions like any other.
//! In each iteration memory is asked for what the one after the next reads: processors fetch ahead only
//! what is near. No kernel can tell: threads do not wait for each other where there is no barrier of
//! theirs, and loops with anything by which they could are left alone.

mod affine;
mod build;
mod candidate;
mod search;
mod single_iterations;

use std::collections::HashSet;

use kernelmill_llvm::{ir::Type, machine::Machine};

use super::{
    body::Body,
    context::{Source, is_barrier},
    vectorize,
};
use crate::{Error, passes::entry::Unit};
use search::Search;
pub(super) use single_iterations::SingleIterations;

/// Drops what was built twice, and brings loops back into the form that regions are built from.
const CANONICAL: &str = "early-cse,loop-simplify,lcssa";

/// So many loops of a kernel at most.
const LOOPS: u32 = 4;
/// The threads of a vector, where it is asked whether there can be vectors at all.
const LANES: u32 = 4;
/// Gives loops of a body iterations that all threads of a block take together; how many.
pub(super) fn loops<'c>(
    unit: &Unit<'_, 'c>,
    machine: &Machine,
    body: &Body<'c>,
) -> Result<u32, Error> {
    let Source::Parameters { thread, dims, .. } = body.source else { return Ok(0) };
    let size = |ty: Type<'c>| machine.size_of(ty);
    let has_barriers = body.function.calls().into_iter().any(is_barrier);
    // Where threads run one after the other all the same, a barrier would be one too many.
    if !has_barriers && !vectorize::can_run(body, LANES, &size) {
        return Ok(0);
    }
    let mut done = HashSet::new();
    for count in 0..LOOPS {
        let search = Search::new(body.function, thread, &size);
        let Some(found) = search.find(&done) else { return Ok(count) };
        done.insert(found.header);
        done.insert(build::interchange(unit, &search, dims, &found));
        machine.run_on_function(body.function, CANONICAL)?;
    }
    Ok(LOOPS)
}
