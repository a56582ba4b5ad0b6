//! Whole-function vectorisation of a kernel's regions, after
//! [Karrenberg and Hack](https://doi.org/10.1109/CGO.2011.5764682) and
//! [ISPC](https://doi.org/10.1109/InPar.2012.6339601).
//!
//! Needs: a lowered body that is split into regions, whose barriers are uniform. Guarantees: a function
//! that runs a block, or the reason why there can be none.
//!
//! Neighbouring threads along x are the lanes of a vector, or along y where [`analysis::direction`] says so: for blocks that
//! have many threads along y, where these access memory in rows, or for blocks that are narrow along x. All threads of the
//! block pass through one region before any enters the next. [`analysis`] plans the regions and their divergent parts,
//! [`layout`] says how values are held, and [`emission`] builds the bodies of each region: a masked one
//! for any vector, and an unmasked one for vectors with a thread in every lane. [`block_function`] runs
//! them. With one lane the result is a scalar loop over the threads.

mod analysis;
mod arrivals;
mod block_function;
mod emission;
mod jammed;
mod layout;
mod long_vectors;
mod runner;

use kernelmill_llvm::ir::{Type, Value};

use super::{
    block_shape::BlockShape,
    body::Body,
    code_size,
    context::Source,
    instructions::{ends_at_barrier, writes_panic},
    lowering::block_source,
    uniformity::{Asked, Flow, Uniformity},
};
use crate::{ScalarReason, passes::entry::Unit};
pub(super) use analysis::private_arrays::{Uses, copied_bytes};
use analysis::{
    direction::{self, AlongY},
    legality,
    plan::Plan,
    profitability,
};
pub(super) use block_function::{ColumnsCall, NarrowCall, SingleCall};
use emission::{code::BodyKind, function::build};
pub(super) use layout::block_memory::{Blocks, OWN_MEMORY, ROW, SpecializedCall};
use layout::{block_memory::Layout, context_arrays::ContextArrays};

/// A function that runs a whole block in vectors, with the bytes for each thread that the run time gives it.
pub(super) struct Run<'c> {
    /// The function, and then those that it consists of.
    pub(super) functions: Vec<Value<'c>>,
    /// The threads of its vectors.
    pub(super) lanes: u32,
    pub(super) bytes_of_thread: u64,
    /// Whether it is for blocks of one size.
    pub(super) is_specialized: bool,
    /// What runs some blocks in vectors along y.
    pub(super) columns: Option<ColumnsCall<'c>>,
    /// The rows of a block that are run at once; 0 where none are.
    pub(super) jammed_rows: u32,
    /// Whether blocks whose rows have [`ROW`] threads have a function of their own.
    pub(super) has_usual_rows: bool,
    /// The values that blocks have a version for in which they are affine.
    pub(super) affine_values: u64,
    /// The threads of the vectors that stand for several of [`Self::lanes`]; 0 where there are none.
    pub(super) long_lanes: u32,
}

/// The vectors that a block's threads are run in.
#[derive(Clone, Copy)]
pub(super) struct Vectors<'c> {
    /// The threads of a vector.
    pub(super) lanes: u32,
    /// The blocks that the function is for.
    pub(super) blocks: Blocks<'c>,
    /// What is known of the size of all blocks of the kernel.
    pub(super) shape: BlockShape,
    /// What runs some blocks in shorter vectors along y, where there is such already.
    pub(super) columns: Option<ColumnsCall<'c>>,
    /// What runs blocks that are narrow along x in shorter vectors along x.
    pub(super) narrow: Option<NarrowCall<'c>>,
    /// What runs blocks whose threads take one iteration of their grid-stride loops.
    pub(super) single: Option<SingleCall<'c>>,
}

impl<'c> Vectors<'c> {
    /// Whether blocks whose rows have [`ROW`] threads have a function of their own, which takes as long to compile as that of
    /// all blocks: those of a kernel of two dimensions with barriers.
    fn has_usual_rows(&self, plan: &Plan<'c>, y: Value<'c>) -> bool {
        let is_for_any = matches!(self.blocks, Blocks::Any | Blocks::AnyBut(_));
        let has_barriers = plan.regions.len() > 1;
        let is_short = code_size::instructions(plan.function) <= code_size::USUAL_ROWS;
        let is_of_vectors = self.lanes > 1 && plan.axis == 0;
        let is_of_planes = self.shape == BlockShape::Any && y.is_used();
        is_for_any && is_of_vectors && is_of_planes && has_barriers && is_short
    }
}

/// Whether a body without barriers can be run in vectors of `lanes`.
pub(super) fn can_run<'c>(body: &Body<'c>, lanes: u32, size: &dyn Fn(Type<'c>) -> u64) -> bool {
    let Source::Parameters { thread, .. } = body.source else { return false };
    let plan = Plan::new(body.function, lanes, size, (0, thread[0]));
    plan.and_then(|plan| legality::check(&plan, size)).is_ok()
}

