//! The functions that run a whole block of a kernel, one for each processor level.
//!
//! Needs: a lowered body whose barriers are uniform. Guarantees: a function for every processor, and
//! vectorised ones for the levels above, or scalar code with the reason.
//!
//! The passes on a kernel's body are called here, in this order: private copies, single iterations, loop interchange,
//! specialisation on the block size, region formation, vectorisation with unroll-and-jam. They follow pocl's work-group
//! functions ([parallel regions](https://doi.org/10.1007/s10766-014-0320-y)), one variant a processor as in
//! [ISPC](https://ispc.github.io/ispc.html).

use kernelmill_llvm::{
    ir::{Type, Value},
    machine::Machine,
};

use super::{
    abi::{Functions, VARIANTS},
    block_shape::{BlockShape, LEAST_LANES},
    body::Body,
    code_size::{self, Sizes},
    context::{is_barrier, is_exit_barrier},
    interchange::{self, SingleIterations},
    outlined::OutlinedExits,
    private_copies,
    processor_levels::{self, Level},
    reports::Reports,
    specialization::{BlockSize, SpecializedBody, SpecializedFunction},
    thread_loop,
    vectorize::{
        self, Blocks, ColumnsCall, NarrowCall, ROW, Run, SingleCall, SpecializedCall, Vectors,
    },
};
use crate::{
    Error, Lowering, Pass, PassFact, PassOutcome, ScalarReason, Strategy, passes::entry::Unit,
};

/// A kernel whose body is lowered.
pub(super) struct Kernel<'k, 'a, 'c> {
    pub(super) unit: &'k Unit<'a, 'c>,
    pub(super) machine: &'k Machine,
    pub(super) body: &'k Body<'c>,
    pub(super) symbol: &'k str,
    pub(super) reports: Reports<'k>,
    /// Where its threads can end in outlined functions.
    pub(super) exits: OutlinedExits,
    pub(super) sizes: &'k Sizes,
    /// The block size that its author says.
    pub(super) block: Option<BlockSize>,
    /// What is known of the size of all its blocks.
    pub(super) shape: BlockShape,
    /// The bytes of shared memory, where nothing else uses that.
    pub(super) own_shared: Option<u64>,
}

/// The functions that run a whole block of a kernel, and what the vectoriser made of it.
pub(super) struct BlockFunctions<'c> {
    pub(super) functions: Functions<'c>,
    pub(super) vectorized: Vectorized,
    /// The functions for blocks of one size.
    pub(super) specialized: Vec<SpecializedFunction<'c>>,
}

/// What the vectoriser made of a kernel.
#[derive(Default)]
pub(super) struct Vectorized {
    widths: Vec<u32>,
    /// Whether some blocks have vectors along y since these access memory in rows, and since they are narrow along x.
    along_y: bool,
    narrow_along_y: bool,
    /// The threads of the shorter vectors along x that blocks which are narrow there have; 0 where there is no code of their own.
    narrow_width: u32,
    scalar: Option<ScalarReason>,
    block: Option<[u32; 3]>,
    interchanged_loops: u32,
    jammed_rows: u32,
    /// The threads of the vectors along x that stand for several; 0 where there are none.
    pub(super) long_lanes: u32,
}

impl Vectorized {
    pub(super) fn strategy(self, lowering: Lowering) -> Strategy {
        Strategy {
            lowering,
            widths: self.widths,
            along_y: self.along_y,
            narrow_along_y: self.narrow_along_y,
            narrow_width: self.narrow_width,
            scalar: self.scalar,
            block: self.block,
            interchanged_loops: self.interchanged_loops,
            jammed_rows: self.jammed_rows,
        }
    }
}

/// The functions for the processor levels, as far as they are built.
#[derive(Default)]
struct Levels<'c> {
    run: [Option<Value<'c>>; VARIANTS],
    thread_bytes: u64,
    widths: Vec<u32>,
    along_y: bool,
    narrow_along_y: bool,
    /// What runs some blocks in vectors along y.
    columns: Option<ColumnsCall<'c>>,
    narrow_width: u32,
    /// What runs blocks that are narrow along x in shorter vectors along x.
    narrow: Option<NarrowCall<'c>>,
    jammed_rows: u32,
    /// What runs blocks whose threads take one iteration of their grid-stride loops, and of how many of these.
    single: Option<SingleCall<'c>>,
    single_iterations: u64,
    /// Whether blocks with rows of [`ROW`] threads have a function of their own.
    has_usual_rows: bool,
    affine_values: u64,
    long_lanes: u32,
    specialized: Vec<SpecializedFunction<'c>>,
}

