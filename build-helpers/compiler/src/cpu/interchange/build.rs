//! The interchanged copy of a loop: its run-time check, and iterations that all threads of a block take
//! together.

use std::collections::{HashMap, HashSet};

use kernelmill_llvm::ir::{Block, Builder, IntPredicate, ModuleExt, Opcode, Type, Value};

use super::{
    affine::{Affine, Of},
    candidate::{Candidate, Condition, THREADS, incoming, index_of},
    search::Search,
};
use crate::{
    cpu::{
        context::BARRIER,
        instructions::{phis, resize},
    },
    passes::entry::Unit,
};

/// So many rows at most are fetched ahead.
const FETCHED: usize = 4;

/// So many iterations ahead: one of a short loop takes less than memory.
const AHEAD: u64 = 2;

/// Where a loop's induction starts, before its first iteration.
struct Start<'c> {
    /// In the first thread.
    first: Value<'c>,
    /// In the thread itself.
    own: Value<'c>,
    /// How much more it is in the last thread than in the first, and in the thread itself.
    ways: [Value<'c>; 2],
}

/// Builds the iterations of a loop, and gives the block that they start with.
pub(super) fn interchange<'c>(
    unit: &Unit<'_, 'c>,
    search: &Search<'_, 'c>,
    dims: [Value<'c>; 3],
    found: &Candidate<'c>,
) -> Block<'c> {
    let context = unit.context;
    let end = found.guard.terminator().expect("it was read");
    let front = found.guard.split_before(context, end, "front");
    let affine = Affine::new(&search.of_block, search.thread).with(&found.inductions);
    let builder = Builder::new(context);
    builder.at_end(front);
    builder.take_line(end);
    let is_at = |value: Value<'c>| search.is_at_end(value, found.guard, front).then_some(value);
    let of_block = |value| is_at(value).filter(|_| search.of_block.shape(value).is_uniform());
    let interchange =
        Interchange { unit, search, found, front, affine, builder, of_block: &of_block };

    let word = Type::int(context, 32);
    let last = interchange.builder.binary(Opcode::Sub, dims[0], word.constant(1));
    let own = Of { known: HashMap::new(), at_hand: &is_at };
    let starts: Vec<_> = found
        .inductions
        .iter()
        .map(|induction| {
            let [first, high] = [word.constant(0), last].map(|number| {
                interchange.thread(number).value(&interchange.builder, induction.start)
            });
            let own = own.value(&interchange.builder, induction.start);
            let ways = [high, own].map(|it| interchange.builder.binary(Opcode::Sub, it, first));
            Start { first, own, ways }
        })
        .collect();
    let pays = interchange.pays(dims, last, &starts);
    interchange.build(pays, last, &starts)
}

/// What the parts of the new code are built from.
struct Interchange<'a, 'c> {
    unit: &'a Unit<'a, 'c>,
    search: &'a Search<'a, 'c>,
    found: &'a Candidate<'c>,
    /// The block in which all threads decide whether to take iterations together.
    front: Block<'c>,
    affine: Affine<'a, 'c>,
    builder: Builder<'c>,
    /// What is the same for all threads, and at hand.
    of_block: &'a dyn Fn(Value<'c>) -> Option<Value<'c>>,
}

