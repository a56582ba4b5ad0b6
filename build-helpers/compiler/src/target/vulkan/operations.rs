//! Operations on memory that make its words atomic: what they are, and how wide.

use kernelmill_llvm::ir::{Opcode, Place, Value};

use super::scalars::Scalar;

/// What the names of functions begin with that are atomic loads and stores.
pub(super) const ATOMIC_LOAD: &str = "_Z18__spirv_AtomicLoadP";
pub(super) const ATOMIC_STORE: &str = "_Z19__spirv_AtomicStoreP";

/// Whether a call is an atomic load or store.
pub(super) fn is_atomic_access(call: Value<'_>) -> bool {
    let name = call.called_function().map(Value::name).unwrap_or_default();
    name.starts_with(ATOMIC_LOAD) || name.starts_with(ATOMIC_STORE)
}

/// The bits of what an atomic operation works on; `None` for anything else.
pub(super) fn atomic_bits(instruction: Value<'_>) -> Option<u32> {
    let ty = match instruction.opcode() {
        Opcode::AtomicRmw => instruction.ty(),
        Opcode::AtomicCmpXchg => instruction.operand(1).ty(),
        Opcode::Call if is_atomic_access(instruction) => match instruction.ty().int_width() {
            Some(_) => instruction.ty(),
            None => instruction.operand(3).ty(),
        },
        _ => return None,
    };
    Scalar::of(ty).map(Scalar::bits)
}

/// Whether a call copies or fills memory by bytes.
pub(super) fn is_transfer(call: Value<'_>) -> bool {
    let name = call.called_function().map(Value::name).unwrap_or_default();
    let is_transfer = name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memset.");
    let is_whole = || call.operand(2).as_u64().is_some_and(|bytes| bytes % 4 == 0);
    is_transfer && !(is_whole() && align_of(call, 0) >= 4)
}

/// The alignment that a copy or fill says of a pointer.
pub(super) fn align_of(call: Value<'_>, index: u32) -> u64 {
    let place = Place::Parameter(index);
    call.attribute_number(place, "align").unwrap_or(1)
}
