//! Accesses by coordinates, whose lanes are mostly in a row: it is looked at how far the lanes are from the first one. A gather takes
//! a processor several times as long as that and one access of a vector.
//!
//! Needs: an address of which nothing is known. Guarantees: a lane outside of the mask accesses nothing.

use kernelmill_llvm::ir::{IntPredicate, Opcode, Type, TypeKind, Value};

use super::{
    super::layout::vector_value::VectorValue,
    code::{Code, Mask},
    interleaved::is_whole,
};

/// The addresses of lanes, each from the first one's on.
#[derive(Clone, Copy)]
struct Distances<'c> {
    first: Value<'c>,
    /// In bytes.
    lanes: Value<'c>,
    mask: Mask<'c>,
}

impl<'c> Code<'_, 'c> {
    /// Whether elements of a type lie in memory as in a vector.
    pub(super) fn lies_in_rows(&self, ty: Type<'c>) -> bool {
        matches!(ty.kind(), TypeKind::Integer | TypeKind::Float | TypeKind::Double)
            && ty.int_width().is_none_or(is_whole)
    }

    /// Reads what is often in a row, forwards or backwards, or one element for all lanes.
    pub(super) fn gather_by_coordinates(
        &mut self,
        address: VectorValue<'c>,
        ty: Type<'c>,
        align: u32,
        mask: Mask<'c>,
    ) -> Value<'c> {
        let (wide, bytes) = (ty.vector(self.vectors.lanes), (self.size)(ty) as i64);
        let slot = self.slots.alloca(wide);
        let distances = self.distances(address, mask);
        let first = distances.first;
        let gather = |code: &Self| {
            code.builder.store(code.gather(address, ty, align, mask), slot);
        };
        let is_row = self.is_at(distances, bytes);
        self.either(
            is_row,
            |code| {
                let all = code.load_at_once(first, ty, align, mask);
                code.builder.store(all, slot);
            },
            |code| {
                // Lanes of none are a row, so that there is one that has this address, though it need not be the first lane.
                let is_one = code.is_at(distances, 0);
                code.either(
                    is_one,
                    |code| {
                        let one = code.builder.load(ty, first);
                        one.set_alignment(align);
                        code.builder.store(code.vectors.splat(&code.builder, one), slot);
                    },
                    |code| {
                        // A mask takes long to reverse.
                        if mask.is_some() {
                            return gather(code);
                        }
                        let is_back = code.is_at(distances, -bytes);
                        code.either(
                            is_back,
                            |code| {
                                let all = code.load_backwards(first, ty, align);
                                code.builder.store(all, slot);
                            },
                            |code| gather(code),
                        );
                    },
                );
            },
        );
        self.builder.load(wide, slot)
    }

    /// Writes what is often in a row.
    pub(super) fn scatter_by_coordinates(
        &mut self,
        all: Value<'c>,
        address: VectorValue<'c>,
        align: u32,
        mask: Mask<'c>,
    ) {
        let bytes = (self.size)(all.ty().element()) as i64;
        let distances = self.distances(address, mask);
        let is_row = self.is_at(distances, bytes);
        self.either(
            is_row,
            |code| code.store_at_once(all, distances.first, align, mask),
            |code| code.scatter(all, address, align, mask),
        );
    }

    fn distances(&self, address: VectorValue<'c>, mask: Mask<'c>) -> Distances<'c> {
        let (builder, vectors) = (&self.builder, self.vectors);
        // What a lane has that is not there can be poison.
        let all = builder.freeze(vectors.all(builder, address));
        let (word, zero) = (Type::int(vectors.context, 64), Type::int(vectors.context, 32).null());
        let numbers = builder.cast(Opcode::PtrToInt, all, word.vector(vectors.lanes));
        let start = vectors.splat(builder, builder.lane(numbers, zero));
        let lanes = builder.binary(Opcode::Sub, numbers, start);
        Distances { first: builder.lane(all, zero), lanes, mask }
    }

    /// Whether every lane of the mask is `step` bytes behind the one before.
    fn is_at(&self, distances: Distances<'c>, step: i64) -> Value<'c> {
        let (builder, vectors) = (&self.builder, self.vectors);
        let word = Type::int(vectors.context, 64);
        let row: Vec<_> =
            (0..i64::from(vectors.lanes)).map(|lane| word.constant((lane * step) as u64)).collect();
        let row = Value::constant_vector(&row);
        let others = builder.compare(IntPredicate::Ne, distances.lanes, row);
        let others = distances.mask.map_or(others, |mask| builder.and(others, mask));
        let others = vectors.bits(builder, others);
        builder.compare(IntPredicate::Eq, others, others.ty().constant(0))
    }

    /// The elements of a row whose last one is the first lane's.
    pub(super) fn load_backwards(&self, first: Value<'c>, ty: Type<'c>, align: u32) -> Value<'c> {
        let (context, lanes) = (self.vectors.context, self.vectors.lanes);
        let back = -i64::from(lanes - 1) * (self.size)(ty) as i64;
        let back = Type::int(context, 64).constant(back as u64);
        let start = self.builder.elements(Type::int(context, 8), first, &[back]);
        let row = self.builder.load(ty.vector(lanes), start);
        row.set_alignment(align);
        let order: Vec<_> = (0..lanes).rev().map(Some).collect();
        self.builder.shuffle(context, row, row, &order)
    }
}
