//! Runs the threads of a block in groups of neighbours along x, each a vector's lanes.
//!
//! A kernel's body is cut at its barriers into regions ([`plan`]), all threads of the block pass
//! through one before any enters the next. For each region a function is built that runs it for a
//! group: what is uniform for the group is computed once, what grows by a constant as a start and
//! a step, everything else as vectors ([`group`], [`instruction`], [`memory`]). Where threads of a
//! group go different ways, the blocks of all ways are built one after the other under masks
//! ([`part`]). What is alive across a barrier is kept in memory ([`state`]). A thread that panics
//! ends the block ([`mod@panic`]). With one lane the same makes plain loops over the threads.
//!
//! Nothing is built that is not proven right: barriers are uniform, or the kernel is a coroutine.

mod analysis;
mod block_function;
mod emission;
mod layout;

use kernelmill_llvm::ir::{Type, Value};

use super::{
    body::Body,
    context::Source,
    instructions::{ends_at_barrier, writes_panic},
    lowering::block_source,
    uniformity::{Asked, Flow, Uniformity},
};
use crate::{ScalarReason, target::Unit};
use analysis::{legality, plan::Plan};
use emission::{code::Kind, function::build};
pub(super) use layout::block_memory::{Blocks, OWN_MEMORY};
use layout::context_arrays::State;

/// A function that runs a whole block in groups, with the bytes that it keeps for each thread.
pub(super) struct Run<'c> {
    /// The function, and then those that it consists of.
    pub(super) functions: Vec<Value<'c>>,
    pub(super) bytes_of_thread: u64,
    /// Whether it is for blocks of one size.
    pub(super) is_sized: bool,
}

/// Whether a body without barriers can be run in groups of `lanes`.
pub(super) fn can_run<'c>(body: &Body<'c>, lanes: u32, size: &dyn Fn(Type<'c>) -> u64) -> bool {
    let Source::Parameters { thread, .. } = body.source else { return false };
    let plan = Plan::new(body.function, lanes, size, thread[0]);
    plan.and_then(|plan| legality::check(&plan)).is_ok()
}

/// Builds the function that runs a block of a kernel in groups of `lanes`; `Err` says why that
/// cannot be.
pub(super) fn run<'c>(
    unit: &Unit<'_, 'c>,
    body: &Body<'c>,
    symbol: &str,
    (lanes, blocks): (u32, Blocks<'c>),
    size: &dyn Fn(Type<'c>) -> u64,
) -> Result<Run<'c>, ScalarReason> {
    let Source::Parameters { thread, index, .. } = body.source else {
        unreachable!("the body of a coroutine is not run by a loop over threads")
    };
    let plan = Plan::new(body.function, lanes, size, thread[0])?;
    legality::check(&plan)?;
    let flow = Flow::cut(body.function, writes_panic, ends_at_barrier);
    let asked = Asked { lanes: 1, source: &block_source(thread), size };
    let of_block = Uniformity::new(body.function, &flow, &asked);
    let state = State::new(&plan, &of_block, size)?;
    // What a group's place decides is folded then, and memory is handed out to no other function.
    let unrolled = matches!(blocks, Blocks::Of { unroll: true, .. });
    let mut groups = Vec::new();
    let mut functions = Vec::new();
    for region in 0..plan.regions.len() {
        let build = |plan: &Plan<'c>, kind| build(unit, plan, &state, size, region, kind);
        let tail = (lanes > 1 && !unrolled).then(|| build(&plan, Kind::Any)).transpose();
        let any = tail.as_ref().copied().ok().flatten();
        let agreed = any.and_then(|_| plan.agreed(size, (thread[0], index[0])));
        let agreed = agreed.and_then(|plan| build(&plan, Kind::Full { any }).ok());
        let full = agreed.map_or_else(|| build(&plan, Kind::Full { any }), Ok);
        functions.extend(full.iter().chain(tail.iter().flatten()).copied());
        groups.push((full, tail));
    }
    let groups: Result<Vec<_>, _> = groups
        .into_iter()
        .map(|(full, tail)| Ok(block_function::Functions { full: full?, tail: tail? }))
        .collect();
    let groups = match groups {
        Ok(groups) => groups,
        Err(why) => {
            functions.into_iter().for_each(Value::delete_function);
            return Err(why);
        }
    };
    functions
        .insert(0, block_function::block(unit, body, symbol, (&plan, &state, blocks), &groups));
    let is_sized = matches!(blocks, Blocks::Of { .. });
    Ok(Run { functions, bytes_of_thread: state.bytes_of_thread, is_sized })
}
