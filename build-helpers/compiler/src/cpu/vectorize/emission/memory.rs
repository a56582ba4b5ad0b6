//! Memory accesses of vectors: one vector access where the addresses of the lanes are consecutive, else
//! a gather or scatter, as in [ISPC](https://doi.org/10.1109/InPar.2012.6339601). Needs: the addresses'
//! strides. Guarantees: a lane outside of the mask accesses nothing.

use kernelmill_llvm::ir::{IntPredicate, ModuleExt, Opcode, Type, Value};

use super::{
    super::layout::vector_value::VectorValue,
    code::{BodyKind, Code, Mask},
    emitter::Emitter,
};
use crate::cpu::{instructions::resize, uniformity::Shape};

/// The lanes of vectors on aarch64.
const NEON: u32 = 4;

impl<'c> Emitter<'_, 'c> {
    /// Reads for the lanes of the mask; what others get is not defined.
    pub(in crate::cpu::vectorize) fn load(
        &mut self,
        block: usize,
        load: Value<'c>,
        mask: Mask<'c>,
    ) -> VectorValue<'c> {
        debug_assert_eq!(self.values.plan.shapes.shape(load), Shape::Varying);
        let (ty, align) = (load.ty(), self.alignment(load.operand(0), load));
        let is_by_coordinates = self.is_by_coordinates(load.operand(0), ty);
        let address = self.values.read(load.operand(0), block);
        if let Some(slope) = address.slope {
            let code = &mut self.values.code;
            return VectorValue::varying(code.gather_affine((address, slope), ty, align, mask));
        }
        if !self.values.code.follows(&address, ty) {
            if let Some(read) = self.interleaved(block, load, &address, mask) {
                return read;
            }
            let code = &mut self.values.code;
            return VectorValue::varying(match is_by_coordinates {
                true => code.gather_by_coordinates(address, ty, align, mask),
                false => code.gather(address, ty, align, mask),
            });
        }
        let first = address.first.expect("checked above");
        let Some(holds) = address.holds else {
            return VectorValue::varying(self.values.code.load_at_once(first, ty, align, mask));
        };
        let wide = ty.vector(self.values.code.vectors.lanes);
        let slot = self.values.code.slots.alloca(wide);
        let holds = self.values.code.builder.freeze(holds);
        self.values.code.either(
            holds,
            |code| {
                let all = code.load_at_once(first, ty, align, mask);
                code.builder.store(all, slot);
            },
            |code| {
                code.in_a_row_or(
                    address,
                    mask,
                    |code, first, mask| {
                        let all = code.load_at_once(first, ty, align, mask);
                        code.builder.store(all, slot);
                    },
                    |code| {
                        let all = code.gather(address, ty, align, mask);
                        code.builder.store(all, slot);
                    },
                );
            },
        );
        VectorValue::varying(self.values.code.builder.load(wide, slot))
    }

    /// The alignment of an access in every lane.
    fn alignment(&self, address: Value<'c>, access: Value<'c>) -> u32 {
        let element = self.values.plan.private.element(address);
        element.map_or(access.alignment(), |bytes| access.alignment().min(bytes as u32))
    }

    /// Whether it is looked at if the lanes of an address are in a row. A body for vectors that lack threads should be short.
    fn is_by_coordinates(&self, address: Value<'c>, ty: Type<'c>) -> bool {
        let plan = self.values.plan;
        matches!(self.exits.kind, BodyKind::Unmasked { .. })
            && plan.shapes.shape(address) == Shape::Varying
            && self.values.code.lies_in_rows(ty)
            && plan.is_of_coordinates(address)
    }

    /// Writes for the lanes of the mask.
    pub(in crate::cpu::vectorize) fn store(
        &mut self,
        block: usize,
        store: Value<'c>,
        mask: Mask<'c>,
    ) {
        if !self.store_in_structures(block, store, mask) {
            self.store_apart(block, store, mask);
        }
    }

    /// Writes for the lanes of the mask what one store writes.
    pub(super) fn store_apart(&mut self, block: usize, store: Value<'c>, mask: Mask<'c>) {
        let (value, address) = (store.operand(0), store.operand(1));
        let (ty, align) = (value.ty(), self.alignment(address, store));
        let is_by_coordinates = self.is_by_coordinates(address, ty);
        let value = self.values.read(value, block);
        let address = self.values.read(address, block);
        if address.is_uniform() && value.is_uniform() {
            let copy = self.values.code.builder.copy(store);
            copy.set_operand(0, value.once());
            copy.set_operand(1, address.once());
            return;
        }
        if address.is_uniform() {
            // Of lanes that write to one address the last one is the last to write.
            let last = self.values.code.last_lane(mask);
            let code = &self.values.code;
            let value = code.vectors.one(&code.builder, value, last);
            let copy = code.builder.copy(store);
            copy.set_operand(0, value);
            copy.set_operand(1, address.once());
            return;
        }
        let all = self.values.code.vectors.all(&self.values.code.builder, value);
        if let Some(slope) = address.slope {
            return self.values.code.scatter_affine(all, (address, slope), align, mask);
        }
        if !self.values.code.follows(&address, ty) {
            let is_usual = matches!(self.exits.kind, BodyKind::Unmasked { .. });
            let code = &mut self.values.code;
            if is_usual && code.store_spread(all, &address, align, mask) {
                return;
            }
            return match is_by_coordinates {
                true => code.scatter_by_coordinates(all, address, align, mask),
                false => code.scatter(all, address, align, mask),
            };
        }
        let first = address.first.expect("checked above");
        match address.holds {
            None => self.values.code.store_at_once(all, first, align, mask),
            Some(holds) => self.values.code.either(
                self.values.code.builder.freeze(holds),
                |code| code.store_at_once(all, first, align, mask),
                |code| {
                    code.in_a_row_or(
                        address,
                        mask,
                        |code, first, mask| code.store_at_once(all, first, align, mask),
                        |code| code.scatter(all, address, align, mask),
                    );
                },
            ),
        }
    }
}