impl<'c> Interchange<'_, 'c> {
    /// The thread of this number, in a block that is a row.
    fn thread(&self, number: Value<'c>) -> Of<'_, 'c> {
        let zero = number.ty().constant(0);
        let known = self.search.thread.into_iter().zip([number, zero, zero]).collect();
        Of { known, at_hand: self.of_block }
    }

    /// The first and the last thread, with what the inductions are in them.
    fn ends(
        &self,
        last: Value<'c>,
        starts: &[Start<'c>],
        in_first: impl Fn(usize) -> Value<'c>,
    ) -> [Of<'_, 'c>; 2] {
        let mut ends = [last.ty().constant(0), last].map(|number| self.thread(number));
        for (index, induction) in self.found.inductions.iter().enumerate() {
            let first = in_first(index);
            let last = self.builder.add(first, starts[index].ways[0]);
            for (end, value) in ends.iter_mut().zip([first, last]) {
                end.known.insert(induction.phi, value);
            }
        }
        ends
    }

    /// The bit that says whether all threads take two iterations at least, which are far apart.
    fn pays(&self, dims: [Value<'c>; 3], last: Value<'c>, starts: &[Start<'c>]) -> Value<'c> {
        let builder = &self.builder;
        let [first_thread, last_thread] = self.ends(last, starts, |index| starts[index].first);
        let conditions = self.found.enters.into_iter().chain([self.found.again]);
        let mut all: Vec<_> = conditions
            .map(|it| self.affine.in_all(builder, it, [&first_thread, &last_thread], last))
            .collect();
        let at_least = |value: Value<'c>, least: u64| {
            builder.compare(IntPredicate::Uge, value, value.ty().constant(least))
        };
        let driver = &self.found.inductions[self.found.driver];
        let step = first_thread.value(builder, driver.step);
        all.push(at_least(step, self.found.far));
        all.push(at_least(dims[0], THREADS));
        if self.found.is_for_rows {
            for size in &dims[1..] {
                let one = size.ty().constant(1);
                all.push(builder.compare(IntPredicate::Eq, *size, one));
            }
        }
        all.into_iter().reduce(|all, one| builder.and(all, one)).expect("there are some")
    }

    /// Builds the iterations, which start in the block that this gives.
    fn build(&self, pays: Value<'c>, last: Value<'c>, starts: &[Start<'c>]) -> Block<'c> {
        let Self { unit, found, builder, .. } = self;
        let context = unit.context;
        let append = |name| Block::append(context, found.header.function(), name);
        let (enter, start) = (append("enter"), append("interchange"));
        let (stop, rest) = (append("stop"), append("rest"));
        builder.branch_if(pays, enter, rest);
        builder.at_end(enter);
        let mut values = HashMap::new();
        self.copy(&found.first, &mut values);
        builder.branch(start);

        builder.at_end(start);
        let firsts: Vec<_> =
            found.inductions.iter().map(|induction| builder.phi(induction.phi.ty())).collect();
        let carried: Vec<_> =
            found.carried.iter().map(|(phi, _)| (*phi, builder.phi(phi.ty()))).collect();
        builder.call(unit.module.declare(BARRIER, Type::void(context).function(&[])), &[]);
        values.extend(carried.iter().copied());
        for ((induction, first), start) in found.inductions.iter().zip(&firsts).zip(starts) {
            values.insert(induction.phi, builder.add(*first, start.ways[1]));
        }
        let blocks = self.copy_blocks(&mut values);
        builder.take_line(found.latch.terminator().expect("it was read"));
        builder.at_end(start);
        builder.branch(blocks[&found.header]);
        let new = |value: Value<'c>| values.get(&value).copied().unwrap_or(value);

        let latch = blocks[&found.latch];
        builder.at_end(latch);
        let ends = self.ends(last, starts, |index| firsts[index]);
        let again = self.affine.in_all(builder, found.again, [&ends[0], &ends[1]], last);
        for ((induction, first), at) in found.inductions.iter().zip(&firsts).zip(starts) {
            let step = ends[0].value(builder, induction.step);
            first.add_incoming(at.first, enter);
            first.add_incoming(builder.add(*first, step), latch);
        }
        for ((old, value), (_, at)) in carried.iter().zip(&found.carried) {
            let next = incoming(*old, found.latch).expect("it was read");
            value.add_incoming(*at, enter);
            value.add_incoming(new(next), latch);
        }
        builder.branch_if(again, start, stop);
        self.fetch_ahead(&ends[0], &values);
        builder.at_end(stop);
        builder.branch(rest);
        self.go_on((rest, stop), starts, &new);
        start
    }

    /// Asks memory for what the iteration after the next accesses, where this one does. `first` is a thread.
    fn fetch_ahead(&self, first: &Of<'_, 'c>, values: &HashMap<Value<'c>, Value<'c>>) {
        let (builder, context) = (&self.builder, self.unit.context);
        let (word, wide) = (Type::int(context, 32), Type::int(context, 64));
        let step = self.found.inductions[self.found.driver].step;
        let mut done = HashSet::new();
        for row in &self.found.rows {
            if done.len() == FETCHED || !done.insert(row.pointer) {
                continue;
            }
            builder.before(values[&row.access]);
            let step = resize(builder, first.value(builder, step), wide);
            let bytes = builder.multiply(step, wide.constant(row.bytes * AHEAD));
            let next = builder.element(Type::int(context, 8), values[&row.pointer], bytes);
            let fetch = self.unit.module.intrinsic("llvm.prefetch", &[next.ty()]);
            // To be read, to be kept in all caches, data.
            builder.call(fetch, &[next, word.constant(0), word.constant(3), word.constant(1)]);
        }
    }

    /// Lets each thread go on in `rest` by itself: into the loop, out of it where it comes from `stop`,
    /// or past it where it comes from the front. `new` gives what values are in `stop`.
    fn go_on(
        &self,
        (rest, stop): (Block<'c>, Block<'c>),
        starts: &[Start<'c>],
        new: &dyn Fn(Value<'c>) -> Value<'c>,
    ) {
        let Self { unit, found, front, builder, .. } = self;
        builder.at_end(rest);
        let meet = |at_front: Value<'c>, at_stop: Value<'c>| {
            let phi = builder.phi(at_front.ty());
            phi.add_incoming(at_front, *front);
            phi.add_incoming(at_stop, stop);
            phi
        };
        let inductions = found.inductions.iter().zip(starts).map(|(it, start)| (it.phi, start.own));
        for (phi, start) in inductions.chain(found.carried.iter().copied()) {
            let place = index_of(phi, found.before).expect("it was read");
            let next = incoming(phi, found.latch).expect("it was read");
            phi.set_operand(place, meet(start, new(next)));
        }
        let results: Vec<_> = phis(found.exit.instructions())
            .map(|phi| {
                let value = new(incoming(phi, found.latch).expect("it comes from there"));
                (phi, meet(value.ty().poison(), value))
            })
            .collect();
        let bit = Type::int(unit.context, 1);
        let [no, yes] = [0, 1].map(|value| bit.constant(value));
        let taken = |condition: Condition<'c>, block: Block<'c>| {
            builder.before(block.terminator().expect("it is complete"));
            match condition.holds {
                true => condition.value,
                false => builder.binary(Opcode::Xor, condition.value, yes),
            }
        };
        let enters = found.enters.map_or(yes, |enters| taken(enters, *front));
        let again = taken(Condition { value: new(found.again.value), ..found.again }, stop);
        builder.at_end(rest);
        let enters = meet(enters, again);
        let has_left = meet(no, yes);
        let out = if found.enters.is_some() {
            let end = found.guard.terminator().expect("it was read");
            let past = found.guard.successors().into_iter().find(|it| *it != found.before);
            end.erase();
            builder.branch_if(enters, found.before, found.guard);
            builder.at_end(found.guard);
            builder.branch_if(has_left, found.exit, past.expect("there are two ways"));
            found.guard
        } else {
            builder.branch_if(enters, found.guard, found.exit);
            rest
        };
        for (phi, result) in results {
            phi.add_incoming(result, out);
        }
    }

    /// Copies instructions one after the other.
    fn copy(&self, all: &[Value<'c>], values: &mut HashMap<Value<'c>, Value<'c>>) {
        for instruction in all {
            let new = self.builder.copy(*instruction);
            for (index, operand) in instruction.operands().into_iter().enumerate() {
                if let Some(value) = values.get(&operand) {
                    new.set_operand(index as u32, *value);
                }
            }
            values.insert(*instruction, new);
        }
    }

    /// Copies the loop's blocks, without the header's phis and the latch's end.
    fn copy_blocks(
        &self,
        values: &mut HashMap<Value<'c>, Value<'c>>,
    ) -> HashMap<Block<'c>, Block<'c>> {
        let Self { unit, found, builder, .. } = self;
        let append = || Block::append(unit.context, found.header.function(), "");
        let blocks: HashMap<_, _> = found.blocks.iter().map(|old| (*old, append())).collect();
        let again = found.latch.terminator();
        let mut copied = Vec::new();
        for old in &found.blocks {
            builder.at_end(blocks[old]);
            for instruction in old.instructions() {
                if values.contains_key(&instruction) || Some(instruction) == again {
                    continue;
                }
                let is_phi = instruction.opcode() == Opcode::Phi;
                builder.take_line(instruction);
                let new =
                    if is_phi { builder.phi(instruction.ty()) } else { builder.copy(instruction) };
                values.insert(instruction, new);
                copied.push((instruction, new));
            }
        }
        for (old, new) in copied {
            for (index, operand) in old.operands().into_iter().enumerate() {
                let value = values.get(&operand).copied();
                if let Some(came) = old.incoming_block(index as u32) {
                    if let Some(came) = blocks.get(&came) {
                        new.add_incoming(value.unwrap_or(operand), *came);
                    }
                } else if let Some(value) = value {
                    new.set_operand(index as u32, value);
                }
            }
        }
        for old in &found.blocks {
            for next in old.successors() {
                if let Some(copy) = blocks.get(&next) {
                    blocks[old].redirect(next, *copy);
                }
            }
        }
        blocks
    }
}