/// Whether the threads of a body, one after the other, are expected to take less time than vectors of `lanes`.
pub(super) fn is_better_scalar<'c>(
    body: &Body<'c>,
    lanes: u32,
    size: &dyn Fn(Type<'c>) -> u64,
) -> bool {
    let Source::Parameters { thread, .. } = body.source else { return false };
    let plan = Plan::new(body.function, lanes, size, (0, thread[0]));
    plan.is_ok_and(|plan| {
        legality::check(&plan, size).is_ok() && profitability::is_better_scalar(&plan, size)
    })
}

/// Builds the function that runs a block of a kernel in vectors of `lanes`; `Err` says why that
/// cannot be.
pub(super) fn run<'c>(
    unit: &Unit<'_, 'c>,
    body: &Body<'c>,
    symbol: &str,
    vectors: Vectors<'c>,
    size: &dyn Fn(Type<'c>) -> u64,
) -> Result<Run<'c>, ScalarReason> {
    let Vectors { lanes, .. } = vectors;
    let Source::Parameters { thread, .. } = body.source else {
        unreachable!("the body of a coroutine is not run by a loop over threads")
    };
    let plan = Plan::new(body.function, lanes, size, (0, thread[0]))?;
    legality::check(&plan, size)?;
    let columns = match vectors.columns {
        // Few kernels are launched in narrow blocks: those have the shorter vectors, which take no time to compile again.
        Some(shorter) if !shorter.along_y.high => Some((shorter, None)),
        _ => columns(unit, body, symbol, vectors, &plan, size),
    };
    let call = columns.as_ref().map(|(call, _)| *call);
    let narrower = vectors.shape.lanes(lanes);
    let mut built = if narrower < lanes && call.is_none() {
        let vectors = Vectors { lanes: narrower, ..vectors };
        let plan = Plan::new(body.function, narrower, size, (0, thread[0]))?;
        legality::check(&plan, size)?;
        directed(unit, body, symbol, (vectors, None), &plan, size)?
    } else {
        directed(unit, body, symbol, (vectors, call), &plan, size)?
    };
    built.columns = call;
    if let Some((_, Some(columns))) = columns {
        // Both run in the same memory.
        built.bytes_of_thread = built.bytes_of_thread.max(columns.bytes_of_thread);
        built.functions.extend(columns.functions);
    }
    Ok(built)
}

/// The function that runs a block in vectors of neighbours along y; `None` where there are no blocks for it.
fn columns<'c>(
    unit: &Unit<'_, 'c>,
    body: &Body<'c>,
    symbol: &str,
    vectors: Vectors<'c>,
    plan: &Plan<'c>,
    size: &dyn Fn(Type<'c>) -> u64,
) -> Option<(ColumnsCall<'c>, Option<Run<'c>>)> {
    let Source::Parameters { thread, .. } = body.source else { return None };
    let is_for_any = matches!(vectors.blocks, Blocks::Any | Blocks::AnyBut(_));
    let is_row = vectors.shape == BlockShape::Row;
    let lanes = vectors.lanes;
    if lanes == 1 || is_row || !is_for_any || !thread[1].is_used() {
        return None;
    }
    let other = Plan::new(body.function, lanes, size, (1, thread[1])).ok()?;
    let along_y = direction::along_y(&other, plan, vectors.shape, size);
    if along_y == AlongY::NEVER || legality::check(&other, size).is_err() {
        return None;
    }
    let any = Vectors { blocks: Blocks::Any, narrow: None, single: None, ..vectors };
    let built = directed(unit, body, symbol, (any, None), &other, size).ok()?;
    Some((ColumnsCall { function: built.functions[0], lanes, along_y }, Some(built)))
}

