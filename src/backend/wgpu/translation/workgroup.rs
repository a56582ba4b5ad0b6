//! Workgroup memory: the zeros that it begins with.
//!
//! naga's reader makes a variable atomic that atomic instructions use, of [any type][upgrade], and then refuses the store of
//! zeros to the whole of it, which [WGSL does not have][constructible]. Of the SPIR-V of a build that is how workgroup memory
//! begins as zeros. Those stores are left out, and wgpu zeroes that memory in its place.
//!
//! [upgrade]: https://docs.rs/naga/30.0.2/src/naga/front/atomic_upgrade.rs.html
//! [constructible]: https://www.w3.org/TR/WGSL/#constructible-types

use std::{collections::BTreeSet, ops::Range};

use crate::backend::wgpu::interface::instructions;

const OP_ENTRY_POINT: u32 = 15;
const OP_CONSTANT_NULL: u32 = 46;
const OP_FUNCTION: u32 = 54;
const OP_VARIABLE: u32 = 59;
const OP_STORE: u32 = 62;
const STORAGE_WORKGROUP: u32 = 4;

/// What entry points begin with, besides those stores: `OpVariable`, `OpLoad`, `OpAccessChain`, `OpCompositeConstruct`,
/// `OpCompositeExtract`, `OpIEqual`, `OpSelectionMerge`, `OpLabel`, `OpBranch` and `OpBranchConditional`.
const BEGINNING: [u32; 10] = [OP_VARIABLE, 61, 65, 80, 81, 170, 247, 248, 249, 250];

/// The module without the stores of zeros to workgroup memory with which entry points begin.
///
/// Guaranteed: it computes the same where that memory is zero before an entry point begins. Only stores that come before
/// every loop, call, barrier and other access that writes are left out, so that each finds zeros.
pub(super) fn without_zeroing(module: &[u32]) -> Vec<u32> {
    let mut ids = Ids::default();
    let mut is_beginning = false;
    let mut kept = module.to_vec();
    let mut removed: Vec<Range<usize>> = Vec::new();
    for (place, code, operands) in instructions(module) {
        match (code, operands) {
            (OP_ENTRY_POINT, [_, function, ..]) => drop(ids.entries.insert(*function)),
            (OP_VARIABLE, [_, id, STORAGE_WORKGROUP, ..]) => drop(ids.variables.insert(*id)),
            (OP_CONSTANT_NULL, [_, id]) => drop(ids.zeros.insert(*id)),
            (OP_FUNCTION, [_, id, ..]) => is_beginning = ids.entries.contains(id),
            (OP_STORE, [variable, value, ..])
                if is_beginning
                    && ids.variables.contains(variable)
                    && ids.zeros.contains(value) =>
            {
                removed.push(place);
            }
            _ => is_beginning &= BEGINNING.contains(&code),
        }
    }
    for place in removed.into_iter().rev() {
        kept.drain(place);
    }
    kept
}

/// The numbers of a module's entry points, variables of workgroup memory, and zeros.
#[derive(Default)]
struct Ids {
    entries: BTreeSet<u32>,
    variables: BTreeSet<u32>,
    zeros: BTreeSet<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const OP_CONTROL_BARRIER: u32 = 224;
    const OP_LOOP_MERGE: u32 = 246;

    /// The variables 5 and 6, of which 5 is workgroup memory, a zero, 7, and another constant, 8.
    fn declarations() -> Vec<Vec<u32>> {
        vec![
            // The entry point 1, whose name is empty.
            vec![OP_ENTRY_POINT, 5, 1, 0],
            vec![OP_VARIABLE, 20, 5, STORAGE_WORKGROUP],
            vec![OP_VARIABLE, 21, 6, 12],
            vec![OP_CONSTANT_NULL, 22, 7],
            vec![43, 22, 8, 0],
        ]
    }

    fn module(instructions: &[Vec<u32>]) -> Vec<u32> {
        let words = instructions.iter().flat_map(|instruction| {
            let first = ((instruction.len() as u32) << 16) | instruction[0];
            std::iter::once(first).chain(instruction[1..].iter().copied())
        });
        [0x0723_0203, 0x0001_0400, 0, 30, 0].into_iter().chain(words).collect()
    }

    /// The stores that are left of a function with this number, each a variable and a value.
    fn left(function: u32, body: &[Vec<u32>]) -> Vec<(u32, u32)> {
        let begin = [vec![OP_FUNCTION, 23, function, 0, 24], vec![248, 25], vec![61, 26, 27, 28]];
        let module = module(&[declarations(), begin.to_vec(), body.to_vec()].concat());
        let without = without_zeroing(&module);
        let stores = instructions(&without).filter(|(_, code, _)| *code == OP_STORE);
        let stores: Vec<_> = stores.map(|(_, _, operands)| (operands[0], operands[1])).collect();
        let removed = body.iter().filter(|it| it[0] == OP_STORE).count() - stores.len();
        assert_eq!(without.len() + 3 * removed, module.len());
        stores
    }

    fn store(variable: u32, value: u32) -> Vec<u32> {
        vec![OP_STORE, variable, value]
    }

    #[test]
    fn what_zeroes_workgroup_memory_at_the_beginning_is_left_out() {
        // `OpFunctionEnd`.
        let end = vec![56];
        assert_eq!(left(1, &[store(5, 7), vec![249, 29], store(5, 7), end.clone()]), []);
        // The function 2 is no entry point, and may be called later.
        assert_eq!(left(2, &[store(5, 7), end.clone()]), [(5, 7)]);
        let next = vec![OP_FUNCTION, 23, 2, 0, 24];
        assert_eq!(left(1, &[end.clone(), next, store(5, 7), end]), [(5, 7)]);
    }

    /// Such stores elsewhere, and others, are the source's.
    #[test]
    fn what_a_source_stores_is_kept() {
        for other in [store(6, 7), store(5, 8), store(9, 7)] {
            let expected = [(other[1], other[2]), (5, 7)];
            assert_eq!(left(1, &[store(5, 7), other, store(5, 7)]), expected);
        }
        // A loop, a call, a barrier, and an atomic addition.
        for code in [OP_LOOP_MERGE, 57, OP_CONTROL_BARRIER, 234] {
            assert_eq!(left(1, &[store(5, 7), vec![code, 1, 2, 3], store(5, 7)]), [(5, 7)]);
        }
    }
}
