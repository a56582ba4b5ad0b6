//! A kernel with shared memory and a barrier.

use kernelmill_device::prelude::*;

/// The sum of each block, which has 64 threads.
#[kernel]
pub fn block_sums(x: &[u32], mut sums: DisjointSlice<u32>) {
    static mut TILE: SharedArray<u32, 64> = SharedArray::UNINIT;
    let i = thread::index_1d();
    let t = thread::thread_idx().x as usize;
    // SAFETY: each thread writes its own element.
    unsafe { TILE[t] = x[i.get()] };
    thread::sync_threads();
    if t == 0 {
        // SAFETY: nobody writes behind the barrier.
        let sum = unsafe { (0..64).map(|t| TILE[t]).sum::<u32>() };
        // SAFETY: the first thread of each block writes the block's element.
        unsafe { *sums.get_unchecked_mut(thread::block_idx().x as usize) = sum };
    }
}
