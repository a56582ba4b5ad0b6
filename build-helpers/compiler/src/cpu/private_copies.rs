//! Fills and copies of the private arrays of threads, as loads and stores of their elements, so that the vectoriser lays
//! the arrays out lane by lane (`vectorize/analysis/private_arrays.rs`). LLVM makes `llvm.memset` of an array that
//! starts with zeros, and `llvm.memcpy` of one that starts with constants.
//!
//! Needs: a kernel's body before it is analysed. Guarantees: the same bytes in memory. Fills and copies of large arrays,
//! and of those that are used in another way too, stay as they are.

use std::collections::HashSet;

use kernelmill_llvm::ir::{Builder, Opcode, Type, Value};

use super::vectorize::{Uses, copied_bytes};
use crate::passes::entry::Unit;

/// The most elements that are written one by one.
const ELEMENTS: u64 = 256;

/// Splits those of a function; how many.
pub(super) fn split<'c>(
    unit: &Unit<'_, 'c>,
    function: Value<'c>,
    size: &dyn Fn(Type<'c>) -> u64,
) -> u64 {
    let mut count = 0;
    let is_memory = |it: &Value<'c>| it.opcode() == Opcode::Alloca;
    // Listed before any call is erased.
    let all: Vec<_> = function.instructions().into_iter().filter(is_memory).collect();
    for alloca in all {
        let Some(uses) = Uses::of(alloca, size) else { continue };
        let elements = |call: &Value<'c>| copied_bytes(*call).map(|bytes| bytes / uses.element);
        let is_small = |call: &Value<'c>| elements(call).is_some_and(|count| count <= ELEMENTS);
        if !uses.copies.iter().all(is_small) {
            continue;
        }
        // A copy within the array has both of its addresses there.
        let mut seen = HashSet::new();
        for call in uses.copies.into_iter().filter(|call| seen.insert(*call)) {
            split_one(unit, call, uses.element);
            count += 1;
        }
    }
    count
}

fn split_one<'c>(unit: &Unit<'_, 'c>, call: Value<'c>, element: u64) {
    let builder = Builder::new(unit.context);
    builder.before(call);
    let ty = Type::int(unit.context, 8 * element as u32);
    let arguments = call.arguments();
    let (to, count) = (arguments[0], copied_bytes(call).unwrap_or(0) / element);
    let at = |base: Value<'c>, number: u64| match number * element {
        0 => base,
        bytes => builder.offset(unit.context, base, bytes),
    };
    let written = |value: Value<'c>, number: u64| {
        builder.store(value, at(to, number)).set_alignment(1);
    };
    if arguments[1].ty().is_pointer() {
        let read = |number: u64| {
            let load = builder.load(ty, at(arguments[1], number));
            load.set_alignment(1);
            load
        };
        // All are read before any is written, as the two may be one.
        let values: Vec<_> = (0..count).map(read).collect();
        values.into_iter().zip(0..).for_each(|(value, number)| written(value, number));
    } else {
        let byte = builder.zero_extend(arguments[1], ty);
        let repeated = (0..element).fold(0, |all: u64, place| all | 1 << (8 * place));
        let value = builder.multiply(byte, ty.constant(repeated));
        (0..count).for_each(|number| written(value, number));
    }
    call.erase();
}
