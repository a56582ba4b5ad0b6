//! Shared memory: the memory of a block comes from the run time, and each shared array is at a fixed offset
//! in it.
//!
//! Functions that several kernels call have one offset for each array that they use, so the arrays of a module are laid out
//! together. Arrays that no kernel has both of share memory, as the registers of variables that do not interfere do in
//! [Chaitin's allocation](https://doi.org/10.1145/800230.806984): the first offset is taken that is free.
//!
//! Needs: shared arrays as globals. Guarantees: none is left, and the arrays of a kernel do not overlap.

use kernelmill_llvm::ir::{Linkage, ModuleExt, Type, Value};
use std::collections::HashSet;

use super::operation::SHARED_BASE;
use crate::{
    Error,
    ir::{reachable, replace_uses, shared_globals},
    passes::entry::{self, Unit},
};

/// The memory that blocks need for shared arrays.
pub(super) struct SharedLayout {
    /// The bytes up to the end of each kernel's last array, in the order of the signatures.
    of_kernels: Vec<u64>,
    /// The bytes up to the end of the last array of all, behind which dynamic shared memory starts.
    pub(super) bytes: u64,
}

impl SharedLayout {
    /// The bytes of the kernel with this place among the signatures.
    pub(super) fn of_kernel(&self, index: usize) -> u64 {
        self.of_kernels[index]
    }
}

/// An array that has its place.
struct Placed {
    start: u64,
    end: u64,
    /// The kernels that may use it, by their places among the signatures.
    kernels: Vec<usize>,
}

/// Replaces every shared array by an offset from the start of the block's shared memory.
pub(super) fn lower(unit: &Unit<'_, '_>) -> Result<SharedLayout, Error> {
    let context = unit.context;
    let used: Result<Vec<HashSet<Value<'_>>>, Error> =
        unit.signatures.iter().map(|it| Ok(reachable(entry::shim(unit, it)?))).collect();
    let used = used?;
    let mut placed: Vec<Placed> = Vec::new();
    for memory in shared_globals(unit.module) {
        let has = |kernel: &usize| used[*kernel].contains(&memory.global);
        let kernels: Vec<_> = (0..used.len()).filter(has).collect();
        let start = free_offset(&placed, &kernels, memory.bytes, memory.align);
        placed.push(Placed { start, end: start + memory.bytes, kernels });
        let base = unit.module.declare(SHARED_BASE, Type::pointer(context, 0).function(&[]));
        replace_uses(context, memory.global, &|builder| {
            let base = builder.call(base, &[]);
            builder.offset(context, base, start)
        })?;
        // Constants that nothing uses may still name it, and then it is dropped with them.
        if memory.global.is_used() {
            memory.global.set_linkage(Linkage::Internal);
        } else {
            memory.global.delete_global();
        }
    }
    let end = |kernel: usize| {
        let own = placed.iter().filter(|it| it.kernels.contains(&kernel));
        own.map(|it| it.end).max().unwrap_or(0)
    };
    let of_kernels: Vec<_> = (0..used.len()).map(end).collect();
    Ok(SharedLayout { bytes: of_kernels.iter().copied().max().unwrap_or(0), of_kernels })
}

/// The first aligned offset at which an array meets none that one of its kernels has too.
fn free_offset(placed: &[Placed], kernels: &[usize], bytes: u64, align: u64) -> u64 {
    let others = placed.iter().filter(|it| it.kernels.iter().any(|it| kernels.contains(it)));
    let others: Vec<_> = others.collect();
    let ends = others.iter().map(|it| it.end.next_multiple_of(align));
    let is_free =
        |start: &u64| others.iter().all(|it| start + bytes <= it.start || it.end <= *start);
    let free = [0].into_iter().chain(ends).filter(is_free).min();
    free.expect("behind the last one is room")
}

#[cfg(test)]
mod tests {
    use super::{Placed, free_offset};

    #[test]
    fn arrays_of_one_kernel_do_not_overlap_and_others_share_memory() {
        let mut placed = Vec::new();
        let mut place = |bytes, align, kernels: &[usize]| {
            let start = free_offset(&placed, kernels, bytes, align);
            placed.push(Placed { start, end: start + bytes, kernels: kernels.to_vec() });
            start
        };
        assert_eq!(place(100, 16, &[0]), 0);
        assert_eq!(place(40, 16, &[1]), 0);
        // Behind the longer of the two, then in the gap that is left for the second kernel.
        assert_eq!(place(64, 64, &[0, 1]), 128);
        assert_eq!(place(80, 16, &[1]), 48);
        assert_eq!(place(16, 16, &[1, 2]), 192);
        assert_eq!(place(16, 16, &[0]), 112);
        // What no kernel has needs no room.
        assert_eq!(place(1000, 16, &[]), 0);
    }
}
