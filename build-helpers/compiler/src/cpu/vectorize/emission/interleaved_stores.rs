//! Interleaved stores: where all fields of structures are written that lie one after the other, shuffles bring them into the
//! order of memory, and whole vectors are written, after [Nuzman, Rosen and
//! Zaks](https://doi.org/10.1145/1133981.1133997).
//!
//! Needs: all lanes are there, and the stores of a block write every byte from the first lane's structure to the last one's.
//! Guarantees: nothing else is written. The stores are done where the last of them stands; between them nothing of the block
//! reads or writes memory, or is left to the masked body.

use kernelmill_llvm::ir::{Opcode, Type, TypeKind, Value};

use super::{addresses::fixed, emitter::Emitter, interleaved::is_whole};
use crate::cpu::{
    instructions::{changes_memory, is_dropped},
    uniformity::{Shape, is_pure_intrinsic},
};

/// The most fields of a structure that is written at once. Other than a power of two takes about their square of shuffles.
const FIELDS: usize = 8;

/// Stores of a block that write whole structures.
struct Structure<'c> {
    /// In the order of their addresses.
    fields: Vec<Value<'c>>,
    /// The last one in the block.
    last: Value<'c>,
    /// Bytes from the structure of a lane to that of the next.
    step: i64,
    /// Bytes of a field.
    bytes: i64,
}

impl<'c> Emitter<'_, 'c> {
    /// Does a store of all lanes, together with others; whether there are such.
    pub(super) fn store_in_structures(&mut self, block: usize, store: Value<'c>) -> bool {
        let Some(structure) = self.structure(block, store) else { return false };
        if structure.last == store && !self.store_structures(block, &structure) {
            let all = self.values.plan.flow.blocks[block].instructions();
            for one in all.into_iter().filter(|it| structure.fields.contains(it)) {
                self.store_apart(block, one, None);
            }
        }
        true
    }

    /// Writes whole structures; whether the addresses are those that the plan says.
    fn store_structures(&mut self, block: usize, structure: &Structure<'c>) -> bool {
        let Structure { fields, step, bytes, .. } = structure;
        let start = self.values.read(fields[0].operand(1), block);
        let (Some(first), None) = (start.first, start.holds) else { return false };
        if start.step != *step {
            return false;
        }
        let lanes = self.values.code.vectors.lanes;
        let element = Type::int(self.values.code.unit.context, 8 * *bytes as u32).vector(lanes);
        let values = fields.iter().map(|field| {
            let value = self.values.read(field.operand(0), block);
            let code = &self.values.code;
            let all = code.vectors.all(&code.builder, value);
            match field.operand(0).ty().kind() {
                TypeKind::Integer => all,
                _ => code.builder.cast(Opcode::BitCast, all, element),
            }
        });
        let values: Vec<_> = values.collect();
        let rows = self.interleave(&values);
        let code = &self.values.code;
        let (byte, wide) = (Type::int(code.unit.context, 8), Type::int(code.unit.context, 64));
        let align = fields[0].alignment().min(*bytes as u32);
        for (number, row) in (0..).zip(rows) {
            let at = wide.constant(number * u64::from(lanes) * *bytes as u64);
            let to = code.builder.elements(byte, first, &[at]);
            code.builder.store(row, to).set_alignment(align);
        }
        true
    }

    /// The first lane of each vector, then the second of each and so on, as vectors.
    fn interleave(&self, vectors: &[Value<'c>]) -> Vec<Value<'c>> {
        let (code, count) = (&self.values.code, vectors.len() as u32);
        let (context, lanes) = (code.unit.context, code.vectors.lanes);
        if count == 1 {
            return vectors.to_vec();
        }
        if count % 2 == 0 {
            let every_other = |from: usize| vectors.iter().copied().skip(from).step_by(2);
            let [even, odd] =
                [0, 1].map(|from| self.interleave(&every_other(from).collect::<Vec<_>>()));
            let zip = |left, right, from: u32| {
                let lane = |it: u32| Some(from + it / 2 + it % 2 * lanes);
                code.builder.shuffle(
                    context,
                    left,
                    right,
                    &(0..lanes).map(lane).collect::<Vec<_>>(),
                )
            };
            let rows = even.into_iter().zip(odd);
            return rows
                .flat_map(|(even, odd)| [0, lanes / 2].map(|it| zip(even, odd, it)))
                .collect();
        }
        let row = |row: u32| {
            let of = |lane: u32| ((row * lanes + lane) / count, (row * lanes + lane) % count);
            (1..count).fold(vectors[0], |all, next| {
                let from = (0..lanes).map(|lane| match of(lane) {
                    (place, vector) if vector == next => Some(lanes + place),
                    (place, 0) if next == 1 => Some(place),
                    (_, vector) if vector < next => Some(lane),
                    _ => None,
                });
                code.builder.shuffle(
                    context,
                    all,
                    vectors[next as usize],
                    &from.collect::<Vec<_>>(),
                )
            })
        };
        (0..count).map(row).collect()
    }

    /// The stores that write whole structures together with this one.
    fn structure(&self, block: usize, store: Value<'c>) -> Option<Structure<'c>> {
        let size = &self.values.code.size;
        let field = |it: Value<'c>| {
            let ty = it.operand(0).ty();
            let is_plain =
                matches!(ty.kind(), TypeKind::Integer | TypeKind::Float | TypeKind::Double);
            let is_one = is_plain && ty.int_width().is_none_or(is_whole) && !it.is_exact_access();
            match self.values.plan.shapes.shape(it.operand(1)) {
                Shape::Strided(step) if is_one => Some((step, size(ty) as i64)),
                _ => None,
            }
        };
        let (step, bytes) = field(store)?;
        let count = usize::try_from(step / bytes).ok()?;
        if !(2..=FIELDS).contains(&count) || step % bytes != 0 {
            return None;
        }
        let (root, _) = fixed(store.operand(1), size);
        let is_alike = |it: Value<'c>| {
            it.opcode() == Opcode::Store
                && field(it) == Some((step, bytes))
                && fixed(it.operand(1), size).0 == root
        };
        let ends = |it: &Value<'c>| !is_alike(*it) && self.touches_memory(*it);
        let all = self.values.plan.flow.blocks[block].instructions();
        let place = all.iter().position(|it| *it == store).expect("it is in its block");
        let start = all[..place].iter().rposition(ends).map_or(0, |it| it + 1);
        let end = all[place..].iter().position(ends).map_or(all.len(), |it| place + it);
        let mut fields: Vec<_> =
            all[start..end].iter().copied().filter(|it| is_alike(*it)).collect();
        let last = *fields.last()?;
        let offset = |it: &Value<'c>| fixed(it.operand(1), size).1;
        fields.sort_by_key(offset);
        let lowest = offset(&fields[0]);
        let are_all = (0..).zip(&fields).all(|(number, it)| offset(it) == lowest + number * bytes);
        (are_all && fields.len() == count).then_some(Structure { fields, last, step, bytes })
    }

    /// Whether a store before an instruction cannot be done behind it.
    fn touches_memory(&self, instruction: Value<'c>) -> bool {
        let plan = self.values.plan;
        let is_call = instruction.is_call()
            && is_pure_intrinsic(instruction).is_none()
            && !is_dropped(instruction);
        is_call
            || matches!(instruction.opcode(), Opcode::Load | Opcode::Store)
            || changes_memory(instruction)
            || plan.speculated.contains(&instruction)
            || self.may_leave_at(instruction)
    }
}
