//! Interleaved stores: where all fields of structures are written that lie one after the other, shuffles bring them into the
//! order of memory, and whole vectors are written, after [Nuzman, Rosen and
//! Zaks](https://doi.org/10.1145/1133981.1133997).
//!
//! Needs: the stores of a block write every byte from the first lane's structure to the last one's. Guarantees: nothing else
//! is written; under a mask, each structure is under the mask of its lane. The stores are done where the last of them stands;
//! between them nothing of the block writes memory, reads what they may write, or is left to the masked body.
//!
//! A store that writes one field alone, a few elements from lane to lane, becomes rows too, under masks of that field's
//! elements: AVX-512 writes such a row at once, and a scatter element by element.

use kernelmill_llvm::ir::{Opcode, Place, Type, TypeKind, Value};

use super::{
    super::layout::vector_value::VectorValue,
    addresses::{fixed, object},
    code::{AVX512, BodyKind, Code, Mask},
    emitter::Emitter,
    interleaved::is_whole,
};
use crate::cpu::{
    instructions::{changes_memory, is_dropped},
    uniformity::{Shape, is_pure_intrinsic},
};

/// The most fields of a structure that is written at once. Other than a power of two takes about their square of shuffles.
const FIELDS: usize = 8;

/// The elements from lane to lane at most of a store that becomes rows by itself.
const SPREAD: i64 = 4;

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
    /// Does a store of the lanes of the mask, together with others; whether there are such.
    pub(super) fn store_in_structures(
        &mut self,
        block: usize,
        store: Value<'c>,
        mask: Mask<'c>,
    ) -> bool {
        // A body for vectors that lack threads should be short.
        let is_usual = matches!(self.exits.kind, BodyKind::Unmasked { .. });
        if mask.is_some() && !(is_usual && self.values.code.writes_under_masks()) {
            return false;
        }
        let Some(structure) = self.structure(block, store) else { return false };
        if structure.last == store && !self.store_structures(block, &structure, mask) {
            let all = self.values.plan.flow.blocks[block].instructions();
            for one in all.into_iter().filter(|it| structure.fields.contains(it)) {
                self.store_apart(block, one, mask);
            }
        }
        true
    }

    /// Writes whole structures; whether the addresses are those that the plan says.
    fn store_structures(
        &mut self,
        block: usize,
        structure: &Structure<'c>,
        mask: Mask<'c>,
    ) -> bool {
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
        let masks = mask.map(|mask| self.interleave(&vec![mask; fields.len()]));
        let align = fields[0].alignment().min(*bytes as u32);
        self.values.code.store_rows(first, (&rows, *bytes), align, masks.as_deref());
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
        let written = object(store.operand(1));
        let is_elsewhere = |it: Value<'c>| {
            it.opcode() == Opcode::Load
                && !it.is_exact_access()
                && self.are_apart(object(it.operand(0)), written)
        };
        let ends =
            |it: &Value<'c>| !is_alike(*it) && !is_elsewhere(*it) && self.touches_memory(*it);
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

    /// Whether no byte is part of both of two objects, which are known by their addresses.
    fn are_apart(&self, one: Value<'c>, other: Value<'c>) -> bool {
        let function = self.values.plan.function;
        let parameters = function.parameters();
        let is_alone = |it: Value<'c>| {
            // A launch is given no address of the block's memory.
            let place = parameters.iter().position(|parameter| *parameter == it)?;
            let is_noalias = function.has_attribute(Place::Parameter(place as u32), "noalias");
            Some(is_noalias || it == self.values.code.shared)
        };
        match (is_alone(one), is_alone(other)) {
            (Some(first), Some(second)) => one != other && (first || second),
            _ => false,
        }
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

impl<'c> Code<'_, 'c> {
    /// Writes vectors that follow each other in memory, each under its mask.
    fn store_rows(
        &self,
        first: Value<'c>,
        (rows, bytes): (&[Value<'c>], i64),
        align: u32,
        masks: Option<&[Value<'c>]>,
    ) {
        let (byte, wide) = (Type::int(self.unit.context, 8), Type::int(self.unit.context, 64));
        for (number, row) in rows.iter().enumerate() {
            let at = wide.constant(number as u64 * u64::from(self.vectors.lanes) * bytes as u64);
            let to = self.builder.elements(byte, first, &[at]);
            match masks {
                Some(masks) => {
                    let mask = masks[number];
                    self.builder.masked_write(self.unit.module, *row, to, align, mask);
                }
                None => self.builder.store(*row, to).set_alignment(align),
            }
        }
    }

    /// Writes elements that are a few of them apart as rows; whether they are.
    pub(super) fn store_spread(
        &self,
        all: Value<'c>,
        address: &VectorValue<'c>,
        align: u32,
        mask: Mask<'c>,
    ) -> bool {
        let (ty, lanes) = (all.ty().element(), self.vectors.lanes);
        let bytes = (self.size)(ty) as i64;
        let is_number = matches!(ty.kind(), TypeKind::Integer | TypeKind::Float | TypeKind::Double)
            && ty.int_width().is_none_or(is_whole);
        let (Some(first), None) = (address.first, address.holds) else { return false };
        let step = address.step / bytes;
        let is_few = (2..=SPREAD).contains(&step) && address.step % bytes == 0;
        if lanes != AVX512 || !is_number || !is_few {
            return false;
        }
        let step = step as u32;
        let mask = mask.unwrap_or_else(|| self.vectors.every());
        let spread = |from: Value<'c>, others: Option<u32>, row: u32| {
            let lane = |at: u32| match row * lanes + at {
                element if element % step == 0 => Some(element / step),
                _ => others,
            };
            let taken: Vec<_> = (0..lanes).map(lane).collect();
            self.builder.shuffle(self.unit.context, from, from.ty().null(), &taken)
        };
        let rows: Vec<_> = (0..step).map(|row| spread(all, None, row)).collect();
        let masks: Vec<_> = (0..step).map(|row| spread(mask, Some(lanes), row)).collect();
        self.store_rows(first, (&rows, bytes), align, Some(&masks));
        true
    }
}
