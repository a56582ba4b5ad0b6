//! Interleaved loads: fields of structures that lie one after the other are read as whole vectors, from which shuffles
//! take the field of each lane, after [Nuzman, Rosen and Zaks](https://doi.org/10.1145/1133981.1133997).
//!
//! Needs: all lanes are there, and the addresses grow by a few elements from lane to lane. Guarantees: nothing is read
//! before the first byte that the lanes read or after the last one. Between two lanes may be bytes that no lane reads,
//! on pages that both of them are on.

use kernelmill_llvm::ir::{Opcode, Type, TypeKind, Value};

use super::{super::layout::vector_value::VectorValue, emitter::Emitter};
use crate::cpu::{instructions::changes_memory, uniformity::Shape};

/// Loads of a block whose addresses differ by constants, and are less than a step apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Group<'c> {
    /// What their addresses are computed from, by constants.
    root: Value<'c>,
    /// Bytes from there to the first byte and behind the last one that they read for one lane.
    bytes: (i64, i64),
    loads: u32,
}

impl<'c> Emitter<'_, 'c> {
    /// What all lanes read, where their addresses are a few elements apart and it pays.
    pub(super) fn interleaved(
        &mut self,
        block: usize,
        load: Value<'c>,
        address: &VectorValue<'c>,
    ) -> Option<VectorValue<'c>> {
        let (ty, lanes) = (load.ty(), self.values.code.vectors.lanes);
        if !matches!(ty.kind(), TypeKind::Integer | TypeKind::Float | TypeKind::Double)
            || address.holds.is_some()
        {
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
        let rows = elements.div_ceil(lanes);
        if rows + group.loads * (rows - 1) > group.loads * lanes {
            return None;
        }
        let starts: Vec<u32> = (0..rows).map(|row| (row * lanes).min(elements - lanes)).collect();
        let offset = fixed(load.operand(0), &self.values.code.size).1;
        let first = address.first?;
        let read = self.read_rows(&group, load, (first, offset), &starts);
        let place = u32::try_from((offset - group.bytes.0) / bytes).ok()?;
        let element = |lane: u32| lane * step + place;
        let row = |lane: u32| (element(lane) / lanes).min(rows - 1);
        let context = self.values.code.unit.context;
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
            all = self.values.code.builder.shuffle(context, all, *next, &from);
        }
        let wide = ty.vector(lanes);
        if ty.kind() != TypeKind::Integer {
            all = self.values.code.builder.cast(Opcode::BitCast, all, wide);
        }
        Some(VectorValue::varying(all))
    }

    /// The vectors that a group reads from the first lane's element on, which lies `offset` bytes from the root; `starts`
    /// are their first elements.
    fn read_rows(
        &mut self,
        group: &Group<'c>,
        load: Value<'c>,
        (first, offset): (Value<'c>, i64),
        starts: &[u32],
    ) -> Vec<Value<'c>> {
        if let Some((bytes, read)) = self.rows.0.get(&group.root)
            && *bytes == group.bytes
        {
            return read.clone();
        }
        let (code, ty) = (&self.values.code, load.ty());
        let bytes = (code.size)(ty);
        let element = Type::int(code.unit.context, 8 * bytes as u32);
        let (byte, word) = (Type::int(code.unit.context, 8), Type::int(code.unit.context, 64));
        let align = load.alignment().min(bytes as u32);
        let read = |start: &u32| {
            let from = group.bytes.0 - offset + i64::from(*start) * bytes as i64;
            let from = code.builder.elements(byte, first, &[word.constant(from as u64)]);
            let row = code.builder.load(element.vector(code.vectors.lanes), from);
            row.set_alignment(align);
            row
        };
        let read: Vec<_> = starts.iter().map(read).collect();
        self.rows.0.insert(group.root, (group.bytes, read.clone()));
        read
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
        let mut offsets: Vec<_> = together
            .filter(|it| is_alike(it))
            .map(|it| fixed(it.operand(0), size))
            .filter(|(other, at)| *other == root && (at - offset) % bytes == 0)
            .map(|(_, at)| at)
            .collect();
        offsets.sort_unstable();
        // Those of one element for each lane: from the lowest on, as far as a step goes.
        let within = |lowest: i64| offset - lowest < step && offset >= lowest;
        let lowest = offsets.iter().copied().find(|it| within(*it)).unwrap_or(offset);
        let group: Vec<_> =
            offsets.into_iter().filter(|at| (0..step).contains(&(at - lowest))).collect();
        let highest = group.last().copied().unwrap_or(offset);
        Group { root, bytes: (lowest, highest + bytes), loads: group.len().max(1) as u32 }
    }

    /// Whether a load behind an instruction cannot be done before it: memory may be another, or a vector may be left to
    /// the masked body there.
    fn separates(&self, instruction: Value<'c>) -> bool {
        let plan = self.values.plan;
        changes_memory(instruction)
            || instruction.opcode() == Opcode::Store
            || plan.speculated.contains(&instruction)
            || plan.shapes.checked.contains(&instruction)
    }
}

/// Whether an integer has all the bits of its bytes.
pub(super) fn is_whole(bits: u32) -> bool {
    matches!(bits, 8 | 16 | 32 | 64)
}

/// What an address is computed from by constants, and how many bytes it lies behind that.
pub(super) fn fixed<'c>(
    mut address: Value<'c>,
    size: &dyn Fn(Type<'c>) -> u64,
) -> (Value<'c>, i64) {
    let mut offset = 0i64;
    while address.is_instruction() && address.opcode() == Opcode::GetElementPtr {
        let operands = address.operands();
        let &[base, index] = &operands[..] else { break };
        let Some(index) = index.as_u64().filter(|_| index.ty().int_width() == Some(64)) else {
            break;
        };
        let bytes = size(address.element_type()) as i64;
        let Some(further) = (index as i64).checked_mul(bytes).and_then(|it| it.checked_add(offset))
        else {
            break;
        };
        (address, offset) = (base, further);
    }
    (address, offset)
}
