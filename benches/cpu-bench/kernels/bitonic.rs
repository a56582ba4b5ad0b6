use kernelmill_device::prelude::*;

/// Sorts 512 elements at a time. Blocks of 256 threads.
#[kernel(block_size = [256, 1, 1])]
pub fn bitonic(x: &[u32], mut y: DisjointSlice<u32>) {
    static mut TILE: SharedArray<u32, 512> = SharedArray::UNINIT;
    let (block, t) = (thread::block_idx().x as usize, thread::thread_idx().x as usize % 256);
    let start = block * 512;
    // SAFETY: between two barriers each thread has a pair of elements of its own, of the tile and
    // of `y`.
    unsafe {
        TILE[t] = x[start + t];
        TILE[t + 256] = x[start + t + 256];
        let mut size = 2;
        while size <= 512 {
            let mut stride = size / 2;
            while stride > 0 {
                thread::sync_threads();
                let low = 2 * t - (t & (stride - 1));
                let (a, b) = (TILE[low % 512], TILE[(low + stride) % 512]);
                if (a > b) == (low & size == 0) {
                    TILE[low % 512] = b;
                    TILE[(low + stride) % 512] = a;
                }
                stride /= 2;
            }
            size *= 2;
        }
        thread::sync_threads();
        if start + 512 <= y.len() {
            *y.get_unchecked_mut(start + t) = TILE[t];
            *y.get_unchecked_mut(start + t + 256) = TILE[t + 256];
        }
    }
}
