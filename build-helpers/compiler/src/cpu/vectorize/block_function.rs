//! The function that runs a block: its memory, and which other function is for blocks of one kind.

use kernelmill_llvm::{
    inkwell::context::Context,
    ir::{Block, Builder, IntPredicate, Place, Type, Value},
};

use super::{
    analysis::{direction::AlongY, plan::Plan},
    arrivals::Exits,
    layout::{
        block_memory::{Blocks, Layout, OWN_ALIGN, OWN_MEMORY, ROW, SpecializedCall},
        context_arrays::ContextArrays,
    },
    runner::{BlockContext, Functions, JammedRows, PaddedRows, Runner, stack_bytes},
};
use crate::{
    cpu::{
        abi::{block, field},
        block_entry::{self, BlockEntry},
        body::Body,
        context::Source,
        warp_collectives,
    },
    passes::entry::Unit,
};

/// What the function of a block is built from.
pub(super) struct Request<'a, 'c> {
    pub(super) unit: &'a Unit<'a, 'c>,
    pub(super) body: &'a Body<'c>,
    pub(super) symbol: &'a str,
    pub(super) plan: &'a Plan<'c>,
    pub(super) arrays: &'a ContextArrays<'c>,
    pub(super) blocks: Blocks<'c>,
    pub(super) layout: Layout,
    /// The function that runs blocks in vectors along y, where there is one.
    pub(super) columns: Option<ColumnsCall<'c>>,
    /// The function that runs narrow blocks in shorter vectors, where there is one.
    pub(super) narrow: Option<NarrowCall<'c>>,
    /// The function that runs blocks whose threads take one iteration of their grid-stride loops, where there is one.
    pub(super) single: Option<SingleCall<'c>>,
    /// What runs several rows at once, where there is such.
    pub(super) jammed: Option<&'a JammedRows<'c>>,
    /// Whether blocks whose rows have [`ROW`] threads have a function of their own.
    pub(super) has_usual_rows: bool,
}

/// A function that runs blocks in vectors along y.
#[derive(Clone, Copy)]
pub(in crate::cpu) struct ColumnsCall<'c> {
    pub(super) function: Value<'c>,
    /// The threads of its vectors.
    pub(super) lanes: u32,
    /// The blocks that it is for.
    pub(in crate::cpu) along_y: AlongY,
}

/// A function that runs blocks which are narrow along x in vectors of fewer threads along x.
#[derive(Clone, Copy)]
pub(in crate::cpu) struct NarrowCall<'c> {
    pub(in crate::cpu) function: Value<'c>,
    /// The threads of its vectors. It is for blocks with no more threads along x.
    pub(in crate::cpu) lanes: u32,
}

/// A function that runs blocks whose threads take one iteration of their grid-stride loops.
#[derive(Clone, Copy)]
pub(in crate::cpu) struct SingleCall<'c> {
    pub(in crate::cpu) function: Value<'c>,
    /// The function that says whether a block is one of them.
    pub(in crate::cpu) holds: Value<'c>,
}

/// Builds the function of a block, and then those that it leaves some blocks to, from the same bodies.
pub(super) fn block<'c>(request: &Request<'_, 'c>, bodies: &[Functions<'c>]) -> Vec<Value<'c>> {
    let usual = request.has_usual_rows.then(|| function(request, bodies, Rows::Usual));
    let any = function(request, bodies, Rows::Any { usual });
    [any].into_iter().chain(usual).collect()
}

/// The rows of the blocks that a function is for.
#[derive(Clone, Copy)]
enum Rows<'c> {
    /// Of any length; those of [`ROW`] threads may have a function of their own.
    Any { usual: Option<Value<'c>> },
    /// Of [`ROW`] threads, as most blocks of two dimensions have: the vectors of a row are known, none lacks threads, and what
    /// is asked of `threadIdx.x` is a constant.
    Usual,
}

fn function<'c>(
    request: &Request<'_, 'c>,
    bodies: &[Functions<'c>],
    of_rows: Rows<'c>,
) -> Value<'c> {
    let &Request { unit, body, symbol, plan, arrays, blocks, layout, jammed, .. } = request;
    let context = unit.context;
    let suffix = match blocks {
        Blocks::Of { .. } => "_specialized",
        Blocks::Any | Blocks::AnyBut(_) if plan.axis == 1 => "_columns",
        Blocks::Narrow => "_narrow",
        Blocks::Any | Blocks::AnyBut(_) if matches!(of_rows, Rows::Usual) => "_rows",
        Blocks::Any | Blocks::AnyBut(_) => "",
    };
    let builder = Builder::new(context);
    let name = format!("{symbol}_run{}{suffix}", plan.lanes);
    let run = block_entry::new_function(unit, &builder, &name);
    let mut entry = BlockEntry::load(context, &builder, run, body);
    let word = Type::int(context, 32);
    match (blocks, of_rows) {
        (Blocks::Of { threads, .. }, _) => {
            entry.dims = threads.map(|size| word.constant(u64::from(size)));
        }
        (_, Rows::Usual) => entry.dims[0] = word.constant(ROW),
        (_, Rows::Any { usual }) => leave_some(request, &builder, run, &entry, usual),
    }
    let memory = Memory::new(request, &builder, &layout, &entry);
    let spilled = BlockContext::new(context, &builder, arrays.bytes_of_block);
    let next = builder.alloca(word);
    let rows = PaddedRows::new(context, &builder, entry.dims, plan.axis);
    let exits = Exits::new(context, &builder, plan, (memory.tables, entry.dims));
    let panicked = Block::append(context, run, "panicked");
    let of_block = entry.index.into_iter().chain(entry.dims).chain(entry.grid);
    let runner = Runner {
        unit,
        builder,
        function: run,
        plan,
        layout,
        arguments: entry.arguments,
        context: of_block.chain([entry.block, memory.tables, memory.shared]).collect(),
        current: entry.block,
        dims: entry.dims,
        arrays,
        threads: memory.threads,
        spilled,
        rows,
        next,
        exits,
        panicked,
        jammed,
    };
    runner.regions(bodies);
    runner.builder.at_end(panicked);
    runner.builder.ret(None);
    run
}

