//! Reads and writes memory for a group: at once where the elements follow each other, else each
//! lane its own.

use kernelmill_llvm::ir::{IntPredicate, Type, Value};

use super::{
    form::Form,
    group::{Group, Mask},
    values::VARYING,
};

/// The lanes of groups on aarch64.
const NEON: u32 = 4;

impl<'c> Group<'_, 'c> {
    /// Whether the lanes of an address of elements of `ty` follow each other.
    fn follows(&self, address: &Form<'c>, ty: Type<'c>) -> bool {
        let bytes = (self.size)(ty) as i64;
        address.first.is_some() && address.step == bytes
    }

    /// Reads for the lanes of the mask; what others get is not defined.
    pub(super) fn load(&mut self, block: usize, load: Value<'c>, mask: Mask<'c>) -> Form<'c> {
        debug_assert_eq!(self.plan.shapes.shape(load), VARYING);
        let (ty, align) = (load.ty(), load.alignment());
        let address = self.read(load.operand(0), block);
        if !self.follows(&address, ty) {
            return Form::varying(self.gather(address, ty, align, mask));
        }
        let first = address.first.expect("checked above");
        let Some(holds) = address.holds else {
            return Form::varying(self.load_at_once(first, ty, align, mask));
        };
        let wide = ty.vector(self.plan.lanes);
        let slot = self.slots.alloca(wide);
        self.either(
            holds,
            |group| {
                let all = group.load_at_once(first, ty, align, mask);
                group.builder.store(all, slot);
            },
            |group| {
                let all = group.gather(address, ty, align, mask);
                group.builder.store(all, slot);
            },
        );
        Form::varying(self.builder.load(wide, slot))
    }

    /// Writes for the lanes of the mask.
    pub(super) fn store(&mut self, block: usize, store: Value<'c>, mask: Mask<'c>) {
        let (value, address) = (store.operand(0), store.operand(1));
        let (ty, align) = (value.ty(), store.alignment());
        let value = self.read(value, block);
        let address = self.read(address, block);
        if address.is_uniform() && value.is_uniform() {
            let copy = self.builder.copy(store);
            copy.set_operand(0, value.once());
            copy.set_operand(1, address.once());
            return;
        }
        let all = self.vectors.all(&self.builder, value);
        if !self.follows(&address, ty) {
            return self.scatter(all, address, align, mask);
        }
        let first = address.first.expect("checked above");
        match address.holds {
            None => self.store_at_once(all, first, align, mask),
            Some(holds) => self.either(
                holds,
                |group| group.store_at_once(all, first, align, mask),
                |group| group.scatter(all, address, align, mask),
            ),
        }
    }

    /// Builds one thing or the other, as the bit says.
    fn either(
        &mut self,
        holds: Value<'c>,
        yes: impl FnOnce(&mut Self),
        no: impl FnOnce(&mut Self),
    ) {
        let (fast, slow, after) = (self.edge_block(), self.edge_block(), self.edge_block());
        self.builder.branch_if(holds, fast, slow);
        self.builder.at_end(fast);
        yes(self);
        self.builder.branch(after);
        self.builder.at_end(slow);
        no(self);
        self.builder.branch(after);
        self.builder.at_end(after);
    }

    fn load_at_once(
        &mut self,
        first: Value<'c>,
        ty: Type<'c>,
        align: u32,
        mask: Mask<'c>,
    ) -> Value<'c> {
        let wide = ty.vector(self.plan.lanes);
        let whole = |group: &Self| {
            let all = group.builder.load(wide, first);
            all.set_alignment(align);
            all
        };
        let Some(mask) = mask else { return whole(self) };
        let masked = |group: &Self| {
            let module = group.unit.module;
            group.builder.masked_read(module, wide, first, align, mask)
        };
        let Some(every) = self.worth_asking(mask) else { return masked(self) };
        let slot = self.slots.alloca(wide);
        self.either(
            every,
            |group| {
                group.builder.store(whole(group), slot);
            },
            |group| {
                group.builder.store(masked(group), slot);
            },
        );
        self.builder.load(wide, slot)
    }

    fn store_at_once(&mut self, all: Value<'c>, first: Value<'c>, align: u32, mask: Mask<'c>) {
        let whole = |group: &mut Self| group.builder.store(all, first).set_alignment(align);
        let Some(mask) = mask else { return whole(self) };
        let masked = |group: &mut Self| {
            let module = group.unit.module;
            group.builder.masked_write(module, all, first, align, mask);
        };
        match self.worth_asking(mask) {
            None => masked(self),
            Some(every) => self.either(every, whole, masked),
        }
    }

    /// Whether every lane is in the mask, where it pays to ask: NEON has no access under a mask, and LLVM
    /// makes four branches of one.
    fn worth_asking(&self, mask: Value<'c>) -> Option<Value<'c>> {
        (self.plan.lanes == NEON).then(|| {
            let bits = self.vectors.bits(&self.builder, mask);
            self.builder.compare(IntPredicate::Eq, bits, bits.ty().constant(u64::MAX))
        })
    }

    fn gather(&self, address: Form<'c>, ty: Type<'c>, align: u32, mask: Mask<'c>) -> Value<'c> {
        let wide = ty.vector(self.plan.lanes);
        let addresses = self.vectors.all(&self.builder, address);
        let mask = mask.unwrap_or_else(|| self.vectors.every());
        let module = self.unit.module;
        self.builder.masked_read(module, wide, addresses, align, mask)
    }

    fn scatter(&self, all: Value<'c>, address: Form<'c>, align: u32, mask: Mask<'c>) {
        let addresses = self.vectors.all(&self.builder, address);
        let mask = mask.unwrap_or_else(|| self.vectors.every());
        let module = self.unit.module;
        self.builder.masked_write(module, all, addresses, align, mask);
    }
}
