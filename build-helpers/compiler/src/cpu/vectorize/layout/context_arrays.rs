//! Context arrays: where values are spilled that one region computes and another uses, as in pocl
//! ([context data](https://doi.org/10.1007/s10766-014-0320-y)). What few instructions can compute from
//! the parameters is rematerialised instead.

use std::collections::{HashMap, HashSet};

use kernelmill_llvm::ir::{Opcode, Type, TypeKind, Value};

use super::super::analysis::plan::{Plan, crossing};
use crate::{
    ScalarReason,
    cpu::{
        instructions::{is_harmless, is_leaf},
        uniformity::{Shape, Uniformity},
    },
};

/// Where a value is spilled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cpu::vectorize) enum Spill {
    /// Once for the block, at this offset.
    Block(u64),
    /// For each thread, of which only the first of a vector is used, in an array that starts at
    /// this multiple of the number of threads.
    FirstLane(u64),
    /// For each thread: the leaves of the value follow each other, as arrays.
    Lanes(u64),
}

/// The layout of what is spilled between regions.
pub(in crate::cpu::vectorize) struct ContextArrays<'c> {
    pub(in crate::cpu::vectorize) values: HashMap<Value<'c>, Spill>,
    /// What regions rematerialise instead, from the parameters alone.
    pub(in crate::cpu::vectorize) rematerialized: HashSet<Value<'c>>,
    /// Stack memory of threads: offset and bytes.
    pub(in crate::cpu::vectorize) memory: HashMap<Value<'c>, (u64, u64)>,
    pub(in crate::cpu::vectorize) bytes_of_thread: u64,
    pub(in crate::cpu::vectorize) bytes_of_block: u64,
}

impl<'c> ContextArrays<'c> {
    /// Lays out what a plan keeps. `of_block` says what is uniform for the whole block.
    pub(in crate::cpu::vectorize) fn new(
        plan: &Plan<'c>,
        of_block: &Uniformity<'c>,
        size: &dyn Fn(Type<'c>) -> u64,
    ) -> Result<Self, ScalarReason> {
        let mut arrays = Self {
            values: HashMap::new(),
            rematerialized: HashSet::new(),
            memory: HashMap::new(),
            bytes_of_thread: 0,
            bytes_of_block: 0,
        };
        if plan.regions.len() == 1 {
            return Ok(arrays);
        }
        for instruction in plan.function.instructions() {
            if instruction.opcode() == Opcode::Alloca {
                let bytes = size(instruction.allocated_type()).next_multiple_of(16).max(16);
                arrays.memory.insert(instruction, (arrays.bytes_of_thread, bytes));
                arrays.bytes_of_thread += bytes;
            }
        }
        for value in crossing(plan) {
            if value.opcode() == Opcode::Alloca {
                continue;
            }
            if is_cheap(plan, value, &mut { REMATERIALIZED }) {
                arrays.rematerialized.insert(value);
                continue;
            }
            let keep = arrays.place(plan, of_block, value, size)?;
            arrays.values.insert(value, keep);
        }
        Ok(arrays)
    }

    /// Whether an address is in a context array.
    pub(in crate::cpu::vectorize) fn keeps_addresses(&self) -> bool {
        self.values.keys().any(|value| {
            let mut leaves = Vec::new();
            leaves_of(value.ty(), &mut leaves);
            leaves.iter().any(|leaf| leaf.is_pointer())
        })
    }

    fn place(
        &mut self,
        plan: &Plan<'c>,
        of_block: &Uniformity<'c>,
        value: Value<'c>,
        size: &dyn Fn(Type<'c>) -> u64,
    ) -> Result<Spill, ScalarReason> {
        if of_block.shape(value).is_uniform() {
            let at = self.bytes_of_block;
            self.bytes_of_block += size(value.ty()).next_multiple_of(16);
            return Ok(Spill::Block(at));
        }
        let at = self.bytes_of_thread;
        let uniform = plan.shapes.shape(value).is_uniform();
        let plain =
            matches!(plan.shapes.shape(value), Shape::Strided(_)) && !plan.shapes.is_unsure(value);
        if uniform || plain {
            self.bytes_of_thread += size(value.ty()).next_multiple_of(8);
            return Ok(Spill::FirstLane(at));
        }
        let mut leaves = Vec::new();
        leaves_of(value.ty(), &mut leaves);
        if !leaves.iter().all(|leaf| is_leaf(*leaf)) {
            return Err(ScalarReason::UnsupportedTypeAcrossBarrier);
        }
        self.bytes_of_thread += leaves.iter().map(|leaf| leaf_bytes(*leaf, size)).sum::<u64>();
        Ok(Spill::Lanes(at))
    }
}

/// So many instructions at most are built again in a region, rather than that their result is spilled.
const REMATERIALIZED: u32 = 32;

/// Whether a value can be computed from parameters by few instructions, which are taken off `left`.
fn is_cheap<'c>(plan: &Plan<'c>, value: Value<'c>, left: &mut u32) -> bool {
    if !value.is_instruction() {
        return value.is_constant() || plan.function.parameters().contains(&value);
    }
    if *left == 0 || !is_harmless(value) {
        return false;
    }
    *left -= 1;
    value.operands().into_iter().all(|operand| is_cheap(plan, operand, left))
}

/// The bytes of a leaf in memory: bits are stored as bytes, and everything is aligned to 8.
pub(in crate::cpu::vectorize) fn leaf_bytes<'c>(
    leaf: Type<'c>,
    size: &dyn Fn(Type<'c>) -> u64,
) -> u64 {
    size(leaf).next_multiple_of(8)
}

/// The fields of a type that are no structs, in order.
pub(in crate::cpu::vectorize) fn leaves_of<'c>(ty: Type<'c>, leaves: &mut Vec<Type<'c>>) {
    if ty.kind() == TypeKind::Struct {
        for field in ty.fields() {
            leaves_of(field, leaves);
        }
    } else {
        leaves.push(ty);
    }
}
