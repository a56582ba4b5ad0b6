use kernelmill_device::prelude::*;

/// The sum of 256 elements at a time, by a tree. Blocks of 256 threads.
#[kernel(block_size = [256, 1, 1])]
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

/// The same by exchanges in warps, first each in its own, then all eight of them: every warp takes that
/// step, so that no thread waits alone.
#[kernel]
pub fn reduce_by_warps(x: &[f32], mut sums: DisjointSlice<f32>) {
    static mut PARTS: SharedArray<f32, 8> = SharedArray::UNINIT;
    let i = thread::index_1d().get();
    let (block, t) = (thread::block_idx().x as usize, thread::thread_idx().x as usize % 256);
    let lane = t % 32;
    let mut sum = if i < x.len() { x[i] } else { 0.0 };
    sum = sum_down(sum, 16);
    // SAFETY: one thread of each warp writes its element, which is read after a barrier; one thread of
    // the block has the element of `sums`.
    unsafe {
        if lane == 0 {
            PARTS[t / 32] = sum;
        }
        thread::sync_threads();
        sum = if lane < 8 { PARTS[lane] } else { 0.0 };
        sum = sum_down(sum, 4);
        if t == 0 && block < sums.len() {
            *sums.get_unchecked_mut(block) = sum;
        }
    }
}

/// Adds what lanes above have, from this distance on.
fn sum_down(mut sum: f32, mut distance: u32) -> f32 {
    while distance > 0 {
        sum += warp::shuffle_down(sum, distance);
        distance /= 2;
    }
    sum
}
