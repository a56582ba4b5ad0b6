//! Builds the linear way in place of a divergent branch.

use std::collections::HashSet;

use kernelmill_llvm::ir::{Block, Builder, ModuleExt, Type, Value};

use super::{
    absences::Absences,
    candidate::{Candidate, View, uses_outside},
    phis::{come_from, incoming, move_edges},
};
use crate::{
    cpu::operation::{ABSENCE_BARRIER, ANY_PRESENT, LEAVE},
    passes::entry::Unit,
};

/// Linearises a branch of a function; `view` is of it.
pub(in crate::cpu) fn linearize<'c>(
    unit: &Unit<'_, 'c>,
    view: &View<'c>,
    absences: &mut Absences<'c>,
    candidate: &Candidate,
) {
    let all = view.blocks();
    let some = |numbers: &[usize]| numbers.iter().map(|&it| all[it]).collect::<Vec<_>>();
    let build = Build { unit, builder: Builder::new(unit.context) };
    match candidate {
        Candidate::Branch { block, way, both, ways, join } => {
            let [ours, others] = [some(&ways[0]), some(&ways[1])];
            let branch = Branch { block: all[*block], way: *way, join: all[*join], ours, others };
            match both {
                true => build.both_ways(absences, &branch),
                false => build.one_way(absences, &branch),
            }
        }
        Candidate::Cycle { block, way, join, blocks } => {
            build.close_uses(view, blocks, *join);
            let members = some(blocks);
            build.cycle(absences, (all[*block], *way, all[*join]), &members);
        }
    }
}

/// A branch whose ways join, with the blocks of them.
struct Branch<'c> {
    block: Block<'c>,
    /// Which way comes first.
    way: usize,
    join: Block<'c>,
    ours: Vec<Block<'c>>,
    others: Vec<Block<'c>>,
}

struct Build<'u, 'a, 'c> {
    unit: &'u Unit<'a, 'c>,
    builder: Builder<'c>,
}

impl<'c> Build<'_, '_, 'c> {
    /// The threads that go the other way do so at once, and are absent until the join.
    fn one_way(&self, absences: &mut Absences<'c>, branch: &Branch<'c>) {
        let &Branch { block, way, join, .. } = branch;
        let outer = absences.around(block);
        let absence = absences.open(outer);
        let [first, other] = self.ways(block, way);
        let [leave, barrier, back] = self.append(block, ["leave", "absence", "present"]);
        // The other way ends where threads leave.
        let is_short = other == join;
        let from = if is_short { vec![block] } else { branch.others.clone() };
        let theirs = self.move_edges(&from, join, leave);
        self.at_end_call(leave, LEAVE, &[absence]);
        self.builder.branch(barrier);
        let entry = if is_short { leave } else { other };
        self.branch(block, way, [barrier, entry]);
        // What they bring along, at hand after the barrier.
        let kept = theirs.iter().map(|(_, value)| match is_short {
            true => *value,
            false => self.phi(barrier, (*value, leave), block),
        });
        let kept: Vec<_> = kept.collect();
        self.barrier(barrier, (0, absence), [first, back]);
        come_from(self.unit.context, first, (block, barrier));
        let ours = self.move_edges(&branch.ours, join, back);
        self.complete(&ours, barrier);
        self.barrier(back, (absence, outer), [join, join]);
        let kept = kept.into_iter().map(|value| match is_short {
            // It is one value, that of before the branch.
            true => {
                let before = incoming(value)[0].0;
                value.erase();
                before
            }
            false => value,
        });
        self.choose(&ours, &kept.collect::<Vec<_>>(), (block, way), back);
        absences.enclose(&branch.ours, (outer, absence));
        absences.place(&[leave, back], outer);
        absences.place(&[barrier], absence);
    }