/// Leaves some blocks to functions that are for them.
fn leave_some<'c>(
    request: &Request<'_, 'c>,
    builder: &Builder<'c>,
    run: Value<'c>,
    entry: &BlockEntry<'c>,
    usual: Option<Value<'c>>,
) {
    let context = request.unit.context;
    if let Blocks::AnyBut(other) = request.blocks {
        call_specialized(context, builder, run, entry, other);
    }
    if let Some(columns) = request.columns {
        let lanes = [request.plan.lanes, columns.lanes];
        let is_for = columns.along_y.holds(context, builder, lanes, entry.dims);
        leave_to(context, builder, run, (is_for, columns.function));
    }
    if let Some(SingleCall { function, holds }) = request.single {
        let (word, pointer) = (Type::int(context, 32), Type::pointer(context, 0));
        let mut values = entry.arguments.clone();
        values.extend([word.constant(0); 3]);
        values.extend(entry.index.into_iter().chain(entry.dims).chain(entry.grid));
        values.extend([entry.block, pointer.null(), pointer.null()]);
        leave_to(context, builder, run, (builder.call(holds, &values), function));
    }
    if let Some(NarrowCall { function, lanes }) = request.narrow {
        let most = Type::int(context, 32).constant(u64::from(lanes));
        let is_narrow = builder.compare(IntPredicate::Ule, entry.dims[0], most);
        leave_to(context, builder, run, (is_narrow, function));
    }
    if let Some(usual) = usual {
        let row = Type::int(context, 32).constant(ROW);
        let is_usual = builder.compare(IntPredicate::Eq, entry.dims[0], row);
        leave_to(context, builder, run, (is_usual, usual));
    }
}

/// Leaves blocks of one size to the function that is for them.
fn call_specialized<'c>(
    context: &'c Context,
    builder: &Builder<'c>,
    run: Value<'c>,
    entry: &BlockEntry<'c>,
    specialized: SpecializedCall<'c>,
) {
    let SpecializedCall { threads, function } = specialized;
    let word = Type::int(context, 32);
    let same = entry.dims.into_iter().zip(threads).map(|(size, fixed)| {
        let fixed = word.constant(u64::from(fixed));
        builder.compare(IntPredicate::Eq, size, fixed)
    });
    if let Some(same) = same.reduce(|all, one| builder.and(all, one)) {
        leave_to(context, builder, run, (same, function));
    }
}

/// Calls another function in place of the rest where a condition holds.
fn leave_to<'c>(
    context: &'c Context,
    builder: &Builder<'c>,
    run: Value<'c>,
    (condition, function): (Value<'c>, Value<'c>),
) {
    function.add_attribute(context, Place::Function, "noinline", 0);
    let into = Block::append(context, run, "other");
    let other = Block::append(context, run, "any");
    builder.branch_if(condition, into, other);
    builder.at_end(into);
    builder.call(function, &run.parameters());
    builder.ret(None);
    builder.at_end(other);
}

/// The memory of a block.
struct Memory<'c> {
    /// The context arrays of the threads.
    threads: Value<'c>,
    shared: Value<'c>,
    /// The tables of warp collectives; null where there are none.
    tables: Value<'c>,
}

impl<'c> Memory<'c> {
    /// Takes what the function has on its stack there, and the rest from the run time.
    fn new(
        request: &Request<'_, 'c>,
        builder: &Builder<'c>,
        layout: &Layout,
        entry: &BlockEntry<'c>,
    ) -> Self {
        let context = request.unit.context;
        let pointer = Type::pointer(context, 0);
        let memory = |bytes: Option<u64>, of_launch: u64| match bytes {
            Some(bytes) => stack_bytes(context, builder, bytes, OWN_ALIGN),
            None => field(context, builder, pointer, entry.block, of_launch),
        };
        let threads = memory(layout.scratch_bytes, block::SCRATCH);
        let shared = memory(layout.shared_bytes, block::SHARED);
        if layout.shared_bytes.is_some() {
            shared.set_name(OWN_MEMORY);
        }
        let tables = match request.body.source {
            Source::Parameters { tables, .. } if tables.is_used() => {
                stack_bytes(context, builder, warp_collectives::BYTES, 64)
            }
            _ => pointer.null(),
        };
        Self { threads, shared, tables }
    }
}
