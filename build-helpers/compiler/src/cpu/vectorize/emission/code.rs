//! Code of a vector body: the function that is built, where the builders stand, and the operations on vectors
//! that need nothing of the scalar code.

use kernelmill_llvm::ir::{Block, Builder, Type, Value};

use super::super::layout::vector_value::{VectorValue, Vectors};
use crate::passes::entry::Unit;

/// Under which mask code is built; `None` for all lanes.
pub(in crate::cpu::vectorize) type Mask<'c> = Option<Value<'c>>;

/// The lanes of vectors on processors that access a row under a mask at once, whatever it has elements of.
pub(super) const AVX512: u32 = 16;

/// Which vectors a body is for.
#[derive(Clone, Copy)]
pub(in crate::cpu::vectorize) enum BodyKind<'c> {
    /// Those with a thread in every lane. Where what it assumes does not hold, it calls the masked body.
    Unmasked { masked: Option<Value<'c>> },
    /// All, by a mask.
    Masked,
}

/// Stack slots that hold a value between blocks; LLVM makes registers of them.
#[derive(Clone, Copy)]
pub(in crate::cpu::vectorize) struct Slots<'c> {
    pub(in crate::cpu::vectorize) first: Option<Value<'c>>,
    pub(in crate::cpu::vectorize) holds: Option<Value<'c>>,
    pub(in crate::cpu::vectorize) vector: Option<Value<'c>>,
    /// Of values that may be affine.
    pub(super) affine: Option<AffineSlots<'c>>,
}

/// The slots of an affine value. What is in that of the vector is older where `holds` is set.
#[derive(Clone, Copy)]
pub(super) struct AffineSlots<'c> {
    pub(super) first: Value<'c>,
    pub(super) slope: Value<'c>,
    pub(super) holds: Value<'c>,
}

/// A function that is built for a vector of threads.
pub(in crate::cpu::vectorize) struct Code<'a, 'c> {
    pub(in crate::cpu::vectorize) unit: &'a Unit<'a, 'c>,
    pub(in crate::cpu::vectorize) function: Value<'c>,
    pub(in crate::cpu::vectorize) builder: Builder<'c>,
    /// Stands before the end of the first block, where stack slots are.
    pub(in crate::cpu::vectorize) slots: Builder<'c>,
    pub(in crate::cpu::vectorize) vectors: Vectors<'c>,
    pub(in crate::cpu::vectorize) size: &'a dyn Fn(Type<'c>) -> u64,
    /// The parameter of the scalar code that is the block's shared memory.
    pub(in crate::cpu::vectorize) shared: Value<'c>,
}

impl<'c> Code<'_, 'c> {
    /// Exchanges the builder and that of the first block, to build there what is built next, and back.
    pub(in crate::cpu::vectorize) fn swap_builders(&mut self) {
        std::mem::swap(&mut self.builder, &mut self.slots);
    }

    pub(in crate::cpu::vectorize) fn edge_block(&self) -> Block<'c> {
        Block::append(self.unit.context, self.function, "")
    }

    /// Builds one thing or the other, as the bit says.
    pub(in crate::cpu::vectorize) fn either(
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

    pub(in crate::cpu::vectorize) fn store_to(&self, slots: Slots<'c>, widened: VectorValue<'c>) {
        if slots.affine.is_some_and(|slots| self.store_affine(slots, &widened)) {
            return;
        }
        if let Some(slot) = slots.first {
            let first = widened.first.expect("a strided value has a first lane");
            self.builder.store(first, slot);
        }
        if let Some(slot) = slots.vector {
            let all = self.vectors.all(&self.builder, widened);
            self.builder.store(all, slot);
        }
        if let Some(slot) = slots.holds {
            let yes = Type::int(self.unit.context, 1).constant(1);
            self.builder.store(widened.holds.unwrap_or(yes), slot);
        }
    }

    /// The new value where `taken` holds, else the old one; where only lanes decide, the new one.
    pub(in crate::cpu::vectorize) fn choose(
        &self,
        taken: Value<'c>,
        new: VectorValue<'c>,
        old: VectorValue<'c>,
        slots: Slots<'c>,
    ) -> VectorValue<'c> {
        if slots.first.is_none() {
            return new;
        }
        let yes = Type::int(self.unit.context, 1).constant(1);
        let select = |new: Option<Value<'c>>, old: Option<Value<'c>>| {
            Some(self.builder.select(taken, new?, old?))
        };
        VectorValue {
            first: select(new.first, old.first),
            step: old.step,
            slope: None,
            holds: slots.holds.and_then(|_| select(Some(new.holds.unwrap_or(yes)), old.holds)),
            vector: slots.vector.map(|_| {
                let all = self.vectors.all(&self.builder, new);
                let before = self.vectors.all(&self.builder, old);
                self.builder.select(taken, all, before)
            }),
        }
    }

    pub(in crate::cpu::vectorize) fn insert(
        &self,
        aggregate: Value<'c>,
        value: Value<'c>,
        indices: &[u32],
    ) -> Value<'c> {
        match indices {
            [] => value,
            [index, rest @ ..] => {
                let inner = self.builder.extract(aggregate, *index);
                let inner = self.insert(inner, value, rest);
                self.builder.insert(aggregate, inner, *index)
            }
        }
    }

    /// The lanes in which a condition is `bad`.
    pub(in crate::cpu::vectorize) fn failing(
        &self,
        condition: VectorValue<'c>,
        bad: bool,
    ) -> Value<'c> {
        let holds = self.vectors.all(&self.builder, condition);
        if bad { holds } else { self.vectors.not(&self.builder, holds) }
    }
}