impl<'c> Code<'_, 'c> {
    /// Whether the lanes of an address of elements of `ty` follow each other.
    fn follows(&self, address: &VectorValue<'c>, ty: Type<'c>) -> bool {
        let bytes = (self.size)(ty) as i64;
        address.first.is_some() && address.step == bytes
    }

    /// Does `at_once` where the addresses of all lanes of the mask are those of a row, and else `each`: a stride that does
    /// not hold in every lane often does in those that are there, as that of a neighbour's index that is kept within an
    /// image. Without a mask nothing is looked at that `holds` does not say.
    fn in_a_row_or(
        &mut self,
        address: VectorValue<'c>,
        mask: Mask<'c>,
        at_once: impl FnOnce(&mut Self, Value<'c>, Mask<'c>),
        each: impl FnOnce(&mut Self),
    ) {
        let (Some(first), Some(lanes)) = (address.first, mask) else { return each(self) };
        // It is of one lane, which need not be there.
        let first = self.builder.freeze(first);
        // As numbers: where LLVM 22 compares vectors of pointers of which one has the first lane's address as its base, a
        // vector takes the place of that address (by its name and result `InstCombinerImpl::EmitGEPOffsets` does it).
        let wide = Type::int(self.vectors.context, 64);
        let start = self.builder.cast(Opcode::PtrToInt, first, wide);
        let row = self.vectors.all(&self.builder, VectorValue::strided(start, address.step));
        let all = self.vectors.all(&self.builder, address);
        let all = self.builder.cast(Opcode::PtrToInt, all, wide.vector(self.vectors.lanes));
        // What a lane has that is not there can be poison.
        let others = self.builder.freeze(self.builder.compare(IntPredicate::Ne, all, row));
        let others = self.vectors.bits(&self.builder, self.builder.and(others, lanes));
        let none = self.builder.compare(IntPredicate::Eq, others, others.ty().constant(0));
        self.either(none, |code| at_once(code, first, mask), each);
    }

    pub(super) fn load_at_once(
        &mut self,
        first: Value<'c>,
        ty: Type<'c>,
        align: u32,
        mask: Mask<'c>,
    ) -> Value<'c> {
        let wide = ty.vector(self.vectors.lanes);
        let whole = |code: &Self| {
            let all = code.builder.load(wide, first);
            all.set_alignment(align);
            all
        };
        let Some(mask) = mask else { return whole(self) };
        let masked = |code: &Self| {
            let module = code.unit.module;
            code.builder.masked_read(module, wide, first, align, mask)
        };
        let Some(every) = self.worth_asking(mask) else { return masked(self) };
        let slot = self.slots.alloca(wide);
        self.either(
            every,
            |code| {
                code.builder.store(whole(code), slot);
            },
            |code| {
                code.builder.store(masked(code), slot);
            },
        );
        self.builder.load(wide, slot)
    }

    pub(super) fn store_at_once(
        &mut self,
        all: Value<'c>,
        first: Value<'c>,
        align: u32,
        mask: Mask<'c>,
    ) {
        let whole = |code: &mut Self| code.builder.store(all, first).set_alignment(align);
        let Some(mask) = mask else { return whole(self) };
        let masked = |code: &mut Self| {
            let module = code.unit.module;
            code.builder.masked_write(module, all, first, align, mask);
        };
        match self.worth_asking(mask) {
            None => masked(self),
            Some(every) => self.either(every, whole, masked),
        }
    }

    /// The last lane of a mask, which has one.
    fn last_lane(&self, mask: Mask<'c>) -> Value<'c> {
        let word = Type::int(self.unit.context, 32);
        let most = word.constant(u64::from(self.vectors.lanes - 1));
        let Some(mask) = mask else { return most };
        let bits = self.vectors.bits(&self.builder, mask);
        let count = self.unit.module.intrinsic("llvm.ctlz", &[bits.ty()]);
        let yes = Type::int(self.unit.context, 1).constant(1);
        let before = resize(&self.builder, self.builder.call(count, &[bits, yes]), word);
        self.builder.binary(Opcode::Sub, most, before)
    }

    /// Whether processors have stores under a mask.
    pub(super) fn writes_under_masks(&self) -> bool {
        self.vectors.lanes != NEON
    }

    /// Whether every lane is in the mask, where it pays to ask: NEON has no access under a mask, and LLVM
    /// makes four branches of one.
    fn worth_asking(&self, mask: Value<'c>) -> Option<Value<'c>> {
        (self.vectors.lanes == NEON).then(|| {
            let bits = self.vectors.bits(&self.builder, mask);
            self.builder.compare(IntPredicate::Eq, bits, bits.ty().constant(u64::MAX))
        })
    }

    pub(super) fn gather(
        &self,
        address: VectorValue<'c>,
        ty: Type<'c>,
        align: u32,
        mask: Mask<'c>,
    ) -> Value<'c> {
        let wide = ty.vector(self.vectors.lanes);
        let addresses = self.vectors.all(&self.builder, address);
        let mask = mask.unwrap_or_else(|| self.vectors.every());
        let module = self.unit.module;
        self.builder.masked_read(module, wide, addresses, align, mask)
    }

    pub(super) fn scatter(
        &self,
        all: Value<'c>,
        address: VectorValue<'c>,
        align: u32,
        mask: Mask<'c>,
    ) {
        let addresses = self.vectors.all(&self.builder, address);
        let mask = mask.unwrap_or_else(|| self.vectors.every());
        let module = self.unit.module;
        self.builder.masked_write(module, all, addresses, align, mask);
    }
}
