use core::sync::atomic::{AtomicU32, Ordering};
use kernelmill_device::prelude::*;

/// Counts values below 256: in shared memory first. Blocks of 256 threads, each of which takes
/// elements a whole grid apart.
#[kernel(block_size = [256, 1, 1])]
pub fn histogram(x: &[u32], mut bins: DisjointSlice<u32>) {
    static mut LOCAL: SharedArray<u32, 256> = SharedArray::UNINIT;
    let t = thread::thread_idx().x as usize % 256;
    let mut i = thread::index_1d().get();
    let stride = thread::grid_dim().x as usize * 256;
    // SAFETY: the local bins are cleared and read a barrier apart from the atomic additions; all
    // threads touch the global bins, of which there are 256, atomically.
    unsafe {
        LOCAL[t] = 0;
        thread::sync_threads();
        while i < x.len() {
            let slot = (x[i] % 256) as usize;
            AtomicU32::from_ptr(&raw mut LOCAL[slot]).fetch_add(1, Ordering::Relaxed);
            i += stride;
        }
        thread::sync_threads();
        let total = AtomicU32::from_ptr(bins.get_unchecked_mut(t));
        total.fetch_add(LOCAL[t], Ordering::Relaxed);
    }
}
