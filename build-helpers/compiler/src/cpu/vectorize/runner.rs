//! The loops of the function that runs a block: region after region, in each all vectors of threads.

use std::ops::Range;

use kernelmill_llvm::{
    inkwell::context::Context,
    ir::{Block, Builder, IntPredicate, ModuleExt, Opcode, Type, Value},
};

use super::{
    analysis::plan::Plan,
    arrivals::{Exits, Place as BlockPlace},
    layout::{
        block_memory::{Layout, ROW},
        block_slots,
        context_arrays::ContextArrays,
        region_function::PANICKED,
        vector_value::Vectors,
    },
};
use crate::{
    cpu::{
        abi::{block, field},
        block_entry::count,
        exit_flags,
    },
    passes::entry::Unit,
};

/// The functions of a region.
pub(super) struct Functions<'c> {
    /// For a vector with a thread in every lane.
    pub(super) unmasked: Value<'c>,
    /// The remainder: for the last vector of a row, which may lack threads.
    pub(super) masked: Option<Value<'c>>,
    /// For several vectors with a thread in every lane, of a body without barriers.
    pub(super) long: Option<LongVectors<'c>>,
}

/// What runs several vectors at once.
#[derive(Clone, Copy)]
pub(super) struct LongVectors<'c> {
    pub(super) function: Value<'c>,
    /// The function for each of the vectors.
    pub(super) apart: Value<'c>,
    /// The threads of all of them.
    pub(super) lanes: u32,
}

impl<'c> Functions<'c> {
    /// Those that there are.
    pub(super) fn all(&self) -> impl Iterator<Item = Value<'c>> {
        [self.unmasked].into_iter().chain(self.masked)
    }
}

/// Vectors of several rows.
pub(super) struct JammedRows<'c> {
    pub(super) bodies: Functions<'c>,
    pub(super) rows: u32,
    /// The comparisons of the kernel's body that the rows have to agree on.
    pub(super) agreed: Vec<Value<'c>>,
}

/// What is spilled once for the block.
#[derive(Clone, Copy)]
pub(super) struct BlockContext<'c> {
    /// As the region before has left it.
    pub(super) before: Value<'c>,
    /// As the region that runs leaves it for the next.
    pub(super) after: Value<'c>,
    pub(super) bytes: u64,
    /// The same two for masked bodies. Their functions are called, and what an address is
    /// handed out of stays in memory.
    pub(super) masked: [Value<'c>; 2],
}

/// What the loops over vectors use.
pub(super) struct Runner<'a, 'c> {
    pub(super) unit: &'a Unit<'a, 'c>,
    pub(super) builder: Builder<'c>,
    pub(super) function: Value<'c>,
    pub(super) plan: &'a Plan<'c>,
    pub(super) layout: Layout,
    pub(super) arguments: Vec<Value<'c>>,
    /// Block index, size, grid size, the addresses of the block, of the tables of warps, and of shared
    /// memory.
    pub(super) context: Vec<Value<'c>>,
    /// The block's address.
    pub(super) current: Value<'c>,
    pub(super) dims: [Value<'c>; 3],
    /// The layout of what is spilled.
    pub(super) arrays: &'a ContextArrays<'c>,
    /// The context arrays of the threads.
    pub(super) threads: Value<'c>,
    pub(super) spilled: BlockContext<'c>,
    pub(super) rows: PaddedRows<'c>,
    /// Slot of the region to run next.
    pub(super) next: Value<'c>,
    pub(super) exits: Option<Exits<'c>>,
    pub(super) panicked: Block<'c>,
    /// What runs several rows at once, of a body without barriers.
    pub(super) jammed: Option<&'a JammedRows<'c>>,
}

/// The lines of a block's threads along the vectors' axis, padded to whole vectors.
#[derive(Clone, Copy)]
pub(super) struct PaddedRows<'c> {
    /// The threads of a line.
    row: Value<'c>,
    /// Those of all lines.
    all: Value<'c>,
}

/// A line of threads along the vectors' axis.
#[derive(Clone, Copy)]
struct Line<'c> {
    axis: usize,
    /// Where it is along the other one of x and y.
    other: Value<'c>,
    z: Value<'c>,
    /// The place of its first thread in context arrays.
    row: Value<'c>,
}

impl<'c> Line<'c> {
    /// The index of the thread that is `at` along the line.
    fn thread(self, at: Value<'c>) -> [Value<'c>; 3] {
        if self.axis == 0 { [at, self.other, self.z] } else { [self.other, at, self.z] }
    }
}

