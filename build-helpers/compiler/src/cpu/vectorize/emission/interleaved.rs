//! Interleaved loads: fields of structures that lie one after the other are read as whole vectors, from which shuffles
//! take the field of each lane, after [Nuzman, Rosen and Zaks](https://doi.org/10.1145/1133981.1133997).
//!
//! Needs: the addresses grow by a few elements from lane to lane. Guarantees: nothing is read before the first byte that the
//! lanes read or after the last one. Between two lanes may be bytes that no lane reads, on pages that both of them are on.
//! Where only the launch knows whether all lanes are there, under a mask, and whether the addresses grow so, it is asked. Where
//! some lanes are not there, AVX-512 reads the elements of the others in rows under masks of these.

use kernelmill_llvm::ir::{IntPredicate, Opcode, Type, TypeKind, Value};

use super::{
    super::layout::vector_value::VectorValue,
    addresses::{Root, fixed},
    code::{AVX512, BodyKind, Code, Mask},
    emitter::Emitter,
    rows::Row,
    values::Values,
};
use crate::cpu::{instructions::changes_memory, uniformity::Shape};

/// Loads of a block whose addresses differ by constants, and are less than a step apart.
struct Group<'c> {
    /// What their addresses are computed from, by constants.
    root: Root<'c>,
    /// Bytes from there to the first byte and behind the last one that they read for one lane.
    bytes: (i64, i64),
    /// With the bytes from the root to what each reads.
    loads: Vec<(Value<'c>, i64)>,
}

/// How a group is read.
struct Layout {
    /// Elements from a lane to the next.
    step: u32,
    /// Bytes of an element.
    bytes: i64,
    /// The first elements of the vectors that are read.
    starts: Vec<u32>,
}

