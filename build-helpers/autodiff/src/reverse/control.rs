//! Control flow of the reverse sweep: from each block to the predecessor that it was entered from.

use kernelmill_llvm::ir::{Block, Builder, IntPredicate, Opcode, Type, Value};

use super::state::{CachedItem, Reverse};
use crate::{
    analysis::{LoopId, TripCount},
    copier::incoming,
};

impl<'c> Reverse<'_, 'c> {
    /// Branches from a block to the predecessor that it was entered from. `changes` are the adjoints of
    /// the block's phis.
    pub(super) fn leave(&mut self, block: usize, changes: &[(Value<'c>, Value<'c>)]) {
        let context = self.unit.context;
        let before = self.analysis.cfg.predecessors[block].clone();
        let edges: Vec<_> =
            before.iter().map(|_| Block::append(context, self.new, "edge")).collect();
        self.choose(block, &before, &edges);
        let seen = self.seen.clone();
        for (from, edge) in before.into_iter().zip(edges) {
            self.code.at_end(edge);
            self.seen.clone_from(&seen);
            let copy_of = self.analysis.cfg.blocks[from];
            for (phi, change) in changes {
                let came = incoming(*phi).into_iter().find(|(_, source)| *source == copy_of);
                if let Some((value, _)) = came {
                    self.add(value, *change);
                }
            }
            self.step_back(from, block);
            self.code.branch(self.back[from]);
        }
    }

    /// Writes the branch to the edge by which the block was entered.
    fn choose(&mut self, block: usize, before: &[usize], edges: &[Block<'c>]) {
        if let [only] = edges {
            self.code.branch(*only);
        } else if let Some(id) = self.analysis.loops.headed_by(block) {
            let iteration = self.iteration(id);
            let zero = iteration.ty().constant(0);
            let first = self.code.compare(IntPredicate::Eq, iteration, zero);
            let entry = usize::from(before[0] != self.analysis.loops.get(id).preheader);
            self.code.branch_if(first, edges[entry], edges[1 - entry]);
        } else if let Some((condition, holds)) = self.decision(block, before) {
            let condition = self.value(condition);
            self.code.branch_if(condition, edges[holds], edges[1 - holds]);
        } else {
            let entry = self.read(CachedItem::Predecessor(block));
            let switch = self.code.switch(entry, edges[0], edges.len() as u32 - 1);
            for (index, edge) in edges.iter().enumerate().skip(1) {
                switch.add_case(entry.ty().constant(index as u64), *edge);
            }
        }
    }

    /// The condition that decided between two predecessors, and the index of the one for `true`.
    fn decision(&self, block: usize, before: &[usize]) -> Option<(Value<'c>, usize)> {
        let (cfg, loops) = (&self.analysis.cfg, &self.analysis.loops);
        let above = cfg.immediate_dominator(block);
        let last = cfg.blocks[above].terminator()?;
        let condition = last.branch_condition()?;
        let is_decision = before.len() == 2
            && cfg.successors[above].len() == 2
            && loops.around(above) == loops.around(block);
        if !is_decision {
            return None;
        }
        let side = |from: usize| {
            (0..2).find(|&side| {
                let next = cfg.successors[above][side];
                if from == above {
                    return next == block;
                }
                next != block && cfg.predecessors[next].len() == 1 && cfg.dominates(next, from)
            })
        };
        match (side(before[0])?, side(before[1])?) {
            // The first successor is the one where the condition holds.
            (0, 1) => Some((condition, 0)),
            (1, 0) => Some((condition, 1)),
            _ => None,
        }
    }

    /// Undoes the effect of an edge on loops: an exit, or the next iteration.
    fn step_back(&mut self, from: usize, to: usize) {
        let analysis = self.analysis;
        if let Some(id) = self.repeats(from, to) {
            let iteration = self.iteration(id);
            let one = iteration.ty().constant(1);
            let before = self.code.binary(Opcode::Sub, iteration, one);
            self.code.store(before, self.iterations[id.0]);
            self.read_record(id);
        }
        for id in analysis.loops.left_by(from, to).into_iter().rev() {
            let count = self.count(id);
            self.code.store(count, self.iterations[id.0]);
            self.read_record(id);
        }
    }

    /// The loop that an edge repeats.
    fn repeats(&self, from: usize, to: usize) -> Option<LoopId> {
        let loops = &self.analysis.loops;
        loops.headed_by(to).filter(|id| loops.contains(*id, from))
    }

    /// The number of times that a loop was repeated before it was left.
    fn count(&mut self, id: LoopId) -> Value<'c> {
        match self.analysis.inductions.trip_count(id).copied() {
            Some(count) => self.computed_count(&count),
            None => self.read(CachedItem::Repetitions(id)),
        }
    }

    fn computed_count(&mut self, count: &TripCount<'c>) -> Value<'c> {
        let counter = &count.counter;
        let wide = Type::int(self.unit.context, 64);
        let (mut start, mut bound) = (self.value(counter.start), self.value(count.bound));
        let mut step = self.value(counter.step);
        if let Some(element) = counter.element {
            start = self.code.pointer_to_int(start, wide);
            bound = self.code.pointer_to_int(bound, wide);
            let size = wide.constant(self.unit.machine.size_of(element));
            let signed = self.sign_extend(step, wide);
            step = self.code.multiply(signed, size);
        }
        // The division is unsigned, of absolute values: a distance may use all bits.
        let up = self.code.binary(Opcode::Sub, bound, start);
        let down = self.code.binary(Opcode::Sub, start, bound);
        let zero = step.ty().constant(0);
        let against = self.code.binary(Opcode::Sub, zero, step);
        let rises = self.code.compare(IntPredicate::Sgt, step, zero);
        let distance = self.code.select(rises, up, down);
        let length = self.code.select(rises, step, against);
        let steps = self.code.binary(Opcode::UDiv, distance, length);
        let steps = if steps.ty() == wide { steps } else { self.code.zero_extend(steps, wide) };
        let last = wide.constant(u64::from(count.of_next));
        self.code.binary(Opcode::Sub, steps, last)
    }

    fn sign_extend(&self, value: Value<'c>, ty: Type<'c>) -> Value<'c> {
        if value.ty() == ty { value } else { self.code.cast(Opcode::SExt, value, ty) }
    }

    /// Writes the code on the edges of the forward sweep: records of the tape, and counts.
    pub(super) fn write_edges(&self) {
        let (cfg, loops) = (&self.analysis.cfg, &self.analysis.loops);
        let counters: Vec<_> = (0..loops.all.len())
            .map(|number| {
                let id = LoopId(number);
                let is_counted =
                    self.cache.iter().any(|cached| cached.item == CachedItem::Repetitions(id));
                is_counted.then(|| self.new_slot(Type::int(self.unit.context, 64)))
            })
            .collect();
        for from in 0..cfg.blocks.len() {
            for &to in &cfg.successors[from] {
                self.write_edge(from, to, &counters);
            }
        }
    }

    fn write_edge(&self, from: usize, to: usize, counters: &[Option<Value<'c>>]) {
        let loops = &self.analysis.loops;
        let wide = Type::int(self.unit.context, 64);
        let Some(builder) = self.on_edge(from, to) else { return };
        for id in loops.left_by(from, to) {
            self.write_record(&builder, id);
            let cached =
                self.cache.iter().find(|cached| cached.item == CachedItem::Repetitions(id));
            if let (Some(cached), Some(counter)) = (cached, counters[id.0]) {
                let count = builder.load(wide, counter);
                builder.store(count, cached.slot);
            }
        }
        if let Some(id) = self.repeats(from, to) {
            self.write_record(&builder, id);
            if let Some(counter) = counters[id.0] {
                let count = builder.load(wide, counter);
                builder.store(builder.add(count, wide.constant(1)), counter);
            }
        } else if let Some(counter) = loops.headed_by(to).and_then(|id| counters[id.0]) {
            builder.store(wide.constant(0), counter);
        }
    }

    /// A builder on an edge of the forward sweep. No edge is critical, so that is the end of one block or
    /// the start of the other.
    fn on_edge(&self, from: usize, to: usize) -> Option<Builder<'c>> {
        let blocks = &self.analysis.cfg.blocks;
        let copy = |block: usize| self.shadows.copier.blocks[&blocks[block]];
        let builder = Builder::new(self.unit.context);
        let at = if blocks[from].successors().len() == 1 {
            copy(from).terminator()
        } else {
            copy(to).first_after_phis()
        };
        builder.before(at?);
        Some(builder)
    }
}