impl<'c> BlockContext<'c> {
    pub(super) fn new(context: &'c Context, builder: &Builder<'c>, bytes: u64) -> Self {
        let size = bytes.next_multiple_of(16).max(16);
        let new = || stack_bytes(context, builder, size, 16);
        Self { before: new(), after: new(), bytes, masked: [new(), new()] }
    }
}

impl<'c> PaddedRows<'c> {
    pub(super) fn new(
        context: &'c Context,
        builder: &Builder<'c>,
        dims: [Value<'c>; 3],
        axis: usize,
    ) -> Self {
        let (word, wide) = (Type::int(context, 32), Type::int(context, 64));
        let (length, other) = (dims[axis], dims[1 - axis]);
        let rounded = builder.add(length, word.constant(ROW - 1));
        let row = builder.and(rounded, word.constant(u64::from(u32::MAX) - (ROW - 1)));
        let row = builder.zero_extend(row, wide);
        let number =
            builder.multiply(builder.zero_extend(other, wide), builder.zero_extend(dims[2], wide));
        Self { row, all: builder.multiply(row, number) }
    }
}

impl<'c> Runner<'_, 'c> {
    /// Runs regions until the kernel has ended.
    pub(super) fn regions(&self, bodies: &[Functions<'c>]) {
        let context = self.unit.context;
        let word = Type::int(context, 32);
        let append = |name| Block::append(context, self.function, name);
        let done = append("done");
        let regions: Vec<_> = bodies.iter().map(|_| append("region")).collect();
        self.builder.branch(regions[0]);
        let arrivals = match &self.exits {
            Some(exits) => {
                let place =
                    BlockPlace { current: self.current, dims: self.dims, function: self.function };
                exits.arrivals((self.unit, &self.builder), place, &regions, [done, self.panicked])
            }
            None => regions.clone(),
        };
        for (number, region) in bodies.iter().enumerate() {
            self.builder.at_end(regions[number]);
            let lacking = self.exits.as_ref().filter(|exits| exits.lacking[number]);
            self.vectors(region, lacking);
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
                self.builder.branch(arrivals[next]);
                continue;
            }
            let next = self.builder.load(word, self.next);
            let switch = self.builder.switch(next, done, after.len() as u32);
            for next in after.into_iter().flatten() {
                switch.add_case(word.constant(next as u64), arrivals[next]);
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
        self.copy_block_context(self.spilled.after, self.spilled.before);
    }

    fn copy_block_context(&self, from: Value<'c>, to: Value<'c>) {
        if self.spilled.bytes == 0 {
            return;
        }
        let all = 0..self.spilled.bytes;
        self.copy_slots(&[all], [from, to]);
    }

    fn copy_slots(&self, slots: &[Range<u64>], memory: [Value<'c>; 2]) {
        block_slots::copy((self.unit.context, self.unit.module), &self.builder, slots, memory);
    }

    /// Runs a region for all vectors; `lacking` where threads may have exited.
    fn vectors(&self, bodies: &Functions<'c>, lacking: Option<&Exits<'c>>) {
        let context = self.unit.context;
        if let Some(threads) = self.layout.unrolled {
            return self.unrolled(bodies, threads);
        }
        let wide = Type::int(context, 64);
        let other = self.dims[1 - self.plan.axis];
        let line = |z: Value<'c>, at: Value<'c>| {
            let plane = self.builder.multiply(z, other);
            let number = self.builder.zero_extend(self.builder.add(plane, at), wide);
            let row = self.builder.multiply(number, self.rows.row);
            Line { axis: self.plan.axis, other: at, z, row }
        };
        self.count(self.dims[2], |z| {
            let one = |at: Value<'c>| match lacking {
                Some(exits) => self.rest_of_line(bodies, exits, line(z, at)),
                None => self.vectors_of_line(bodies, line(z, at)),
            };
            match self.jammed {
                Some(jammed) => self.lines_or_several(jammed, z, one, |at| {
                    self.vectors_of_line(&jammed.bodies, line(z, at));
                }),
                None => match lacking.filter(|_| self.plan.axis == 0) {
                    Some(exits) => self.lines_with_threads(exits, z, one),
                    None => self.count(other, one),
                },
            }
        });
    }

    /// Goes over the lines along x of a plane, from the first one with a present thread to the last.
    fn lines_with_threads(&self, exits: &Exits<'c>, z: Value<'c>, line: impl FnOnce(Value<'c>)) {
        let [first, number] = exits.lines_of_plane((self.unit, &self.builder), z, self.dims[1]);
        let zero = number.ty().constant(0);
        self.only_if_less(zero, number, || {
            self.count(number, |at| line(self.builder.add(first, at)));
        });
    }

    /// Runs a region for the threads of a line.
    fn vectors_of_line(&self, bodies: &Functions<'c>, line: Line<'c>) {
        let length = self.dims[line.axis];
        let run = |function, at, mask| self.call(function, line.thread(at), line.row, mask);
        let Some(masked) = bodies.masked else {
            return self.count(length, |at| run(bodies.unmasked, at, None));
        };
        let word = Type::int(self.unit.context, 32);
        if self.layout.is_narrow {
            return self.single_vector(bodies.unmasked, masked, line);
        }
        let whole =
            self.builder.and(length, word.constant(u64::from(u32::MAX - (self.plan.lanes - 1))));
        let start = bodies.long.map(|long| {
            let end =
                self.builder.and(length, word.constant(u64::from(u32::MAX - (long.lanes - 1))));
            self.steps(end, long.lanes, |at| run(long.function, at, None));
            end
        });
        match start {
            None => self.steps(whole, self.plan.lanes, |at| run(bodies.unmasked, at, None)),
            Some(start) => {
                let rest = self.builder.binary(Opcode::Sub, whole, start);
                self.steps(rest, self.plan.lanes, |at| {
                    run(bodies.unmasked, self.builder.add(start, at), None);
                });
            }
        }
        self.only_if_less(whole, length, || run(masked, whole, Some(self.mask(whole))));
    }

    /// Runs a region for the threads of a line that are no more than a vector has.
    fn single_vector(&self, unmasked: Value<'c>, masked: Value<'c>, line: Line<'c>) {
        let word = Type::int(self.unit.context, 32);
        let (length, lanes) = (self.dims[line.axis], word.constant(u64::from(self.plan.lanes)));
        let start = word.constant(0);
        let run = |function, mask| self.call(function, line.thread(start), line.row, mask);
        let is_full = self.builder.compare(IntPredicate::Eq, length, lanes);
        self.only_if(is_full, || run(unmasked, None));
        self.only_if_less(length, lanes, || run(masked, Some(self.mask(start))));
    }

    /// Runs a region for the threads of a line that have not exited.
    fn rest_of_line(&self, bodies: &Functions<'c>, exits: &Exits<'c>, line: Line<'c>) {
        let context = self.unit.context;
        let word = Type::int(context, 32);
        let (lanes, length) = (self.plan.lanes, self.dims[line.axis]);
        let vectors = Vectors { context, lanes };
        let run = |function, at, mask| self.call(function, line.thread(at), line.row, mask);
        let staying = |at: Value<'c>| self.staying(exits, line, at);
        let Some(masked) = bodies.masked else {
            return self.count(length, |at| {
                let stays = vectors.any(&self.builder, staying(at));
                self.only_if(stays, || run(bodies.unmasked, at, None));
            });
        };
        let under_mask = |at: Value<'c>, mask: Value<'c>| {
            let any = vectors.any(&self.builder, mask);
            self.only_if(any, || run(masked, at, Some(mask)));
        };
        let most = word.constant(u64::from(u32::MAX - (lanes - 1)));
        let whole = self.builder.and(length, most);
        self.steps(whole, lanes, |at| {
            let mask = staying(at);
            let bits = vectors.bits(&self.builder, mask);
            let full = self.builder.compare(IntPredicate::Eq, bits, bits.ty().constant(u64::MAX));
            let append = || Block::append(context, self.function, "");
            let [all, some, after] = [append(), append(), append()];
            self.builder.branch_if(full, all, some);
            self.builder.at_end(all);
            run(bodies.unmasked, at, None);
            self.builder.branch(after);
            self.builder.at_end(some);
            under_mask(at, mask);
            self.builder.branch(after);
            self.builder.at_end(after);
        });
        self.only_if_less(whole, length, || {
            // The flags of lanes without a thread say nothing.
            let mask = vectors.where_holds(&self.builder, Some(self.mask(whole)), staying(whole));
            under_mask(whole, mask);
        });
    }

    /// Which lanes of the vector that starts at `at` in a line have a thread that has not exited.
    fn staying(&self, exits: &Exits<'c>, line: Line<'c>, at: Value<'c>) -> Value<'c> {
        let context = self.unit.context;
        let (word, wide) = (Type::int(context, 32), Type::int(context, 64));
        let (builder, lanes) = (&self.builder, self.plan.lanes);
        let number = |at| {
            let [x, y, z] = line.thread(at).map(|it| builder.zero_extend(it, wide));
            let [width, height, _] = self.dims.map(|it| builder.zero_extend(it, wide));
            let row = builder.add(builder.multiply(z, height), y);
            builder.add(builder.multiply(row, width), x)
        };
        if line.axis == 0 {
            return exit_flags::staying(context, builder, exits.tables, number(at), lanes);
        }
        // Flags that do not follow each other take time to read.
        let append = || Block::append(context, self.function, "");
        let (before, apart, known) = (builder.block(), append(), append());
        let is_whole = builder.load(Type::int(context, 1), exits.whole);
        builder.branch_if(is_whole, known, apart);
        builder.at_end(apart);
        let last = builder.binary(Opcode::Sub, self.dims[line.axis], word.constant(1));
        let least = self.unit.module.intrinsic("llvm.umin", &[word]);
        let threads = (0..lanes).map(|lane| {
            let at = builder.add(at, word.constant(u64::from(lane)));
            // That of a lane without a thread is the last one's.
            number(builder.call(least, &[at, last]))
        });
        let staying = exit_flags::staying_of(context, builder, exits.tables, threads);
        let apart = builder.block();
        builder.branch(known);
        builder.at_end(known);
        let vectors = Vectors { context, lanes };
        let mask = builder.phi(vectors.mask());
        mask.add_incoming(vectors.every(), before);
        mask.add_incoming(staying, apart);
        mask
    }

    /// The same as [`Self::vectors`], with code for each vector.
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

    /// The lanes of the last vector of a line, which starts at `at`.
    fn mask(&self, at: Value<'c>) -> Value<'c> {
        let context = self.unit.context;
        let word = Type::int(context, 32);
        let vectors = Vectors { context, lanes: self.plan.lanes };
        let left = self.builder.binary(Opcode::Sub, self.dims[self.plan.axis], at);
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
        let at = self.builder.add(row, self.builder.zero_extend(thread[self.plan.axis], wide));
        let mut values = self.arguments.clone();
        values.extend(thread);
        values.extend(&self.context);
        let [before, after] = if mask.is_some() {
            self.spilled.masked
        } else {
            [self.spilled.before, self.spilled.after]
        };
        let place = values.len() + 1;
        values.extend([self.threads, before, after, self.rows.all, at]);
        values.extend(mask);
        let [read, written] = match (mask, &function.parameters()[place..]) {
            (Some(_), [before, after, ..]) => {
                [*before, *after].map(|it| block_slots::accessed(self.arrays, it))
            }
            _ => [const { Vec::new() }; 2],
        };
        self.copy_slots(&read, [self.spilled.before, before]);
        self.copy_slots(&written, [self.spilled.after, after]);
        let next = self.builder.call(function, &values);
        self.copy_slots(&written, [after, self.spilled.after]);
        self.builder.store(next, self.next);
        let stop = self.builder.compare(IntPredicate::Eq, next, word.constant(PANICKED));
        let go = Block::append(context, self.function, "go");
        self.builder.branch_if(stop, self.panicked, go);
        self.builder.at_end(go);
    }

    /// Counts from 0 below a number that is at least 1.
    fn count(&self, end: Value<'c>, inside: impl FnOnce(Value<'c>)) {
        count(self.unit.context, &self.builder, end, 1, inside);
    }

    /// As `count`, in steps, of a number that may be 0 and is a multiple of the step.
    fn steps(&self, end: Value<'c>, step: u32, inside: impl FnOnce(Value<'c>)) {
        let context = self.unit.context;
        let zero = Type::int(context, 32).constant(0);
        self.only_if_less(zero, end, || count(context, &self.builder, end, step, inside));
    }

    fn only_if_less(&self, left: Value<'c>, right: Value<'c>, inside: impl FnOnce()) {
        let less = self.builder.compare(IntPredicate::Ult, left, right);
        self.only_if(less, inside);
    }

    fn only_if(&self, condition: Value<'c>, inside: impl FnOnce()) {
        let context = self.unit.context;
        let (into, after) =
            (Block::append(context, self.function, ""), Block::append(context, self.function, ""));
        self.builder.branch_if(condition, into, after);
        self.builder.at_end(into);
        inside();
        self.builder.branch(after);
        self.builder.at_end(after);
    }
}

/// So many bytes of the function's stack.
pub(super) fn stack_bytes<'c>(
    context: &'c Context,
    builder: &Builder<'c>,
    bytes: u64,
    align: u32,
) -> Value<'c> {
    let memory = builder.alloca(Type::int(context, 8).array(bytes));
    memory.set_alignment(align);
    memory
}
