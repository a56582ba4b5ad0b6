//! Workarounds for LLVM's NVPTX back end.

use std::collections::HashSet;

use kernelmill_llvm::{
    inkwell::module::Module,
    ir::{ModuleExt, Opcode, Place, Value, calling_convention},
};

/// Takes `noalias` from parameters of kernels through which memory is read atomically or as `volatile`.
///
/// `NVPTXDAGToDAGISel::tryLDG` selects `ld.global.nc` for each load from a `noalias` parameter that the
/// kernel does not write, without a look at what kind of load it is. LLVM 22 and before end the process on
/// an atomic one, and on a `volatile` one the loop that waits for a flag never ends. `__restrict__` on the
/// pointer is enough for that.
pub(super) fn keep_exact_loads(module: &Module<'_>) {
    for kernel in module.definitions() {
        if kernel.calling_convention() != calling_convention::PTX_KERNEL {
            continue;
        }
        for (index, parameter) in (0..).zip(kernel.parameters()) {
            let place = Place::Parameter(index);
            let is_promised = kernel.has_attribute(place, "noalias");
            if is_promised && !kernel.has_attribute(place, "byval") && is_read_exactly(parameter) {
                kernel.remove_attribute(place, "noalias");
            }
        }
    }
}

/// Whether there is an atomic or volatile access at an address that is derived from this one.
fn is_read_exactly(address: Value<'_>) -> bool {
    let (mut seen, mut work) = (HashSet::from([address]), vec![address]);
    while let Some(value) = work.pop() {
        for user in value.users().into_iter().filter(|user| user.is_instruction()) {
            match user.opcode() {
                Opcode::Load | Opcode::Store if user.is_exact_access() => return true,
                Opcode::AtomicRmw | Opcode::AtomicCmpXchg => return true,
                Opcode::GetElementPtr
                | Opcode::AddrSpaceCast
                | Opcode::BitCast
                | Opcode::Phi
                | Opcode::Select
                | Opcode::Freeze
                    if seen.insert(user) =>
                {
                    work.push(user);
                }
                _ => {}
            }
        }
    }
    false
}