/// Builds the function that runs a block in vectors along the axis of a plan; some blocks are left to `columns`.
fn directed<'c>(
    unit: &Unit<'_, 'c>,
    body: &Body<'c>,
    symbol: &str,
    (vectors, columns): (Vectors<'c>, Option<ColumnsCall<'c>>),
    plan: &Plan<'c>,
    size: &dyn Fn(Type<'c>) -> u64,
) -> Result<Run<'c>, ScalarReason> {
    let Vectors { lanes, blocks, narrow, single, .. } = vectors;
    let Source::Parameters { thread, index, .. } = body.source else {
        unreachable!("asked before a plan was made")
    };
    let flow = Flow::of_regions(body.function, writes_panic, ends_at_barrier);
    let asked = Asked { lanes: 1, source: &block_source(thread), size, element: &|_| None };
    let of_block = Uniformity::new(body.function, &flow, &asked);
    let arrays = ContextArrays::new(plan, &of_block, size)?;
    // With code for each vector its index is constant, and memory is handed out to no other function.
    let unrolled = matches!(blocks, Blocks::Of { unroll: true, .. });
    let request =
        Request { unit, plan, arrays: &arrays, size, place: (thread[plan.axis], index[plan.axis]) };
    let built =
        (0..plan.regions.len()).map(|region| request.region(region, lanes > 1 && !unrolled));
    let built: Vec<_> = built.collect();
    let mut functions: Vec<_> = built.iter().flat_map(Bodies::functions).collect();
    let affine_values = built.iter().map(|it| it.affine_values).max().unwrap_or(0) as u64;
    let bodies: Result<Vec<_>, _> = built.into_iter().map(Bodies::complete).collect();
    let mut bodies = match bodies {
        Ok(bodies) => bodies,
        Err(why) => {
            functions.into_iter().for_each(Value::delete_function);
            return Err(why);
        }
    };
    if matches!(blocks, Blocks::Any | Blocks::AnyBut(_)) && lanes > 1 {
        bodies[0].long = request.long_vectors(bodies[0].unmasked);
        functions.extend(bodies[0].long.iter().flat_map(|it| [it.function, it.apart]));
    }
    let long_lanes = bodies[0].long.map_or(0, |it| it.lanes);
    let can_be_jammed = plan.axis == 0 && plan.regions.len() == 1;
    let masked = bodies[0].masked.filter(|_| can_be_jammed);
    let jammed = masked.and_then(|masked| request.jammed(masked, thread));
    let jammed = jammed.as_ref();
    functions.extend(jammed.iter().flat_map(|it| it.bodies.all()));
    let layout = Layout::new(&arrays, blocks);
    let bytes_of_thread = layout.scratch_bytes.map_or(arrays.bytes_of_thread, |_| 0);
    let has_usual_rows = vectors.has_usual_rows(plan, thread[1]);
    let request = block_function::Request {
        unit,
        body,
        symbol,
        plan,
        arrays: &arrays,
        blocks,
        layout,
        columns,
        narrow,
        single,
        jammed,
        has_usual_rows,
    };
    functions.splice(0..0, block_function::block(&request, &bodies));
    let is_specialized = matches!(blocks, Blocks::Of { .. });
    let jammed_rows = jammed.map_or(0, |it| it.rows);
    Ok(Run {
        functions,
        lanes,
        bytes_of_thread,
        is_specialized,
        columns: None,
        jammed_rows,
        has_usual_rows,
        affine_values,
        long_lanes,
    })
}

/// What the bodies of regions are built from.
struct Request<'r, 'a, 'c> {
    unit: &'r Unit<'a, 'c>,
    plan: &'r Plan<'c>,
    arrays: &'r ContextArrays<'c>,
    size: &'r dyn Fn(Type<'c>) -> u64,
    /// The index along the vectors' axis of the thread and of the block.
    place: (Value<'c>, Value<'c>),
}

/// The bodies of a region, or why there is one missing.
struct Bodies<'c> {
    unmasked: Result<Value<'c>, ScalarReason>,
    masked: Result<Option<Value<'c>>, ScalarReason>,
    /// The affine values of the plan of the unmasked one.
    affine_values: usize,
}

impl<'c> Request<'_, '_, 'c> {
    /// Builds the bodies of a region, the masked one where it is asked for.
    fn region(&self, region: usize, has_masked: bool) -> Bodies<'c> {
        let build =
            |plan: &Plan<'c>, kind| build(self.unit, plan, self.arrays, self.size, region, kind);
        let body = has_masked.then(|| build(self.plan, BodyKind::Masked)).transpose();
        let masked = body.as_ref().copied().ok().flatten();
        let kind = BodyKind::Unmasked { masked };
        let speculated = masked.and_then(|_| self.plan.speculated(self.size, self.place));
        let count = |plan: &Plan<'c>| plan.affine.values.len();
        let speculated = speculated.and_then(|plan| Some((build(&plan, kind).ok()?, count(&plan))));
        let (unmasked, affine_values) = match speculated {
            Some((unmasked, count)) => (Ok(unmasked), count),
            None => (build(self.plan, kind), count(self.plan)),
        };
        Bodies { unmasked, masked: body, affine_values }
    }
}

impl<'c> Bodies<'c> {
    /// The functions that there are.
    fn functions(&self) -> Vec<Value<'c>> {
        self.unmasked.iter().chain(self.masked.iter().flatten()).copied().collect()
    }

    fn complete(self) -> Result<runner::Functions<'c>, ScalarReason> {
        let (unmasked, masked) = (self.unmasked?, self.masked?);
        Ok(runner::Functions { unmasked, masked, long: None })
    }
}