    /// The threads of one way go first, and are absent then until those of the other have come to the join too.
    fn both_ways(&self, absences: &mut Absences<'c>, branch: &Branch<'c>) {
        let &Branch { block, way, join, .. } = branch;
        let outer = absences.around(block);
        let second = absences.open(outer);
        let first = absences.open(second);
        let [ours, others] = self.ways(block, way);
        let names = ["leave", "absence", "done", "others", "present"];
        let [leave, barrier, done, change, back] = self.append(block, names);
        self.branch(block, way, [barrier, leave]);
        self.at_end_call(leave, LEAVE, &[first]);
        self.builder.branch(barrier);
        self.barrier(barrier, (0, first), [ours, change]);
        come_from(self.unit.context, ours, (block, barrier));
        let mine = self.move_edges(&branch.ours, join, done);
        self.at_end_call(done, LEAVE, &[second]);
        self.builder.branch(change);
        let kept: Vec<_> =
            mine.iter().map(|(_, value)| self.phi(change, (*value, done), barrier)).collect();
        self.barrier(change, (first, second), [others, back]);
        come_from(self.unit.context, others, (block, change));
        let theirs = self.move_edges(&branch.others, join, back);
        self.complete(&theirs, change);
        self.barrier(back, (second, outer), [join, join]);
        self.choose(&theirs, &kept, (block, 1 - way), back);
        absences.enclose(&branch.ours, (outer, first));
        absences.enclose(&branch.others, (outer, second));
        absences.place(&[leave, back], outer);
        absences.place(&[barrier, done], first);
        absences.place(&[change], second);
    }

    /// The threads that leave a loop are absent until all have.
    fn cycle(
        &self,
        absences: &mut Absences<'c>,
        (block, way, join): (Block<'c>, usize, Block<'c>),
        members: &[Block<'c>],
    ) {
        let outer = absences.around(block);
        let absence = absences.open(outer);
        let [_, stay] = self.ways(block, way);
        let [leave, barrier, back] = self.append(block, ["leave", "absence", "present"]);
        let theirs = self.move_edges(&[block], join, leave);
        let others: Vec<_> = members.iter().copied().filter(|it| *it != block).collect();
        let has_others = others.iter().any(|it| it.successors().contains(&join));
        let rest = self.move_edges(&others, join, back);
        self.branch(block, way, [leave, barrier]);
        come_from(self.unit.context, stay, (block, barrier));
        // Moving edges has replaced the phis of the join: those of the second time are the ones that are there.
        let mut kept = Vec::new();
        for ((_, value), (phi, other)) in theirs.iter().zip(&rest) {
            let slot = self.slot(block.function(), phi.ty());
            self.builder.at_end(leave);
            self.store(*value, slot);
            kept.push((*phi, *other, slot));
        }
        self.at_end_call(leave, LEAVE, &[absence]);
        self.builder.branch(barrier);
        self.barrier(barrier, (0, absence), [stay, back]);
        self.complete(&rest, barrier);
        if has_others {
            self.builder.at_end(back);
            kept.iter().for_each(|(_, other, slot)| self.store(*other, *slot));
        }
        self.barrier(back, (absence, outer), [join, join]);
        let end = back.terminator().expect("it is complete");
        self.builder.before(end);
        for (phi, other, slot) in kept {
            let value = self.load(phi.ty(), slot);
            phi.add_incoming(value, back);
            if !has_others {
                other.erase();
            }
        }
        absences.enclose(members, (outer, absence));
        absences.place(&[leave, back], outer);
        absences.place(&[barrier], absence);
    }

    /// Gives values of a loop that are used outside a phi at the join.
    fn close_uses(&self, view: &View<'c>, members: &[usize], join: usize) {
        let blocks = view.blocks();
        let mut inside = vec![false; blocks.len()];
        members.iter().for_each(|&member| inside[member] = true);
        let join_block = blocks[join];
        let before = (0..blocks.len()).filter(|&it| blocks[it].successors().contains(&join_block));
        let before: Vec<_> = before.collect();
        for value in members.iter().flat_map(|&member| blocks[member].instructions()) {
            let uses = uses_outside(view, value, &inside, join).expect("the search has asked");
            if uses.is_empty() {
                continue;
            }
            let start = join_block.instructions()[0];
            self.builder.before(start);
            let phi = self.builder.phi(value.ty());
            for &from in &before {
                // A value is there on all ways that can be taken.
                let is_taken = view.can_go(from, join);
                phi.add_incoming(if is_taken { value } else { value.ty().null() }, blocks[from]);
            }
            uses.into_iter().for_each(|(user, index)| user.set_operand(index, phi));
        }
    }

    /// New blocks at the end of the function of `block`.
    fn append<const N: usize>(&self, block: Block<'c>, names: [&str; N]) -> [Block<'c>; N] {
        names.map(|name| Block::append(self.unit.context, block.function(), name))
    }

    /// Where a branch leads that takes the way, and where the other does.
    fn ways(&self, block: Block<'c>, way: usize) -> [Block<'c>; 2] {
        let next = block.successors();
        [next[way], next[1 - way]]
    }

    /// Replaces the branch of a block by one that leads to the first of `to` where it took `way`.
    fn branch(&self, block: Block<'c>, way: usize, to: [Block<'c>; 2]) {
        let condition = condition(block);
        block.terminator().expect("a branch ends the block").erase();
        self.builder.at_end(block);
        self.builder.branch_if(condition, to[way], to[1 - way]);
    }

