//! Specialisation on the block size.
//!
//! Needs: a lowered body, before region formation, and a block size that the kernel's author says.
//! Guarantees: a body of its own for blocks of just this size, split into regions whose barriers are
//! proven uniform again. Loops around barriers are unrolled by LLVM where their trip counts are then
//! known ([`llvm.loop.unroll.full`](https://llvm.org/docs/LangRef.html#llvm-loop-unroll-full-metadata)).
//! pocl specialises on the work-group size in the same way.

use kernelmill_artifact::{Dimension, Signature};
use kernelmill_llvm::{
    ir::{Builder, ModuleExt, Opcode, Place, Type, Value},
    machine::Machine,
};

use super::{
    block_shape::{BlockShape, lanes_of_row},
    body::Body,
    code_size::{self, Sizes},
    context::{BARRIER, Source, is_barrier, uses_shared},
    instructions::{ends_at_barrier, writes_panic},
    lowering::block_source,
    operation::{Operation, operations},
    promotion,
    uniformity::{Asked, Flow, Uniformity},
    vectorize::{self, Blocks, Run, Vectors},
};
use crate::{
    Error,
    ir::{copy_function, reachable},
    passes::entry::Unit,
};

/// Unrolls what is known now; twice, for loops whose iterations depend on a loop around them.
const SIMPLIFY: &str = "sroa<modify-cfg>,early-cse<memssa>,instcombine<no-verify-fixpoint>,\
    simplifycfg,loop-simplify,lcssa,loop(indvars,loop-unroll-full),early-cse<memssa>,\
    instcombine<no-verify-fixpoint>,simplifycfg,loop-simplify,lcssa,loop(indvars,loop-unroll-full),\
    sroa<modify-cfg>,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,\
    lower-switch,loop-simplify,lcssa";

/// Makes little of code before it is copied, and before LLVM's other passes.
const PART: &str = "sroa<modify-cfg>,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg";

/// Folds what is known of each vector.
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

    /// The threads of its vectors where a processor has vectors of `most`: fewer in blocks that are all narrow along x, but
    /// for those that may be better run along y.
    fn lanes(self, most: u32) -> u32 {
        let [width, height, _] = self.threads;
        let is_high = width * height.div_ceil(most) < height;
        if self.is_exact && !is_high { lanes_of_row(width, most) } else { most }
    }

    /// The vectors of so many threads that a block has; `None` where one of them is not full.
    pub(super) fn vectors(self, lanes: u32) -> Option<u32> {
        let [row, height, depth] = self.threads;
        (lanes > 1 && row.is_multiple_of(lanes)).then_some(row / lanes * height * depth)
    }

    /// Whether each vector of a block can have code of its own, from a body that is split at its
    /// barriers: it goes through all of it once, and there is not too much.
    fn fits_unrolled(self, body: Value<'_>, lanes: u32) -> bool {
        let Some(vectors) = self.vectors(lanes) else { return false };
        let flow = Flow::of_regions(body, writes_panic, ends_at_barrier);
        flow.loops.is_empty() && code_size::unrolled(body, vectors) <= code_size::UNROLLED
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
pub(super) struct SpecializedBody<'c> {
    pub(super) block: BlockSize,
    body: Body<'c>,
    shared_bytes: Option<u64>,
}

impl<'c> SpecializedBody<'c> {
    /// Makes the body of a kernel one for such blocks; `None` where that does not pay.
    pub(super) fn new(
        unit: &Unit<'_, 'c>,
        machine: &Machine,
        body: &Body<'c>,
        block: BlockSize,
        shared_bytes: Option<u64>,
    ) -> Result<Option<Self>, Error> {
        let waits = body.function.calls().into_iter().any(is_barrier);
        let lanes = block.lanes(MOST_LANES);
        if block.vectors(lanes).is_none() || !(waits || block.is_exact) {
            return Ok(None);
        }
        for unroll in [waits, false] {
            let copy = copy_for(unit, machine, body, SpecializedCopy { block, unroll })?;
            let proven = are_reached_together(machine, &copy);
            copy.split_into_regions(unit);
            let fits = unroll && block.fits_unrolled(copy.function, lanes);
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

    /// The function for vectors of so many threads, if there can be one.
    pub(super) fn run(
        &self,
        unit: &Unit<'_, 'c>,
        symbol: &str,
        lanes: u32,
        sizes: &Sizes,
        size: &dyn Fn(Type<'c>) -> u64,
    ) -> Option<Run<'c>> {
        let lanes = self.block.lanes(lanes);
        let vectors = self.block.vectors(lanes)?;
        let Self { block, shared_bytes, .. } = *self;
        let body = self.body.function;
        let unroll = block.fits_unrolled(body, lanes) && sizes.unroll(body, vectors);
        if !unroll && !block.is_exact {
            return None;
        }
        let blocks = Blocks::Of { threads: block.threads, unroll, shared_bytes };
        let shape = BlockShape::Exact(block.threads);
        let vectors = Vectors { lanes, blocks, shape, columns: None, narrow: None, single: None };
        vectorize::run(unit, &self.body, symbol, vectors, size).ok()
    }
}

/// The most threads of a vector.
const MOST_LANES: u32 = 16;

/// What a copy of a body is for.
#[derive(Clone, Copy)]
struct SpecializedCopy {
    block: BlockSize,
    /// Whether its loops around barriers are unrolled.
    unroll: bool,
}

/// A copy of a body for blocks of a size.
fn copy_for<'c>(
    unit: &Unit<'_, 'c>,
    machine: &Machine,
    body: &Body<'c>,
    asked: SpecializedCopy,
) -> Result<Body<'c>, Error> {
    let SpecializedCopy { block, unroll } = asked;
    let name = format!("{}.specialized", body.function.name());
    let copy = body.with_function(copy_function(unit.context, unit.module, body.function, &name));
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
    // A barrier must not come under other conditions, but iterations with one may follow each other.
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
pub(super) fn end_at_panics<'c>(unit: &Unit<'_, 'c>, body: Value<'c>) {
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
    let asked = Asked { lanes: 1, source: &block_source(thread), size: &size, element: &|_| None };
    let found = Uniformity::new(body.function, &flow, &asked);
    let calls = body.function.calls().into_iter();
    calls
        .filter(|call| is_barrier(*call))
        .all(|barrier| found.is_reached_together(flow.number(barrier.block())))
}

/// A function that runs blocks of one size, and those it consists of.
pub(super) struct SpecializedFunction<'c> {
    run: Value<'c>,
    parts: Vec<Value<'c>>,
    lanes: u32,
}

impl<'c> SpecializedFunction<'c> {
    pub(super) fn new(built: Run<'c>) -> Self {
        let lanes = built.lanes;
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
    all: &[&SpecializedFunction<'c>],
) -> Result<Vec<bool>, Error> {
    if all.is_empty() {
        return Ok(Vec::new());
    }
    for part in all.iter().flat_map(|specialized| &specialized.parts) {
        machine.run_on_function(*part, PART)?;
    }
    machine.run(unit.module, "always-inline")?;
    let mut promoted = Vec::new();
    for SpecializedFunction { run, lanes, .. } in all {
        machine.run_on_function(*run, FOLD)?;
        promoted.push(promotion::promote(unit, *run, *lanes, &|ty| machine.size_of(ty)));
        machine.run_on_function(*run, PART)?;
    }
    Ok(promoted)
}
