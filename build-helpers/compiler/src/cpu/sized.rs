//! Blocks of a size that is known when a kernel is compiled.
//!
//! A kernel that waits at barriers gets a body of its own for blocks of the size that its author
//! says: loops around barriers are unrolled where the number of their rounds is known then.

use std::fmt;

use kernelmill_artifact::{Dimension, Signature};
use kernelmill_llvm::{
    ir::{Builder, ModuleExt, Opcode, Place, Type, Value},
    machine::Machine,
};

use super::{
    body::Body,
    context::{BARRIER, Source, is_barrier, uses_shared},
    copy, cut,
    lanes::{self, Blocks, Run, ends_at_barrier, writes_panic},
    operation::{Operation, operations},
    registers,
    road::block_source,
    size::{self, Sizes},
    uniformity::{Asked, Flow, Uniformity},
};
use crate::{Error, ir::reachable, passes::entry::Unit};

/// Unrolls what is known now; twice, for loops whose rounds depend on a loop around them.
const SIMPLIFY: &str = "sroa<modify-cfg>,early-cse<memssa>,instcombine<no-verify-fixpoint>,\
    simplifycfg,loop-simplify,lcssa,loop(indvars,loop-unroll-full),early-cse<memssa>,\
    instcombine<no-verify-fixpoint>,simplifycfg,loop-simplify,lcssa,loop(indvars,loop-unroll-full),\
    sroa<modify-cfg>,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,\
    lower-switch,loop-simplify,lcssa";

/// Makes little of code before it is copied, and before LLVM's other passes.
const PART: &str = "sroa<modify-cfg>,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg";

/// Folds what is known of each group.
const FOLD: &str = "early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg";

/// The size of the blocks that a function is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockSize {
    pub(super) threads: [u32; 3],
    /// Whether no launch can have another one: the run time refuses it.
    pub(super) is_exact: bool,
}

impl BlockSize {
    /// The size that a kernel is mostly launched with, if its author says so: the exact one, or the
    /// largest one along x.
    pub(super) fn of(signature: &Signature) -> Option<Self> {
        let limits = &signature.limits;
        if limits.block != [0; 3] {
            return Some(Self { threads: limits.block, is_exact: true });
        }
        let is_row = matches!(signature.dimension, Dimension::One | Dimension::Any);
        (is_row && limits.max_block_threads > 0)
            .then_some(Self { threads: [limits.max_block_threads, 1, 1], is_exact: false })
    }

    /// The groups of so many threads that a block has; `None` where one of them is not full.
    pub(super) fn groups(self, lanes: u32) -> Option<u32> {
        let [row, height, depth] = self.threads;
        (lanes > 1 && row.is_multiple_of(lanes)).then_some(row / lanes * height * depth)
    }

    /// Whether each group of a block can have code of its own, from a body that is cut at its
    /// barriers: it goes through all of it once, and there is not too much.
    fn has_room(self, body: Value<'_>, lanes: u32) -> bool {
        let Some(groups) = self.groups(lanes) else { return false };
        let flow = Flow::cut(body, writes_panic, ends_at_barrier);
        flow.loops.is_empty() && size::unrolled(body, groups) <= size::UNROLLED
    }
}

impl fmt::Display for BlockSize {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.threads {
            [width, 1, 1] => write!(formatter, "{width}"),
            [width, height, 1] => write!(formatter, "{width} x {height}"),
            [width, height, depth] => write!(formatter, "{width} x {height} x {depth}"),
        }
    }
}

/// Whether nothing but a kernel's own code uses its shared memory, all of whose size is known.
pub(super) fn has_shared_alone(kernel: Value<'_>) -> bool {
    let is_dynamic = |(_, operation): &(Value<'_>, Operation)| {
        matches!(operation, Operation::DynamicShared | Operation::DynamicSharedBytes)
    };
    let others = reachable(kernel).into_iter().filter(|it| it.is_function() && *it != kernel);
    !operations(kernel).iter().any(is_dynamic) && !others.into_iter().any(uses_shared)
}

/// A kernel for blocks of a known size.
pub(super) struct Known<'c> {
    pub(super) block: BlockSize,
    body: Body<'c>,
    shared_bytes: Option<u64>,
}

impl<'c> Known<'c> {
    /// Makes the body of a kernel one for such blocks; `None` where that does not pay.
    pub(super) fn new(
        unit: &Unit<'_, 'c>,
        machine: &Machine,
        body: &Body<'c>,
        (block, shared_bytes): (BlockSize, Option<u64>),
    ) -> Result<Option<Self>, Error> {
        let waits = body.function.calls().into_iter().any(is_barrier);
        if block.groups(MOST_LANES).is_none() || !(waits || block.is_exact) {
            return Ok(None);
        }
        for unroll in [waits, false] {
            let copy = copy_for(unit, machine, body, (block, unroll))?;
            let proven = are_reached_together(machine, &copy);
            cut::at_barriers(unit, copy.function);
            cut::one_return(unit, copy.function);
            let fits = unroll && block.has_room(copy.function, MOST_LANES);
            if proven && (fits || (!unroll && block.is_exact)) {
                return Ok(Some(Self { block, body: copy, shared_bytes }));
            }
            copy.function.delete_function();
            if !unroll {
                break;
            }
        }
        Ok(None)
    }

