//! The function that runs a block: region after region, in each all vectors of threads.

use kernelmill_llvm::{
    inkwell::context::Context,
    ir::{Block, Builder, IntPredicate, Linkage, ModuleExt, Place, Type, Value},
};

use super::{
    analysis::plan::Plan,
    layout::{
        block_memory::{Blocks, Layout, OWN_ALIGN, OWN_MEMORY, ROW},
        context_arrays::ContextArrays,
        region_function::PANICKED,
        vector_value::Vectors,
    },
};
use crate::{
    cpu::{
        abi::{block, field, geometry, load_arguments},
        body::Body,
        context::Source,
        warp_collectives,
    },
    passes::entry::Unit,
};

/// The functions of a region.
pub(super) struct Functions<'c> {
    /// For a vector with a thread in every lane.
    pub(super) unmasked: Value<'c>,
    /// The remainder: for the last vector of a row, which may lack threads.
    pub(super) masked: Option<Value<'c>>,
}

/// What is spilled once for the block.
#[derive(Clone, Copy)]
struct BlockContext<'c> {
    /// As the region before has left it.
    before: Value<'c>,
    /// As the region that runs leaves it for the next.
    after: Value<'c>,
    bytes: u64,
    /// The same two for masked bodies. Their functions are called, and what an address is
    /// handed out of stays in memory.
    masked: [Value<'c>; 2],
}

