//! The slots of what is spilled once for a block that a function of a region accesses.
//!
//! Needs: the function, built. Guarantees: every slot that it loads or stores by one of its two parameters for them is named,
//! and all are where the address goes anywhere else. A caller that keeps these slots in registers copies only them to memory:
//! kernels with many regions have hundreds of copies, each of which LLVM splits into its slots.

use std::ops::Range;

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Builder, ModuleExt as _, Opcode, Type, Value},
};

use super::context_arrays::{ContextArrays, Spill};

/// The bytes of the slots that a function accesses by this parameter, neighbours together.
pub(in crate::cpu::vectorize) fn accessed<'c>(
    arrays: &ContextArrays<'c>,
    parameter: Value<'c>,
) -> Vec<Range<u64>> {
    let all = 0..arrays.bytes_of_block;
    if all.is_empty() {
        return Vec::new();
    }
    let Some(offsets) = offsets(parameter) else { return vec![all] };
    let mut starts: Vec<u64> = arrays
        .values
        .values()
        .filter_map(|spill| if let Spill::Block(at) = spill { Some(*at) } else { None })
        .collect();
    starts.sort_unstable();
    slots(&starts, arrays.bytes_of_block, offsets)
}

/// The slots with these offsets, of slots that start so and end where the next one starts or at `end`.
fn slots(starts: &[u64], end: u64, mut offsets: Vec<u64>) -> Vec<Range<u64>> {
    offsets.sort_unstable();
    let mut found: Vec<Range<u64>> = Vec::new();
    for offset in offsets {
        let next = starts.partition_point(|start| *start <= offset);
        let start = starts[..next].last().copied().unwrap_or(0);
        let end = starts.get(next).copied().unwrap_or(end);
        match found.last_mut() {
            Some(last) if last.end >= start => last.end = last.end.max(end),
            _ => found.push(start..end),
        }
    }
    found
}

/// Where a pointer is loaded from or stored to; `None` where it is used in any other way.
fn offsets(pointer: Value<'_>) -> Option<Vec<u64>> {
    let mut offsets = Vec::new();
    for user in pointer.users() {
        if is_access(user, pointer) {
            offsets.push(0);
            continue;
        }
        let is_offset = user.is_instruction()
            && user.opcode() == Opcode::GetElementPtr
            && user.operand(0) == pointer
            && user.operands().len() == 2
            && user.element_type().is_int(8);
        let offset = user.is_instruction().then(|| user.operands().get(1)?.as_u64()).flatten();
        let offset = offset.filter(|_| is_offset)?;
        if !user.users().into_iter().all(|access| is_access(access, user)) {
            return None;
        }
        offsets.push(offset);
    }
    Some(offsets)
}

/// Whether an instruction loads from an address or stores to it, and does not store the address.
fn is_access<'c>(user: Value<'c>, address: Value<'c>) -> bool {
    user.is_instruction()
        && match user.opcode() {
            Opcode::Load => true,
            Opcode::Store => user.operand(0) != address,
            _ => false,
        }
}

/// Copies slots from one memory to another.
pub(in crate::cpu::vectorize) fn copy<'c>(
    (context, module): (&'c Context, &Module<'c>),
    builder: &Builder<'c>,
    slots: &[Range<u64>],
    [from, to]: [Value<'c>; 2],
) {
    let (pointer, wide) = (Type::pointer(context, 0), Type::int(context, 64));
    let copy = module.intrinsic("llvm.memcpy", &[pointer, pointer, wide]);
    let no = Type::int(context, 1).constant(0);
    for slot in slots {
        let at = |memory| match slot.start {
            0 => memory,
            start => builder.offset(context, memory, start),
        };
        let bytes = wide.constant(slot.end - slot.start);
        builder.call(copy, &[at(to), at(from), bytes, no]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_slots_are_named_and_neighbours_together() {
        let of = |offsets: &[u64]| {
            let found = slots(&[0, 16, 48, 64], 80, offsets.to_vec());
            found.into_iter().map(|slot| [slot.start, slot.end]).collect::<Vec<_>>()
        };
        assert_eq!(of(&[64, 0, 20]), [[0, 48], [64, 80]]);
        assert_eq!(of(&[48]), [[48, 64]]);
        assert!(of(&[]).is_empty());
    }
}
