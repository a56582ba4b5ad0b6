use kernelmill_device::prelude::*;

/// The sum of 256 elements at a time, by a tree. Blocks of 256 threads.
#[kernel]
pub fn reduce(x: &[f32], mut sums: DisjointSlice<f32>) {
    static mut TILE: SharedArray<f32, 256> = SharedArray::UNINIT;
    let i = thread::index_1d().get();
    let (block, t) = (thread::block_idx().x as usize, thread::thread_idx().x as usize % 256);
    // SAFETY: a thread writes its own element, and reads another's only after a barrier; one thread
    // of the block has the element of `sums`.
    unsafe {
        TILE[t] = if i < x.len() { x[i] } else { 0.0 };
        thread::sync_threads();
        let mut half = 128;
        while half > 0 {
            if t < half {
                TILE[t] += TILE[t + half];
            }
            thread::sync_threads();
            half /= 2;
        }
        if t == 0 && block < sums.len() {
            *sums.get_unchecked_mut(block) = TILE[0];
        }
    }
}