/// What the loops over vectors use.
struct Runner<'a, 'c> {
    unit: &'a Unit<'a, 'c>,
    builder: Builder<'c>,
    function: Value<'c>,
    plan: &'a Plan<'c>,
    layout: Layout,
    arguments: Vec<Value<'c>>,
    /// Block index, size, grid size, the addresses of the block, of the tables of warps, and of shared
    /// memory.
    context: Vec<Value<'c>>,
    /// The block's address.
    current: Value<'c>,
    dims: [Value<'c>; 3],
    threads: Value<'c>,
    kept: BlockContext<'c>,
    padded_row: Value<'c>,
    padded: Value<'c>,
    /// Slot of the region to run next.
    next: Value<'c>,
    panicked: Block<'c>,
}

/// Leaves blocks of one size to the function that is for them.
fn call_masked<'c>(
    context: &'c Context,
    builder: &Builder<'c>,
    (run, sized): (Value<'c>, Value<'c>),
    (dims, threads): ([Value<'c>; 3], [u32; 3]),
) {
    let word = Type::int(context, 32);
    sized.add_attribute(context, Place::Function, "noinline", 0);
    let same = dims.into_iter().zip(threads).map(|(size, known)| {
        let known = word.constant(u64::from(known));
        builder.compare(IntPredicate::Eq, size, known)
    });
    let Some(same) = same.reduce(|all, one| builder.and(all, one)) else { return };
    let (into, other) = (Block::append(context, run, "sized"), Block::append(context, run, "any"));
    builder.branch_if(same, into, other);
    builder.at_end(into);
    builder.call(sized, &run.parameters());
    builder.ret(None);
    builder.at_end(other);
}

/// Builds `fn(arguments: *const *const u8, block: *mut Block)`.
pub(super) fn block<'c>(
    unit: &Unit<'_, 'c>,
    body: &Body<'c>,
    symbol: &str,
    (plan, arrays, blocks): (&Plan<'c>, &ContextArrays<'c>, Blocks<'c>),
    bodies: &[Functions<'c>],
) -> Value<'c> {
    let context = unit.context;
    let layout = Layout::new(arrays, blocks);
    let pointer = Type::pointer(context, 0);
    let (word, wide) = (Type::int(context, 32), Type::int(context, 64));
    let ty = Type::void(context).function(&[pointer, pointer]);
    let suffix = if matches!(blocks, Blocks::Of { .. }) { "_specialized" } else { "" };
    let run = unit.module.new_function(&format!("{symbol}_run{}{suffix}", plan.lanes), ty);
    run.set_linkage(Linkage::Internal);
    run.add_attribute(context, Place::Function, "nounwind", 0);
    for parameter in [0, 1] {
        run.add_attribute(context, Place::Parameter(parameter), "noalias", 0);
    }
    let builder = Builder::new(context);
    builder.at_end(Block::append(context, run, "start"));
    let parameters = run.parameters();
    let (array, current) = (parameters[0], parameters[1]);
    let shape = field(context, &builder, pointer, current, block::GEOMETRY);
    let three = |structure: Value<'c>, offset: u64| -> [Value<'c>; 3] {
        [0, 4, 8].map(|axis| field(context, &builder, word, structure, offset + axis))
    };
    let index = three(current, block::INDEX);
    let dims = match blocks {
        Blocks::Of { threads, .. } => threads.map(|size| word.constant(u64::from(size))),
        Blocks::Any | Blocks::AnyBut(..) => three(shape, geometry::BLOCK),
    };
    if let Blocks::AnyBut(threads, sized) = blocks {
        call_masked(context, &builder, (run, sized), (dims, threads));
    }
    let grid = three(shape, geometry::GRID);
    let arguments = load_arguments(context, &builder, array, &body.types, &body.by_address);
    let own = |bytes: Option<u64>, of_launch: u64| match bytes {
        Some(bytes) => {
            let memory = builder.alloca(Type::int(context, 8).array(bytes));
            memory.set_alignment(OWN_ALIGN);
            memory
        }
        None => field(context, &builder, pointer, current, of_launch),
    };
    let threads = own(layout.scratch_bytes, block::SCRATCH);
    let shared = own(layout.shared_bytes, block::SHARED);
    if layout.shared_bytes.is_some() {
        shared.set_name(OWN_MEMORY);
    }
    let bytes = arrays.bytes_of_block.next_multiple_of(16).max(16);
    let [before, after, masked_before, masked_after] = [(); 4].map(|()| {
        let memory = builder.alloca(Type::int(context, 8).array(bytes));
        memory.set_alignment(16);
        memory
    });
    let next = builder.alloca(word);
    let rounded = builder.add(dims[0], word.constant(ROW - 1));
    let padded_row = builder.and(rounded, word.constant(u64::from(u32::MAX) - (ROW - 1)));
    let padded_row = builder.zero_extend(padded_row, wide);
    let rows =
        builder.multiply(builder.zero_extend(dims[1], wide), builder.zero_extend(dims[2], wide));
    let padded = builder.multiply(padded_row, rows);
    let panicked = Block::append(context, run, "panicked");
    let tables = match body.source {
        Source::Parameters { tables, .. } if tables.is_used() => {
            let memory = builder.alloca(Type::int(context, 8).array(warp_collectives::BYTES));
            memory.set_alignment(64);
            memory
        }
        _ => pointer.null(),
    };
    let context_values = index.into_iter().chain(dims).chain(grid);
    let context_values = context_values.chain([current, tables, shared]).collect::<Vec<_>>();
    let runner = Runner {
        unit,
        builder,
        function: run,
        plan,
        layout,
        arguments,
        context: context_values,
        current,
        dims,
        threads,
        kept: BlockContext {
            before,
            after,
            bytes: arrays.bytes_of_block,
            masked: [masked_before, masked_after],
        },
        padded_row,
        padded,
        next,
        panicked,
    };
    runner.regions(bodies);
    runner.builder.at_end(panicked);
    runner.builder.ret(None);
    run
}

impl<'c> Runner<'_, 'c> {
    /// Runs regions until the kernel has ended.
    fn regions(&self, bodies: &[Functions<'c>]) {
        let context = self.unit.context;
        let word = Type::int(context, 32);
        let append = |name| Block::append(context, self.function, name);
        let done = append("done");
        let regions: Vec<_> = bodies.iter().map(|_| append("region")).collect();
        self.builder.branch(regions[0]);
        for (number, region) in bodies.iter().enumerate() {
            self.builder.at_end(regions[number]);
            self.rows(region);
            let after = self.plan.regions_after(number);
            let again = self.plan.comes_again(number);
            if let [None] = after[..] {
                self.builder.branch(done);
                continue;
            }
            if self.layout.unrolled.is_none() || again {
                self.stop_at_panics();
            }
            self.pass_on();
            if let [Some(next)] = after[..] {
                self.builder.branch(regions[next]);
                continue;
            }
            let next = self.builder.load(word, self.next);
            let switch = self.builder.switch(next, done, after.len() as u32);
            for next in after.into_iter().flatten() {
                switch.add_case(word.constant(next as u64), regions[next]);
            }
        }
        self.builder.at_end(done);
        self.builder.ret(None);
    }

    /// At a barrier, a block ends where any thread of the launch has panicked.
    fn stop_at_panics(&self) {
        let context = self.unit.context;
        let (word, pointer) = (Type::int(context, 32), Type::pointer(context, 0));
        let record = field(context, &self.builder, pointer, self.current, block::PANIC);
        let arrays = self.builder.load(word, record);
        arrays.make_volatile();
        let clear = self.builder.compare(IntPredicate::Eq, arrays, word.constant(0));
        let go = Block::append(context, self.function, "go");
        self.builder.branch_if(clear, go, self.panicked);
        self.builder.at_end(go);
    }

    /// Hands what a region has left for the block to the next one.
    fn pass_on(&self) {
        self.copy_block_context(self.kept.after, self.kept.before);
    }

    fn copy_block_context(&self, from: Value<'c>, to: Value<'c>) {
        if self.kept.bytes == 0 {
            return;
        }
        let context = self.unit.context;
        let (pointer, wide) = (Type::pointer(context, 0), Type::int(context, 64));
        let copy = self.unit.module.intrinsic("llvm.memcpy", &[pointer, pointer, wide]);
        let no = Type::int(context, 1).constant(0);
        let bytes = wide.constant(self.kept.bytes);
        self.builder.call(copy, &[to, from, bytes, no]);
    }

    /// Runs a region for all vectors.
    fn rows(&self, bodies: &Functions<'c>) {
        let context = self.unit.context;
        if let Some(threads) = self.layout.unrolled {
            return self.unrolled(bodies, threads);
        }
        let (word, wide) = (Type::int(context, 32), Type::int(context, 64));
        self.count(self.dims[2], |z| {
            self.count(self.dims[1], |y| {
                let plane = self.builder.multiply(z, self.dims[1]);
                let row = self.builder.zero_extend(self.builder.add(plane, y), wide);
                let row = self.builder.multiply(row, self.padded_row);
                if let Some(masked) = bodies.masked {
                    let lanes = word.constant(u64::from(self.plan.lanes));
                    let whole = self.builder.and(
                        self.dims[0],
                        word.constant(u64::from(u32::MAX - (self.plan.lanes - 1))),
                    );
                    self.steps(whole, lanes, |x| self.call(bodies.unmasked, [x, y, z], row, None));
                    self.only_if_less(whole, self.dims[0], || {
                        let mask = self.mask(whole);
                        self.call(masked, [whole, y, z], row, Some(mask));
                    });
                } else {
                    self.count(self.dims[0], |x| self.call(bodies.unmasked, [x, y, z], row, None));
                }
            });
        });
    }

    /// The same, with code for each vector.
    fn unrolled(&self, bodies: &Functions<'c>, [width, height, depth]: [u32; 3]) {
        let context = self.unit.context;
        let (word, wide) = (Type::int(context, 32), Type::int(context, 64));
        for row in 0..u64::from(height * depth) {
            let (y, z) = (row % u64::from(height), row / u64::from(height));
            let at = wide.constant(row * u64::from(width).next_multiple_of(ROW));
            for x in (0..u64::from(width)).step_by(self.plan.lanes as usize) {
                self.call(bodies.unmasked, [x, y, z].map(|place| word.constant(place)), at, None);
            }
        }
    }

    /// The lanes of the last vector of a row, which starts at `x`.
    fn mask(&self, x: Value<'c>) -> Value<'c> {
        let context = self.unit.context;
        let word = Type::int(context, 32);
        let vectors = Vectors { context, lanes: self.plan.lanes };
        let left = self.builder.binary(kernelmill_llvm::ir::Opcode::Sub, self.dims[0], x);
        let numbers: Vec<_> =
            (0..u64::from(self.plan.lanes)).map(|lane| word.constant(lane)).collect();
        let left = vectors.splat(&self.builder, left);
        self.builder.compare(IntPredicate::Ult, Value::constant_vector(&numbers), left)
    }

    fn call(
        &self,
        function: Value<'c>,
        thread: [Value<'c>; 3],
        row: Value<'c>,
        mask: Option<Value<'c>>,
    ) {
        let context = self.unit.context;
        let (word, wide) = (Type::int(context, 32), Type::int(context, 64));
        let at = self.builder.add(row, self.builder.zero_extend(thread[0], wide));
        let mut values = self.arguments.clone();
        values.extend(thread);
        values.extend(&self.context);
        let [before, after] =
            if mask.is_some() { self.kept.masked } else { [self.kept.before, self.kept.after] };
        values.extend([self.threads, before, after, self.padded, at]);
        values.extend(mask);
        if mask.is_some() {
            self.copy_block_context(self.kept.before, before);
            self.copy_block_context(self.kept.after, after);
        }
        let next = self.builder.call(function, &values);
        if mask.is_some() {
            self.copy_block_context(after, self.kept.after);
        }
        self.builder.store(next, self.next);
        let stop = self.builder.compare(IntPredicate::Eq, next, word.constant(PANICKED));
        let go = Block::append(context, self.function, "go");
        self.builder.branch_if(stop, self.panicked, go);
        self.builder.at_end(go);
    }

    /// Counts from 0 below a number that is at least 1.
    fn count(&self, end: Value<'c>, inside: impl FnOnce(Value<'c>)) {
        let word = Type::int(self.unit.context, 32);
        self.repeat(end, word.constant(1), inside);
    }

    /// As `count`, in steps, of a number that may be 0 and is a multiple of the step.
    fn steps(&self, end: Value<'c>, step: Value<'c>, inside: impl FnOnce(Value<'c>)) {
        let zero = Type::int(self.unit.context, 32).constant(0);
        self.only_if_less(zero, end, || self.repeat(end, step, inside));
    }

    fn repeat(&self, end: Value<'c>, step: Value<'c>, inside: impl FnOnce(Value<'c>)) {
        let context = self.unit.context;
        let word = Type::int(context, 32);
        let outside = self.builder.block();
        let head = Block::append(context, self.function, "");
        self.builder.branch(head);
        self.builder.at_end(head);
        let counter = self.builder.phi(word);
        counter.add_incoming(word.constant(0), outside);
        inside(counter);
        let next = self.builder.add_no_wrap(counter, step);
        let more = self.builder.compare(IntPredicate::Ult, next, end);
        counter.add_incoming(next, self.builder.block());
        let exit = Block::append(context, self.function, "");
        self.builder.branch_if(more, head, exit);
        self.builder.at_end(exit);
    }

    fn only_if_less(&self, left: Value<'c>, right: Value<'c>, inside: impl FnOnce()) {
        let context = self.unit.context;
        let less = self.builder.compare(IntPredicate::Ult, left, right);
        let (into, after) =
            (Block::append(context, self.function, ""), Block::append(context, self.function, ""));
        self.builder.branch_if(less, into, after);
        self.builder.at_end(into);
        inside();
        self.builder.branch(after);
        self.builder.at_end(after);
    }
}
