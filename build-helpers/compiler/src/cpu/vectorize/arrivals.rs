//! What happens at barriers before regions: who is present is noted again, and where no thread is present the block goes
//! on elsewhere; lanes of a warp that wait for others in vain end the launch.

use kernelmill_llvm::{
    inkwell::context::Context,
    ir::{Block, Builder, IntPredicate, ModuleExt, Opcode, Type, Value},
};

use super::analysis::plan::Plan;
use crate::{
    cpu::{
        context::AtBarrier,
        deadlock,
        exit_flags::{self, Present},
    },
    passes::entry::Unit,
};

/// What the runner of a kernel knows whose threads exit before others, or are absent.
pub(super) struct Exits<'c> {
    /// The address of the flags.
    pub(super) tables: Value<'c>,
    /// The threads of the block.
    threads: Value<'c>,
    /// The address of the bit that says whether all of them are present.
    pub(super) whole: Value<'c>,
    /// The addresses of the numbers of the first line along x with a present thread, and of the one behind the last.
    lines: [Value<'c>; 2],
    /// What happens before each region.
    arrivals: Vec<AtBarrier>,
    /// The regions in which threads may be missing.
    pub(super) lacking: Vec<bool>,
}

/// The block that runs.
#[derive(Clone, Copy)]
pub(super) struct Place<'c> {
    /// Its address.
    pub(super) current: Value<'c>,
    pub(super) dims: [Value<'c>; 3],
    /// The function that runs it.
    pub(super) function: Value<'c>,
}

impl<'c> Exits<'c> {
    /// Says that all threads are present, where any can exit or be absent.
    pub(super) fn new(
        context: &'c Context,
        builder: &Builder<'c>,
        plan: &Plan<'c>,
        (tables, dims): (Value<'c>, [Value<'c>; 3]),
    ) -> Option<Self> {
        let (arrivals, lacking) = (plan.arrivals(), plan.lacking_regions());
        if !lacking.contains(&true) {
            return None;
        }
        let word = Type::int(context, 32);
        let lines = [word, word].map(|ty| builder.alloca(ty));
        builder.store(word.constant(0), lines[0]);
        builder.store(builder.multiply(dims[1], dims[2]), lines[1]);
        let dims = dims.map(|size| builder.zero_extend(size, Type::int(context, 64)));
        let threads = builder.multiply(builder.multiply(dims[0], dims[1]), dims[2]);
        exit_flags::clear(context, builder, tables, threads);
        let bit = Type::int(context, 1);
        let whole = builder.alloca(bit);
        builder.store(bit.constant(1), whole);
        Some(Self { tables, threads, whole, lines, arrivals, lacking })
    }

    /// Builds what happens at the barriers before `regions`; where to go to enter each.
    pub(super) fn arrivals(
        &self,
        (unit, builder): (&Unit<'_, 'c>, &Builder<'c>),
        place: Place<'c>,
        regions: &[Block<'c>],
        [done, panicked]: [Block<'c>; 2],
    ) -> Vec<Block<'c>> {
        let start = builder.block();
        let append = |name| Block::append(unit.context, place.function, name);
        let arrivals = self.arrivals.iter().zip(regions).map(|(happens, region)| match happens {
            AtBarrier::Nothing => *region,
            AtBarrier::LanesAreChecked | AtBarrier::ThreadsChange { .. } => append("arrival"),
        });
        let arrivals: Vec<_> = arrivals.collect();
        let returning_to = |number: u64| {
            let is = |happens: &AtBarrier| matches!(happens, AtBarrier::ThreadsChange { returning, .. } if *returning == number);
            let region = self.arrivals.iter().position(is);
            arrivals[region.expect("each absence ends at a barrier")]
        };
        for (number, happens) in self.arrivals.iter().enumerate() {
            builder.at_end(arrivals[number]);
            let (tables, threads) = (self.tables, self.threads);
            match *happens {
                AtBarrier::Nothing => {}
                AtBarrier::LanesAreChecked => {
                    let found = exit_flags::split_warp(unit, builder, tables, threads);
                    let none = found.ty().constant(0);
                    let is_whole = builder.compare(IntPredicate::Eq, found, none);
                    let split = append("split_warp");
                    builder.branch_if(is_whole, regions[number], split);
                    builder.at_end(split);
                    let thread = builder.binary(Opcode::Sub, found, found.ty().constant(1));
                    deadlock::report(unit, builder, place.current, place.dims, thread);
                    builder.branch(panicked);
                }
                AtBarrier::ThreadsChange { returning, next } => {
                    let present =
                        exit_flags::pass_barrier(unit, builder, tables, threads, returning);
                    let are_all = builder.compare(IntPredicate::Eq, present.count, threads);
                    builder.store(are_all, self.whole);
                    self.note_lines((unit, builder), place, &present);
                    let none = present.count.ty().constant(0);
                    let any = builder.compare(IntPredicate::Ne, present.count, none);
                    let other = if next == 0 { done } else { returning_to(next) };
                    builder.branch_if(any, regions[number], other);
                }
            }
        }
        builder.at_end(start);
        arrivals
    }

    /// Notes which lines along x have present threads.
    fn note_lines(
        &self,
        (unit, builder): (&Unit<'_, 'c>, &Builder<'c>),
        place: Place<'c>,
        present: &Present<'c>,
    ) {
        let word = Type::int(unit.context, 32);
        let narrow = |value| builder.truncate(value, word);
        let width = place.dims[0];
        let least = unit.module.intrinsic("llvm.umin", &[word]);
        let end = builder.call(least, &[narrow(present.end), narrow(self.threads)]);
        let first = builder.binary(Opcode::UDiv, narrow(present.start), width);
        let rounded = builder.add(end, builder.binary(Opcode::Sub, width, word.constant(1)));
        let behind = builder.binary(Opcode::UDiv, rounded, width);
        for (slot, line) in self.lines.into_iter().zip([first, behind]) {
            builder.store(line, slot);
        }
    }

    /// Of the `height` lines along x of the plane `z`, the first one with a present thread, and how many there are up to
    /// the last one.
    pub(super) fn lines_of_plane(
        &self,
        (unit, builder): (&Unit<'_, 'c>, &Builder<'c>),
        z: Value<'c>,
        height: Value<'c>,
    ) -> [Value<'c>; 2] {
        let word = Type::int(unit.context, 32);
        let [least, less] =
            ["llvm.umin", "llvm.usub.sat"].map(|name| unit.module.intrinsic(name, &[word]));
        let before = builder.multiply(z, height);
        let [first, behind] = self.lines.map(|slot| {
            let line = builder.load(word, slot);
            let inside = builder.call(less, &[line, before]);
            builder.call(least, &[inside, height])
        });
        [first, builder.binary(Opcode::Sub, behind, first)]
    }
}