    fn move_edges(
        &self,
        from: &[Block<'c>],
        join: Block<'c>,
        to: Block<'c>,
    ) -> Vec<(Value<'c>, Value<'c>)> {
        let from: HashSet<_> = from.iter().copied().collect();
        move_edges(self.unit.context, (&from, join), to)
    }

    /// A phi of a block that is not complete, with this value from a block, and none from `other`.
    fn phi(
        &self,
        block: Block<'c>,
        (value, from): (Value<'c>, Block<'c>),
        other: Block<'c>,
    ) -> Value<'c> {
        self.builder.at_end(block);
        let phi = self.builder.phi(value.ty());
        phi.add_incoming(value, from);
        phi.add_incoming(phi.ty().null(), other);
        phi
    }

    /// Says of the phis of a new block that control may come to it from `skip`, where no thread has a value.
    fn complete(&self, moved: &[(Value<'c>, Value<'c>)], skip: Block<'c>) {
        moved.iter().for_each(|(_, phi)| phi.add_incoming(phi.ty().null(), skip));
    }

    /// Gives the phis of the join what threads have that went this way of a branch, and what is `kept` for others.
    fn choose(
        &self,
        moved: &[(Value<'c>, Value<'c>)],
        kept: &[Value<'c>],
        (block, way): (Block<'c>, usize),
        back: Block<'c>,
    ) {
        let condition = condition(block);
        let end = back.terminator().expect("it is complete");
        self.builder.before(end);
        for ((phi, value), kept) in moved.iter().zip(kept) {
            let chosen = match way {
                0 => self.builder.select(condition, *value, *kept),
                _ => self.builder.select(condition, *kept, *value),
            };
            phi.add_incoming(chosen, back);
        }
    }

    /// Ends a block with an absence barrier of these numbers, and a branch: to the first block where any thread is
    /// present, else to the second.
    fn barrier(&self, block: Block<'c>, (returning, next): (usize, usize), to: [Block<'c>; 2]) {
        self.at_end_call(block, ABSENCE_BARRIER, &[returning, next]);
        if to[0] == to[1] {
            self.builder.branch(to[0]);
            return;
        }
        let bit = Type::int(self.unit.context, 1).function(&[]);
        let any = self.builder.call(self.unit.module.declare(ANY_PRESENT, bit), &[]);
        self.builder.branch_if(any, to[0], to[1]);
    }

    /// A call of an operation at the end of a block, with numbers.
    fn at_end_call(&self, block: Block<'c>, name: &str, numbers: &[usize]) {
        let word = Type::int(self.unit.context, 32);
        let numbers: Vec<_> = numbers.iter().map(|&it| word.constant(it as u64)).collect();
        let ty = Type::void(self.unit.context).function(&vec![word; numbers.len()]);
        self.builder.at_end(block);
        self.builder.call(self.unit.module.declare(name, ty), &numbers);
    }

    /// Memory of the thread for a value.
    fn slot(&self, function: Value<'c>, ty: Type<'c>) -> Value<'c> {
        let start = function.blocks()[0].instructions()[0];
        self.builder.before(start);
        self.builder.alloca(self.stored(ty))
    }

    /// Bits are stored as bytes.
    fn stored(&self, ty: Type<'c>) -> Type<'c> {
        if ty.is_int(1) { Type::int(self.unit.context, 8) } else { ty }
    }

    fn store(&self, value: Value<'c>, slot: Value<'c>) {
        let stored = self.stored(value.ty());
        let value = match value.ty().is_int(1) {
            true => self.builder.zero_extend(value, stored),
            false => value,
        };
        self.builder.store(value, slot);
    }

    fn load(&self, ty: Type<'c>, slot: Value<'c>) -> Value<'c> {
        let value = self.builder.load(self.stored(ty), slot);
        if ty.is_int(1) { self.builder.truncate(value, ty) } else { value }
    }
}

fn condition(block: Block<'_>) -> Value<'_> {
    let end = block.terminator().expect("a branch ends the block");
    end.branch_condition().expect("the branch is conditional")
}