impl<'c> Emitter<'_, 'c> {
    /// What the lanes of a mask read, where their addresses are a few elements apart and it pays.
    pub(super) fn interleaved(
        &mut self,
        block: usize,
        load: Value<'c>,
        address: &VectorValue<'c>,
        mask: Mask<'c>,
    ) -> Option<VectorValue<'c>> {
        if let Some(read) = self.rows.ahead.get(&load) {
            return Some(*read);
        }
        let (ty, lanes) = (load.ty(), self.values.code.vectors.lanes);
        if !matches!(ty.kind(), TypeKind::Integer | TypeKind::Float | TypeKind::Double) {
            return None;
        }
        let bytes = i64::try_from((self.values.code.size)(ty)).ok()?;
        let step = u32::try_from(address.step / bytes).ok()?;
        if step < 2 || address.step % bytes != 0 || !ty.int_width().is_none_or(is_whole) {
            return None;
        }
        let group = self.group(block, load, address.step, bytes);
        let extent = u32::try_from((group.bytes.1 - group.bytes.0) / bytes).ok()?;
        let elements = (lanes - 1) * step + extent;
        let (rows, loads) = (elements.div_ceil(lanes), group.loads.len() as u32);
        if rows + loads * (rows - 1) > loads * lanes {
            return None;
        }
        let starts = (0..rows).map(|row| (row * lanes).min(elements - lanes)).collect();
        let layout = Layout { step, bytes, starts };
        let offset = fixed(load.operand(0), &self.values.code.size).1;
        let start = (address.first?, offset);
        if mask.is_some() || address.holds.is_some() {
            // A body for vectors that lack threads should be short.
            let is_usual = matches!(self.exits.kind, BodyKind::Unmasked { .. });
            return is_usual.then(|| self.read_where_whole((load, address), &group, &layout, mask));
        }
        let is_same = |it: &Row<'c>| it.root == group.root && it.bytes == group.bytes;
        let known = self.rows.read.iter().position(is_same).unwrap_or_else(|| {
            let vectors = self.values.code.read_rows(&group, &layout, load, start, None);
            self.rows.read.push(Row { root: group.root.clone(), bytes: group.bytes, vectors });
            self.rows.read.len() - 1
        });
        let vectors = &self.rows.read[known].vectors;
        let all = self.values.code.take(vectors, &layout, load, offset - group.bytes.0);
        Some(VectorValue::varying(all))
    }

    /// Reads a group as rows where all lanes are there and in a row, and else each lane's elements: all of the loads, so
    /// that it is asked once.
    fn read_where_whole(
        &mut self,
        (load, address): (Value<'c>, &VectorValue<'c>),
        group: &Group<'c>,
        layout: &Layout,
        mask: Mask<'c>,
    ) -> VectorValue<'c> {
        let code = &mut self.values.code;
        let offset = fixed(load.operand(0), &code.size).1;
        let first = address.first.expect("a strided address has a first lane");
        let whole = code.is_whole_row(address, mask);
        let wide = |it: &(Value<'c>, i64)| it.0.ty().vector(code.vectors.lanes);
        let slots: Vec<_> = group.loads.iter().map(|it| code.slots.alloca(wide(it))).collect();
        let rows = |code: &mut Code<'_, 'c>, masks: Option<&[Value<'c>]>| {
            let vectors = code.read_rows(group, layout, load, (first, offset), masks);
            for (&(load, at), &slot) in group.loads.iter().zip(&slots) {
                let all = code.take(&vectors, layout, load, at - group.bytes.0);
                code.builder.store(all, slot);
            }
        };
        let apart =
            |code: &mut Code<'_, 'c>| code.read_apart(group, (address, offset), mask, &slots);
        let some = |code: &mut Code<'_, 'c>| {
            let Some(mask) = mask.filter(|_| code.vectors.lanes == AVX512) else {
                return apart(code);
            };
            let in_rows = |code: &mut Code<'_, 'c>| {
                let masks = code.masks_of_rows(group, layout, mask);
                rows(code, Some(&masks));
            };
            match address.holds {
                Some(holds) => code.either(code.builder.freeze(holds), in_rows, apart),
                None => in_rows(code),
            }
        };
        code.either(whole, |code| rows(code, None), some);
        for (&(other, _), &slot) in group.loads.iter().zip(&slots) {
            let all = code.builder.load(other.ty().vector(code.vectors.lanes), slot);
            self.rows.ahead.insert(other, VectorValue::varying(all));
        }
        self.rows.ahead[&load]
    }

    /// The loads of a block that can be done together with one, whose lanes are `step` bytes apart.
    fn group(&self, block: usize, load: Value<'c>, step: i64, bytes: i64) -> Group<'c> {
        let size = &self.values.code.size;
        let (root, offset) = fixed(load.operand(0), size);
        let all = self.values.plan.flow.blocks[block].instructions();
        let place = all.iter().position(|it| *it == load).expect("it is in its block");
        let start = all[..place].iter().rposition(|it| self.separates(*it)).map_or(0, |it| it + 1);
        let is_alike = |it: &Value<'c>| {
            it.opcode() == Opcode::Load
                && matches!(it.ty().kind(), TypeKind::Integer | TypeKind::Float | TypeKind::Double)
                && size(it.ty()) as i64 == bytes
                && it.ty().int_width().is_none_or(is_whole)
                && self.values.plan.shapes.shape(it.operand(0)) == Shape::Strided(step)
        };
        let together = all[start..].iter().take_while(|it| !self.separates(**it));
        let mut loads: Vec<_> = together
            .filter(|it| is_alike(it))
            .map(|it| (*it, fixed(it.operand(0), size)))
            .filter(|(_, (other, at))| *other == root && (at - offset) % bytes == 0)
            .map(|(it, (_, at))| (it, at))
            .collect();
        loads.sort_by_key(|(_, at)| *at);
        // Those of one element for each lane: from the lowest on, as far as a step goes.
        let within = |lowest: i64| offset - lowest < step && offset >= lowest;
        let lowest = loads.iter().map(|(_, at)| *at).find(|it| within(*it)).unwrap_or(offset);
        loads.retain(|(_, at)| (0..step).contains(&(at - lowest)));
        let highest = loads.last().map_or(offset, |(_, at)| *at);
        Group { root, bytes: (lowest, highest + bytes), loads }
    }

    /// Whether a vector may be left to the masked body where an instruction's stride does not hold, other than at the start.
    pub(super) fn may_leave_at(&self, instruction: Value<'c>) -> bool {
        let Values { plan, assumptions, .. } = &self.values;
        plan.shapes.checked.contains(&instruction)
            && plan.can_restart[plan.flow.number(instruction.block())]
            && !assumptions.are_made_of(instruction)
    }

    /// Whether a load behind an instruction cannot be done before it: memory may be another, or a vector may be left to
    /// the masked body there.
    fn separates(&self, instruction: Value<'c>) -> bool {
        let plan = self.values.plan;
        changes_memory(instruction)
            || instruction.opcode() == Opcode::Store
            || plan.speculated.contains(&instruction)
            || self.may_leave_at(instruction)
    }
}