impl<'c> Kernel<'_, '_, 'c> {
    /// Builds the functions.
    pub(super) fn build(&self) -> Result<BlockFunctions<'c>, Error> {
        let scalar = self.scalar_reason();
        if scalar.is_none() {
            let size = |ty: Type<'c>| self.machine.size_of(ty);
            let split = private_copies::split(self.unit, self.body.function, &size);
            self.reports.count(Pass::PrivateCopies, split);
        } else {
            self.reports.add(Pass::PrivateCopies, PassOutcome::Skipped, None);
        }
        let (mut interchanged_loops, mut known, mut single) = (0, None, None);
        // Both take it that every thread of a block reaches its barriers.
        let is_prepared =
            scalar.is_none() && !self.body.function.calls().into_iter().any(is_exit_barrier);
        if is_prepared {
            if self.block.is_none() {
                single = SingleIterations::new(self.unit, self.machine, self.body)?;
            }
            interchanged_loops = interchange::loops(self.unit, self.machine, self.body)?;
            known = self.specialized()?;
        }
        let size = known.as_ref().map(|known| known.block.threads);
        self.report_analyses(is_prepared.then_some(interchanged_loops), size);
        let barriers = self.body.split_into_regions(self.unit);
        let count = PassFact::Count { count: barriers + 1 };
        self.reports.add(Pass::RegionFormation, PassOutcome::of(barriers > 0), Some(count));
        let mut levels = Levels::default();
        let scalar = match scalar {
            None => self.vectorize(known.as_ref(), single.as_ref(), &mut levels).err(),
            reason => reason,
        };
        if let Some(reason) = scalar {
            let fact = PassFact::Scalar { because: reason.clone() };
            self.reports.add(Pass::Vectorization, PassOutcome::Skipped, Some(fact));
            self.reports.add(Pass::SingleIterations, PassOutcome::Skipped, None);
            self.reports.add(Pass::UsualRows, PassOutcome::Skipped, None);
            self.reports.add(Pass::UnrollAndJam, PassOutcome::Skipped, None);
            self.reports.add(Pass::AffineValues, PassOutcome::Skipped, None);
            self.reports.add(Pass::LongVectors, PassOutcome::Skipped, None);
            return self.scalar(reason, levels.specialized);
        }
        let narrow = levels.narrow_width;
        let widths = PassFact::Widths { widths: levels.widths.clone(), narrow };
        self.reports.add(Pass::Vectorization, PassOutcome::Changed, Some(widths));
        self.reports.count(Pass::SingleIterations, levels.single_iterations);
        let has_usual = levels.has_usual_rows;
        let fact = PassFact::RowThreads { threads: ROW as u32 };
        self.reports.add(Pass::UsualRows, PassOutcome::of(has_usual), has_usual.then_some(fact));
        let block = size.filter(|_| !levels.specialized.is_empty());
        let fact = PassFact::Rows { rows: levels.jammed_rows };
        let has_jammed = levels.jammed_rows > 0;
        self.reports.add(
            Pass::UnrollAndJam,
            PassOutcome::of(has_jammed),
            has_jammed.then_some(fact),
        );
        self.reports.count(Pass::AffineValues, levels.affine_values);
        let is_long = levels.long_lanes > 0;
        let fact = PassFact::VectorThreads { threads: levels.long_lanes };
        self.reports.add(Pass::LongVectors, PassOutcome::of(is_long), is_long.then_some(fact));
        let Levels { run, thread_bytes, along_y, specialized, .. } = levels;
        let vectorized = Vectorized {
            widths: levels.widths,
            along_y,
            narrow_along_y: levels.narrow_along_y,
            narrow_width: levels.narrow_width,
            scalar: None,
            block,
            interchanged_loops,
            jammed_rows: levels.jammed_rows,
            long_lanes: levels.long_lanes,
        };
        Ok(BlockFunctions {
            functions: Functions::Loop { thread_bytes, run, along_y },
            vectorized,
            specialized,
        })
    }

    /// Reports what is done before regions are formed: the number of interchanged loops, where they were
    /// searched for, and the block size of the specialised body, where there is one.
    fn report_analyses(&self, interchanged: Option<u32>, size: Option<[u32; 3]>) {
        let outcome = |has_run: bool, has_changed| match has_run {
            true => PassOutcome::of(has_changed),
            false => PassOutcome::Skipped,
        };
        let count = interchanged.map(|count| PassFact::Count { count: u64::from(count) });
        let of_loops = outcome(interchanged.is_some(), interchanged > Some(0));
        self.reports.add(Pass::LoopInterchange, of_loops, count);
        let of_size = outcome(interchanged.is_some() && self.block.is_some(), size.is_some());
        let size = size.map(|size| PassFact::Block { size });
        self.reports.add(Pass::Specialization, of_size, size);
    }

    /// Why the kernel is not vectorised, from what is known before.
    fn scalar_reason(&self) -> Option<ScalarReason> {
        match (self.unit.vectorize, self.exits) {
            (false, _) => Some(ScalarReason::VectorizationOff),
            (true, OutlinedExits::Anywhere) => Some(ScalarReason::ExitInOutlinedFunction),
            (true, OutlinedExits::InPanics | OutlinedExits::Never) => {
                self.sizes.too_large(self.body.function)
            }
        }
    }

    /// The body for blocks of the size that the kernel's author says.
    fn specialized(&self) -> Result<Option<SpecializedBody<'c>>, Error> {
        let Some(block) = self.block else { return Ok(None) };
        SpecializedBody::new(self.unit, self.machine, self.body, block, self.own_shared)
    }

    /// Builds the functions for all levels; the error is the first reason why one cannot be.
    fn vectorize(
        &self,
        known: Option<&SpecializedBody<'c>>,
        single: Option<&SingleIterations<'c>>,
        levels: &mut Levels<'c>,
    ) -> Result<(), ScalarReason> {
        let all = processor_levels::of(self.machine.triple());
        let most = all.iter().flatten().map(|level| level.lanes).max().unwrap_or(1);
        if vectorize::is_better_scalar(self.body, most, &|ty| self.machine.size_of(ty)) {
            return Err(ScalarReason::IrregularLoop);
        }
        for (index, level) in all.iter().enumerate() {
            let Some(level) = level else { continue };
            if levels.narrow.is_none() {
                levels.narrow = self.narrow(level, levels);
            }
            levels.single = single.and_then(|it| self.single(level, it, levels));
            let built = self.level(level, known, levels)?;
            levels.thread_bytes = levels.thread_bytes.max(built.bytes_of_thread);
            levels.run[index] = Some(self.guarded(built.functions[0]));
            levels.widths.extend((built.lanes > 1).then_some(built.lanes));
            // What one level has compiled serves the narrow blocks of the next.
            if built.lanes > 1 && !matches!(self.shape, BlockShape::Exact(_)) {
                let function = built.functions[0];
                levels.narrow = Some(NarrowCall { function, lanes: built.lanes });
            }
            if let Some(columns) = built.columns {
                levels.along_y |= columns.along_y.high;
                levels.narrow_along_y |= columns.along_y.narrow();
            }
            levels.columns = built.columns;
            levels.jammed_rows = levels.jammed_rows.max(built.jammed_rows);
            levels.has_usual_rows |= built.has_usual_rows;
            levels.affine_values = levels.affine_values.max(built.affine_values);
            levels.long_lanes = levels.long_lanes.max(built.long_lanes);
            levels
                .specialized
                .extend(built.is_specialized.then(|| SpecializedFunction::new(built)));
        }
        Ok(())
    }

    /// Builds the function for blocks with at most half as many threads along x as vectors of the shortest have at a level;
    /// `None` where there are few such blocks, or it would take long to compile.
    fn narrow(&self, level: &Level, levels: &mut Levels<'c>) -> Option<NarrowCall<'c>> {
        let lanes = level.lanes / 2;
        let is_long = code_size::instructions(self.body.function) > code_size::NARROW;
        if self.shape != BlockShape::Any || lanes < LEAST_LANES || is_long {
            return None;
        }
        let (blocks, shape) = (Blocks::Narrow, self.shape);
        let vectors = Vectors { lanes, blocks, shape, columns: None, narrow: None, single: None };
        let size = |ty: Type<'c>| self.machine.size_of(ty);
        let built = vectorize::run(self.unit, self.body, self.symbol, vectors, &size).ok()?;
        built.functions.iter().for_each(|function| level.apply(self.unit.context, *function));
        levels.thread_bytes = levels.thread_bytes.max(built.bytes_of_thread);
        levels.narrow_width = lanes;
        Some(NarrowCall { function: built.functions[0], lanes })
    }

    /// Builds the function for blocks whose threads take one iteration of their grid-stride loops; `None` where there can be
    /// none.
    fn single(
        &self,
        level: &Level,
        single: &SingleIterations<'c>,
        levels: &mut Levels<'c>,
    ) -> Option<SingleCall<'c>> {
        let (lanes, blocks, shape) = (level.lanes, Blocks::Any, self.shape);
        let vectors = Vectors { lanes, blocks, shape, columns: None, narrow: None, single: None };
        let (symbol, size) =
            (format!("{}_single", self.symbol), |ty: Type<'c>| self.machine.size_of(ty));
        let built = vectorize::run(self.unit, &single.body, &symbol, vectors, &size).ok()?;
        built.functions.iter().for_each(|function| level.apply(self.unit.context, *function));
        levels.thread_bytes = levels.thread_bytes.max(built.bytes_of_thread);
        levels.affine_values = levels.affine_values.max(built.affine_values);
        levels.long_lanes = levels.long_lanes.max(built.long_lanes);
        levels.single_iterations = single.loops;
        Some(SingleCall { function: built.functions[0], holds: single.holds })
    }

    /// Builds the function for a level, and before it the one for blocks of a known size.
    fn level(
        &self,
        level: &Level,
        known: Option<&SpecializedBody<'c>>,
        levels: &mut Levels<'c>,
    ) -> Result<Run<'c>, ScalarReason> {
        let size = |ty: Type<'c>| self.machine.size_of(ty);
        let apply = |built: &Run<'c>| {
            built.functions.iter().for_each(|function| level.apply(self.unit.context, *function));
        };
        let of_size = known
            .and_then(|known| known.run(self.unit, self.symbol, level.lanes, self.sizes, &size));
        of_size.iter().for_each(apply);
        let blocks = match (known, of_size) {
            (Some(known), Some(run)) if known.block.is_exact => return Ok(run),
            (Some(known), Some(run)) => {
                let (threads, function) = (known.block.threads, run.functions[0]);
                // The function for any block calls it, in the same memory.
                levels.thread_bytes = levels.thread_bytes.max(run.bytes_of_thread);
                levels.specialized.push(SpecializedFunction::new(run));
                Blocks::AnyBut(SpecializedCall { threads, function })
            }
            _ => Blocks::Any,
        };
        let (shape, columns, narrow) = (self.shape, levels.columns, levels.narrow);
        let single = levels.single;
        let vectors = Vectors { lanes: level.lanes, blocks, shape, columns, narrow, single };
        let built = vectorize::run(self.unit, self.body, self.symbol, vectors, &size)?;
        apply(&built);
        Ok(built)
    }

    /// Scalar code: a loop over the threads, or one for each region.
    fn scalar(
        &self,
        reason: ScalarReason,
        specialized: Vec<SpecializedFunction<'c>>,
    ) -> Result<BlockFunctions<'c>, Error> {
        let reason_is_cost = reason == ScalarReason::IrregularLoop;
        let vectorized = Vectorized { scalar: Some(reason), ..Vectorized::default() };
        if !self.body.function.calls().into_iter().any(is_barrier) {
            let exits = self.exits != OutlinedExits::Never;
            // It could have been vectorised, so that it is worth a function for newer processors.
            let levels = match reason_is_cost {
                true => processor_levels::scalar(self.machine.triple()),
                false => [None; VARIANTS],
            };
            let functions =
                thread_loop::functions(self.unit, self.body, self.symbol, exits, levels);
            return Ok(BlockFunctions { functions, vectorized, specialized });
        }
        let size = |ty: Type<'c>| self.machine.size_of(ty);
        let (blocks, shape) = (Blocks::Any, self.shape);
        let vectors =
            Vectors { lanes: 1, blocks, shape, columns: None, narrow: None, single: None };
        let built = vectorize::run(self.unit, self.body, self.symbol, vectors, &size).map_err(
            |reason| Error::Vectorization {
                kernel: self.reports.kernel().to_owned(),
                message: reason.to_string(),
            },
        )?;
        let run = [Some(self.guarded(built.functions[0])), None, None];
        let functions =
            Functions::Loop { thread_bytes: built.bytes_of_thread, run, along_y: false };
        Ok(BlockFunctions { functions, vectorized, specialized })
    }

    /// The function, in one that catches thread exits of functions it calls where there can be one.
    fn guarded(&self, run: Value<'c>) -> Value<'c> {
        match self.exits {
            OutlinedExits::Never => run,
            OutlinedExits::InPanics | OutlinedExits::Anywhere => {
                thread_loop::catching_exits(self.unit, run, self.symbol)
            }
        }
    }
}
