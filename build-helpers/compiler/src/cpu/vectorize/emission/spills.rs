//! Accesses to context arrays: where a region stores what other regions use, and loads what others stored.

use std::ops::Range;

use kernelmill_llvm::ir::{Builder, Type, TypeKind, Value};

use super::{
    super::layout::{
        block_slots,
        context_arrays::{ContextArrays, Spill, leaf_bytes},
        region_function::RegionParameters,
        vector_value::VectorValue,
    },
    code::Code,
};

/// The context arrays of a region's function.
pub(in crate::cpu::vectorize) struct Spills<'a, 'c> {
    pub(in crate::cpu::vectorize) arrays: &'a ContextArrays<'c>,
    pub(in crate::cpu::vectorize) extra: RegionParameters<'c>,
}

impl<'c> Spills<'_, 'c> {
    /// The address of the vector's first element of an array over all threads.
    pub(in crate::cpu::vectorize) fn threads_at(
        &self,
        code: &Code<'_, 'c>,
        builder: &Builder<'c>,
        offset: u64,
        bytes: u64,
    ) -> Value<'c> {
        let context = code.unit.context;
        let (byte, wide) = (Type::int(context, 8), Type::int(context, 64));
        let start = builder.multiply(self.extra.padded, wide.constant(offset));
        let step = builder.multiply(self.extra.at, wide.constant(bytes));
        let array = builder.element(byte, self.extra.threads, start);
        builder.element(byte, array, step)
    }

    /// Keeps a value for other regions.
    pub(in crate::cpu::vectorize) fn keep(
        &mut self,
        code: &Code<'_, 'c>,
        value: Value<'c>,
        widened: VectorValue<'c>,
        keep: Spill,
    ) {
        match keep {
            Spill::Block(offset) => {
                let address = code.builder.offset(code.unit.context, self.extra.next, offset);
                code.builder.store(widened.once(), address);
            }
            Spill::FirstLane(offset) => {
                let bytes = (code.size)(value.ty());
                let address = self.threads_at(code, &code.builder, offset, bytes);
                let first = widened.first.expect("it is strided");
                let store = code.builder.store(first, address);
                store.set_alignment(1);
            }
            Spill::Lanes(offset) => {
                let all = code.vectors.all(&code.builder, widened);
                self.spill_leaves(code, value.ty(), all, &mut { offset });
            }
        }
    }

    pub(in crate::cpu::vectorize) fn spill_leaves(
        &mut self,
        code: &Code<'_, 'c>,
        ty: Type<'c>,
        all: Value<'c>,
        offset: &mut u64,
    ) {
        if ty.kind() == TypeKind::Struct {
            for (index, field) in ty.fields().into_iter().enumerate() {
                let divergent_region = code.builder.extract(all, index as u32);
                self.spill_leaves(code, field, divergent_region, offset);
            }
            return;
        }
        let (stored, all) = if ty.is_int(1) {
            let byte = Type::int(code.unit.context, 8);
            (byte, code.builder.zero_extend(all, byte.vector(code.vectors.lanes)))
        } else {
            (ty, all)
        };
        let bytes = (code.size)(stored);
        let address = self.threads_at(code, &code.builder, *offset, bytes);
        code.builder.store(all, address).set_alignment(bytes as u32);
        *offset += leaf_bytes(ty, code.size);
    }

    pub(in crate::cpu::vectorize) fn reload_leaves(
        &mut self,
        code: &Code<'_, 'c>,
        ty: Type<'c>,
        offset: &mut u64,
    ) -> Value<'c> {
        if ty.kind() == TypeKind::Struct {
            let mut all = code.vectors.widen(ty).poison();
            for (index, field) in ty.fields().into_iter().enumerate() {
                let divergent_region = self.reload_leaves(code, field, offset);
                all = code.builder.insert(all, divergent_region, index as u32);
            }
            return all;
        }
        let stored = if ty.is_int(1) { Type::int(code.unit.context, 8) } else { ty };
        let bytes = (code.size)(stored);
        let address = self.threads_at(code, &code.builder, *offset, bytes);
        let all = code.builder.load(stored.vector(code.vectors.lanes), address);
        all.set_alignment(bytes as u32);
        *offset += leaf_bytes(ty, code.size);
        if ty.is_int(1) { code.builder.truncate(all, ty.vector(code.vectors.lanes)) } else { all }
    }

    /// Calls the masked body with a thread in every lane.
    pub(in crate::cpu::vectorize) fn call_masked(
        &self,
        code: &Code<'_, 'c>,
        masked: Value<'c>,
        memory: [Option<Value<'c>>; 2],
    ) {
        let mut values = code.function.parameters();
        let own = [self.extra.block, self.extra.next];
        let mut written = None;
        for (memory, own) in memory.iter().zip(own) {
            let Some(memory) = memory else { continue };
            let Some(place) = values.iter().position(|value| *value == own) else { continue };
            let slots = block_slots::accessed(self.arrays, masked.parameters()[place]);
            self.copy_slots(code, &slots, [own, *memory]);
            values[place] = *memory;
            written = (own == self.extra.next).then_some((*memory, slots));
        }
        values.push(code.vectors.every());
        let next = code.builder.call(masked, &values);
        if let Some((memory, slots)) = written {
            self.copy_slots(code, &slots, [memory, self.extra.next]);
        }
        code.builder.ret(Some(next));
    }

    /// Memory for what is spilled for the block: that of the block itself is handed out to no function
    /// that is called, so that it becomes registers.
    pub(in crate::cpu::vectorize) fn block_context(
        &self,
        code: &Code<'_, 'c>,
    ) -> Option<Value<'c>> {
        let bytes = self.arrays.bytes_of_block;
        (bytes > 0).then(|| {
            let memory = code.slots.alloca(Type::int(code.unit.context, 8).array(bytes));
            memory.set_alignment(16);
            memory
        })
    }

    fn copy_slots(&self, code: &Code<'_, 'c>, slots: &[Range<u64>], memory: [Value<'c>; 2]) {
        let unit = code.unit;
        block_slots::copy((unit.context, unit.module), &code.builder, slots, memory);
    }
}