impl<'c> Code<'_, 'c> {
    /// Whether all lanes are there, and their addresses are those of a row.
    fn is_whole_row(&self, address: &VectorValue<'c>, mask: Mask<'c>) -> Value<'c> {
        let builder = &self.builder;
        let holds = address.holds.map(|holds| builder.freeze(holds));
        let are_there = mask.map(|mask| {
            let bits = self.vectors.bits(builder, mask);
            builder.compare(IntPredicate::Eq, bits, bits.ty().constant(u64::MAX))
        });
        let both = are_there.into_iter().chain(holds).reduce(|one, other| builder.and(one, other));
        both.expect("one of the two is asked for")
    }

    /// Reads each lane's elements of a group to `slots`, at an address that lies `offset` bytes from the root.
    fn read_apart(
        &self,
        group: &Group<'c>,
        (address, offset): (&VectorValue<'c>, i64),
        mask: Mask<'c>,
        slots: &[Value<'c>],
    ) {
        let all = self.vectors.all(&self.builder, *address);
        let (byte, word) = (Type::int(self.unit.context, 8), Type::int(self.unit.context, 64));
        for (&(load, at), &slot) in group.loads.iter().zip(slots) {
            let further = word.constant((at - offset) as u64);
            let addresses = VectorValue::varying(self.builder.elements(byte, all, &[further]));
            let read = self.gather(addresses, load.ty(), load.alignment(), mask);
            self.builder.store(read, slot);
        }
    }

    /// The vectors that a group reads, each under its mask, `first` being the address of the first lane in a load that reads
    /// `offset` bytes from the root.
    fn read_rows(
        &self,
        group: &Group<'c>,
        layout: &Layout,
        load: Value<'c>,
        (first, offset): (Value<'c>, i64),
        masks: Option<&[Value<'c>]>,
    ) -> Vec<Value<'c>> {
        let bytes = layout.bytes;
        let element = Type::int(self.unit.context, 8 * bytes as u32);
        let (byte, word) = (Type::int(self.unit.context, 8), Type::int(self.unit.context, 64));
        let (align, row) = (load.alignment().min(bytes as u32), element.vector(self.vectors.lanes));
        let read = |(number, start): (usize, &u32)| {
            let from = group.bytes.0 - offset + i64::from(*start) * bytes;
            let from = self.builder.elements(byte, first, &[word.constant(from as u64)]);
            let Some(masks) = masks else {
                let row = self.builder.load(row, from);
                row.set_alignment(align);
                return row;
            };
            self.builder.masked_read(self.unit.module, row, from, align, masks[number])
        };
        layout.starts.iter().enumerate().map(read).collect()
    }

    /// For each vector that a group reads, which of its elements are of lanes of a mask; those that no load reads are of none.
    fn masks_of_rows(&self, group: &Group<'c>, layout: &Layout, mask: Value<'c>) -> Vec<Value<'c>> {
        let lanes = self.vectors.lanes;
        let extent = ((group.bytes.1 - group.bytes.0) / layout.bytes) as u32;
        let of_row = |start: &u32| {
            let lane = |at: u32| match start + at {
                element if element % layout.step < extent => Some(element / layout.step),
                _ => Some(lanes),
            };
            let taken: Vec<_> = (0..lanes).map(lane).collect();
            self.builder.shuffle(self.unit.context, mask, mask.ty().null(), &taken)
        };
        layout.starts.iter().map(of_row).collect()
    }

    /// What a load reads, of the vectors that were read: the elements that lie `offset` bytes from the first one, and those
    /// a step further for each lane.
    fn take(&self, read: &[Value<'c>], layout: &Layout, load: Value<'c>, offset: i64) -> Value<'c> {
        let Layout { step, bytes, starts } = layout;
        let (lanes, rows, context) = (self.vectors.lanes, read.len() as u32, self.unit.context);
        let place = (offset / bytes) as u32;
        let element = |lane: u32| lane * step + place;
        let row = |lane: u32| (element(lane) / lanes).min(rows - 1);
        let mut all = read[0];
        for (index, next) in read.iter().enumerate().skip(1) {
            let index = index as u32;
            let from: Vec<_> = (0..lanes)
                .map(|lane| match row(lane) {
                    before if before < index && index == 1 => Some(element(lane)),
                    before if before < index => Some(lane),
                    this if this == index => Some(lanes + element(lane) - starts[index as usize]),
                    _ => None,
                })
                .collect();
            all = self.builder.shuffle(context, all, *next, &from);
        }
        match load.ty().kind() {
            TypeKind::Integer => all,
            _ => self.builder.cast(Opcode::BitCast, all, load.ty().vector(lanes)),
        }
    }
}

/// Whether an integer has all the bits of its bytes.
pub(super) fn is_whole(bits: u32) -> bool {
    matches!(bits, 8 | 16 | 32 | 64)
}
