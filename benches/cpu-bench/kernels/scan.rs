use kernelmill_device::prelude::*;

/// Prefix sums of 256 elements at a time, each with itself. Blocks of 256 threads.
#[kernel(block_size = [256, 1, 1])]
pub fn scan(x: &[u32], mut y: DisjointSlice<u32>) {
    static mut TILE: SharedArray<u32, 256> = SharedArray::UNINIT;
    let i = thread::index_1d();
    let t = thread::thread_idx().x as usize % 256;
    // SAFETY: a thread writes its own element, a barrier apart from the reads of it.
    unsafe {
        let mut sum = x[i.get()];
        TILE[t] = sum;
        thread::sync_threads();
        let mut step = 1;
        while step < 256 {
            let left = if t >= step { TILE[t - step] } else { 0 };
            thread::sync_threads();
            sum = sum.wrapping_add(left);
            TILE[t] = sum;
            thread::sync_threads();
            step *= 2;
        }
        if let Some(out) = y.get_mut(i) {
            *out = sum;
        }
    }
}
