use kernelmill_device::prelude::*;

/// Threads of a block.
const BLOCK: usize = 256;

/// The sum of the elements that each block takes: `sums` has one element a block.
///
/// Blocks of 256 threads. Each thread adds up elements a whole grid apart; then a tree in shared
/// memory halves the number of sums until one is left.
#[kernel]
pub fn reduce(x: &[f32], mut sums: DisjointSlice<f32>) {
    static mut TILE: SharedArray<f32, BLOCK> = SharedArray::UNINIT;
    let (block, t) = (thread::block_idx().x, thread::thread_idx().x as usize % BLOCK);
    let stride = thread::grid_dim().x as usize * BLOCK;
    let mut sum = 0.0;
    let mut i = block as usize * BLOCK + t;
    while i < x.len() {
        sum += x[i];
        i += stride;
    }
    // SAFETY: a thread writes its own element, and reads another's only after a barrier.
    let tile = unsafe { &raw mut TILE[0] };
    // SAFETY: as above; `t + half` is below `2 * half`, at most 256.
    unsafe { *tile.add(t) = sum };
    thread::sync_threads();
    let mut half = BLOCK / 2;
    while half > 0 {
        if t < half {
            // SAFETY: as above.
            unsafe { *tile.add(t) += *tile.add(t + half) };
        }
        thread::sync_threads();
        half /= 2;
    }
    if t == 0 && (block as usize) < sums.len() {
        // SAFETY: in bounds, and only this thread of this block has this element.
        unsafe { *sums.get_unchecked_mut(block as usize) = *tile };
    }
}
