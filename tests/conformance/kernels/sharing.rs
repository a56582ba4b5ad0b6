//! Global memory that the threads of a launch read after others have written it.

use core::sync::atomic::{AtomicU32, Ordering};
use kernelmill_device::prelude::*;

// CHECK-PTX-COUNT-2: ld.global.b32
// CHECK-PTX-NOT: ld.global.nc
/// Each thread reads its neighbour's element before a barrier, and again after it.
#[kernel]
pub fn neighbours(mut y: DisjointSlice<u32>, mut before: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let at = i.get();
    let address = y.as_mut_ptr();
    if let Some(before) = before.get_mut(i) {
        // SAFETY: blocks have an even number of threads, and there is an element for each; between two
        // barriers an element is read by other threads or written by its own.
        unsafe {
            let first = *address.add(at ^ 1);
            thread::sync_threads();
            *address.add(at) = 2 * at as u32;
            thread::sync_threads();
            *before = first + 1000 * *address.add(at ^ 1);
        }
    }
}

// CHECK-PTX-NOT: ld.global.nc
/// The thread that is the last of all sums what the others have written; its own element it has read
/// before.
#[kernel]
pub fn last_sums(count: &[AtomicU32], threads: u32, mut y: DisjointSlice<u32>, mut sum: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let at = i.get();
    let address = y.as_mut_ptr();
    // SAFETY: there is an element for each thread. Another thread's is read where the counter says that
    // it has been written.
    unsafe {
        let old = *address.add(at) & 1;
        *address.add(at) = 2 * at as u32 + 2;
        if count[0].fetch_add(1, Ordering::AcqRel) + 1 == threads {
            let mut total = *address.add(at ^ 1) + old;
            for other in 0..threads as usize {
                if other != at ^ 1 {
                    total += *address.add(other);
                }
            }
            *sum.get_unchecked_mut(0) = total;
        }
    }
}

// CHECK-sm_75: ld.relaxed.sys.global.b32
/// Loads atomics that the kernel does not write.
#[kernel]
pub fn loads_atomics(cells: &[AtomicU32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = cells[i.get() % cells.len()].load(Ordering::Relaxed);
    }
}