    /// The function for groups of so many threads, if there can be one.
    pub(super) fn run(
        &self,
        unit: &Unit<'_, 'c>,
        symbol: &str,
        (lanes, sizes): (u32, &Sizes),
        size: &dyn Fn(Type<'c>) -> u64,
    ) -> Option<Run<'c>> {
        let groups = self.block.groups(lanes)?;
        let Self { block, shared_bytes, .. } = *self;
        let body = self.body.function;
        let unroll = block.has_room(body, lanes) && sizes.unroll(body, groups);
        if !unroll && !block.is_exact {
            return None;
        }
        let blocks = Blocks::Of { threads: block.threads, unroll, shared_bytes };
        lanes::run(unit, &self.body, symbol, (lanes, blocks), size).ok()
    }
}

/// The most threads of a group.
const MOST_LANES: u32 = 16;

/// A copy of a body for blocks of a size.
fn copy_for<'c>(
    unit: &Unit<'_, 'c>,
    machine: &Machine,
    body: &Body<'c>,
    (block, unroll): (BlockSize, bool),
) -> Result<Body<'c>, Error> {
    let name = format!("{}.sized", body.function.name());
    let copy = body.with_function(copy::function(unit, body.function, &name));
    let Source::Parameters { thread, dims, .. } = copy.source else {
        return Err(Error::Internal(format!("{name} is a coroutine")));
    };
    let word = Type::int(unit.context, 32);
    for axis in 0..3 {
        dims[axis].replace_with(word.constant(u64::from(block.threads[axis])));
        if block.threads[axis] == 1 {
            thread[axis].replace_with(word.constant(0));
        }
    }
    // A barrier must not come under other conditions, but rounds with one may follow each other.
    let barrier = unit.module.declare(BARRIER, Type::void(unit.context).function(&[]));
    barrier.add_attribute(unit.context, Place::Function, "convergent", 0);
    if unroll {
        unroll_loops(unit, copy.function);
    }
    machine.run_on_function(copy.function, SIMPLIFY)?;
    end_at_panics(unit, copy.function);
    Ok(copy)
}

/// Lets threads end where they panic, instead of where others end too.
fn end_at_panics<'c>(unit: &Unit<'_, 'c>, body: Value<'c>) {
    let builder = Builder::new(unit.context);
    for block in body.blocks().into_iter().filter(|block| writes_panic(*block)) {
        let [next] = block.successors()[..] else { continue };
        let [end] = next.instructions()[..] else { continue };
        let (Opcode::Ret, Some(leave)) = (end.opcode(), block.terminator()) else { continue };
        leave.erase();
        builder.at_end(block);
        builder.ret(None);
    }
}

/// Asks for the loops around barriers to be unrolled.
fn unroll_loops<'c>(unit: &Unit<'_, 'c>, body: Value<'c>) {
    let flow = Flow::new(body, writes_panic);
    for found in &flow.loops {
        let blocks = found.nodes.iter().map(|node| flow.blocks[*node]);
        if !blocks.into_iter().any(ends_at_barrier) {
            continue;
        }
        for latch in &flow.graph.predecessors[found.header] {
            if found.nodes.contains(latch) {
                flow.blocks[*latch].unroll_loop(unit.context);
            }
        }
    }
}

/// Whether all threads of a block reach each barrier together, still.
fn are_reached_together<'c>(machine: &Machine, body: &Body<'c>) -> bool {
    let Source::Parameters { thread, .. } = body.source else { return false };
    let size = |ty: Type<'c>| machine.size_of(ty);
    let flow = Flow::new(body.function, writes_panic);
    let asked = Asked { lanes: 1, source: &block_source(thread), size: &size };
    let found = Uniformity::new(body.function, &flow, &asked);
    let calls = body.function.calls().into_iter();
    calls
        .filter(|call| is_barrier(*call))
        .all(|barrier| found.is_reached_together(flow.number(barrier.block())))
}

/// A function that runs blocks of one size, and those it consists of.
pub(super) struct Sized<'c> {
    run: Value<'c>,
    parts: Vec<Value<'c>>,
    lanes: u32,
}

impl<'c> Sized<'c> {
    pub(super) fn new(built: Run<'c>, lanes: u32) -> Self {
        let mut parts = built.functions;
        let run = parts.remove(0);
        Self { run, parts, lanes }
    }
}

/// Makes each function that runs blocks of one size one piece of code, where what is known is
/// folded, and shared memory is held in registers if it can be.
pub(super) fn finish<'c>(
    unit: &Unit<'_, 'c>,
    machine: &Machine,
    all: &[&Sized<'c>],
) -> Result<(), Error> {
    if all.is_empty() {
        return Ok(());
    }
    for part in all.iter().flat_map(|sized| &sized.parts) {
        machine.run_on_function(*part, PART)?;
    }
    machine.run(unit.module, "always-inline")?;
    for sized in all {
        machine.run_on_function(sized.run, FOLD)?;
        registers::hold(unit, sized.run, sized.lanes, &|ty| machine.size_of(ty));
        machine.run_on_function(sized.run, PART)?;
    }
    Ok(())
}
