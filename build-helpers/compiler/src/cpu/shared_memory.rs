//! Shared memory: the memory of a block comes from the run time, and each shared array is at a fixed offset
//! in it.
//!
//! Needs: shared arrays as globals. Guarantees: none is left.

use kernelmill_llvm::ir::{Linkage, ModuleExt, Type};

use super::operation::SHARED_BASE;
use crate::{
    Error,
    ir::{replace_uses, shared_globals},
    passes::entry::Unit,
};

/// Replaces every shared array by an offset from the start of the block's shared memory, and
/// gives the bytes of them all.
pub(super) fn lower(unit: &Unit<'_, '_>) -> Result<u64, Error> {
    let context = unit.context;
    let mut bytes: u64 = 0;
    for memory in shared_globals(unit.module) {
        let offset = bytes.next_multiple_of(memory.align);
        bytes = offset + memory.bytes;
        let base = unit.module.declare(SHARED_BASE, Type::pointer(context, 0).function(&[]));
        replace_uses(context, memory.global, &|builder| {
            let base = builder.call(base, &[]);
            builder.offset(context, base, offset)
        })?;
        // Constants that nothing uses may still name it, and then it is dropped with them.
        if memory.global.is_used() {
            memory.global.set_linkage(Linkage::Internal);
        } else {
            memory.global.delete_global();
        }
    }
    Ok(bytes)
}
