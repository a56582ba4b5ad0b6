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

mod agreed;
mod anew;
mod assume;
mod check;
mod each;
mod form;
mod group;
mod instruction;
mod layout;
mod memory;
mod panic;
mod part;
mod plan;
mod range;
mod run;
mod state;
mod support;
mod values;

use kernelmill_llvm::ir::{Type, Value};

use super::{
    body::Body,
    context::Source,
    road::block_source,
    uniformity::{Asked, Flow, Uniformity},
};
use crate::passes::entry::Unit;
pub(super) use form::resize;
use group::{Kind, build};
pub(super) use layout::OWN_MEMORY;
use plan::Plan;
pub(super) use plan::{ends_at_barrier, writes_panic};
pub(super) use range::inverse;
use state::State;
pub(super) use state::is_harmless;
pub(super) use support::is_dropped;
pub(super) use values::phis;

/// A function that runs a whole block in groups, with the bytes that it keeps for each thread.
pub(super) struct Run<'c> {
    /// The function, and then those that it consists of.
    pub(super) functions: Vec<Value<'c>>,
    pub(super) bytes_of_thread: u64,
    /// Whether it is for blocks of one size.
    pub(super) is_sized: bool,
}

/// The blocks that a function is for.
#[derive(Clone, Copy)]
pub(super) enum Blocks<'c> {
    Any,
    /// Of any size; those of one have a function of their own.
    AnyBut([u32; 3], Value<'c>),
    /// Of this size, without a group that is not full.
    Of {
        threads: [u32; 3],
        /// Whether each group has code of its own.
        unroll: bool,
        /// The bytes of shared memory, where no other code uses that of a block.
        shared_bytes: Option<u64>,
    },
}

/// The threads of a row that memory is laid out for: a multiple of every number of lanes.
pub(super) const ROW: u64 = 16;

/// Whether a body without barriers can be run in groups of `lanes`.
pub(super) fn can_run<'c>(body: &Body<'c>, lanes: u32, size: &dyn Fn(Type<'c>) -> u64) -> bool {
    let Source::Parameters { thread, .. } = body.source else { return false };
    let plan = Plan::new(body.function, lanes, size, thread[0]);
    plan.and_then(|plan| support::check(&plan)).is_ok()
}

/// Builds the function that runs a block of a kernel in groups of `lanes`; `Err` says why that
/// cannot be.
pub(super) fn run<'c>(
    unit: &Unit<'_, 'c>,
    body: &Body<'c>,
    symbol: &str,
    (lanes, blocks): (u32, Blocks<'c>),
    size: &dyn Fn(Type<'c>) -> u64,
) -> Result<Run<'c>, &'static str> {
    let Source::Parameters { thread, index, .. } = body.source else {
        return Err("the body is a coroutine's");
    };
    let plan = Plan::new(body.function, lanes, size, thread[0])?;
    support::check(&plan)?;
    let flow = Flow::cut(body.function, plan::writes_panic, plan::ends_at_barrier);
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
        .map(|(full, tail)| Ok(run::Functions { full: full?, tail: tail? }))
        .collect();
    let groups = match groups {
        Ok(groups) => groups,
        Err(why) => {
            functions.into_iter().for_each(Value::delete_function);
            return Err(why);
        }
    };
    functions.insert(0, run::block(unit, body, symbol, (&plan, &state, blocks), &groups));
    let is_sized = matches!(blocks, Blocks::Of { .. });
    Ok(Run { functions, bytes_of_thread: state.bytes_of_thread, is_sized })
}
