//! The barrier of the grid: blocks that wait for each other, as in the [cooperative groups] of CUDA.
//!
//! A kernel that calls [`sync`], itself or through functions, is launched *cooperatively*: all its blocks are on the device
//! at once. The compiler finds such kernels, and their wrappers launch them so. A launch of more blocks than the device
//! holds is an error, and so is one on a device that has no cooperative launches. On the host this panics.
//!
//! [`sync`] only orders accesses, and gives no access to what other threads write: that is by atomics, which are safe, or
//! by pointers, whose users promise that there is a barrier between a write and each access of another thread. There is
//! no safe array that changes its phase at this barrier, as a [`BlockArray`](crate::block_array::BlockArray) does at that
//! of a block: all threads of the *grid* would have to be proven to come to it together.
//!
//! [cooperative groups]: https://docs.nvidia.com/cuda/cuda-c-programming-guide/#grid-synchronization

use crate::intrinsics;

/// Waits until every thread of the grid has come here. Writes of all threads before the barrier are visible to all of
/// them after it, those to shared memory to the threads of their block.
///
/// Every thread comes to each such barrier, also one that has nothing to do: a thread that has returned before makes the
/// others wait for ever, or go on too early. On the CPU the launch fails where a thread has returned, or where threads
/// wait at different barriers. A thread that panics ends the launch: those that wait for it end too.
///
/// ```no_run
/// use core::sync::atomic::{AtomicU32, Ordering};
/// use kernelmill_device::{grid, prelude::*};
///
/// /// Numbers that add up to 1000: `shares` has one element, 0 at first.
/// #[kernel]
/// pub fn thousandths(x: &[u32], shares: &[AtomicU32], mut y: DisjointSlice<u32>) {
///     let i = thread::index_1d();
///     let own = if let Some(x) = x.get(i.get()) { *x } else { 0 };
///     shares[0].fetch_add(own, Ordering::Relaxed);
///     grid::sync();
///     if let Some(y) = y.get_mut(i) {
///         *y = own * 1000 / shares[0].load(Ordering::Relaxed);
///     }
/// }
/// ```
#[inline(always)]
pub fn sync() {
    intrinsics::grid_barrier();
}
