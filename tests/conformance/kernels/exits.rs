//! Threads that return before others reach a barrier.

use kernelmill_device::prelude::*;

// CHECK-PTX: bar.sync
/// The sum of the elements of a block that there are.
#[kernel]
pub fn exit_sums(x: &[u32], mut y: DisjointSlice<u32>) {
    static mut TILE: SharedArray<u32, 128> = SharedArray::UNINIT;
    let (i, t) = (thread::index_1d(), thread::thread_idx().x as usize);
    // SAFETY: each element is written by one thread, and by another one after the barrier.
    unsafe { TILE[t ^ 1] = 0 };
    thread::sync_threads();
    let Some(&value) = x.get(i.get()) else { return };
    // SAFETY: see above.
    unsafe { TILE[t] = value };
    thread::sync_threads();
    let mut half = 64;
    while half > 0 {
        if t < half {
            // SAFETY: threads write the lower half and read the upper one, between barriers.
            unsafe { TILE[t] += TILE[t + half] };
        }
        thread::sync_threads();
        half /= 2;
    }
    if let Some(out) = y.get_mut(i) {
        // SAFETY: nothing writes after the last barrier.
        *out = unsafe { TILE[0] } + value;
    }
}

/// Rounds of a stencil on a tile whose border leaves before, with two returns, of which one writes.
#[kernel(dim = 2, width = width)]
pub fn exit_image(
    width: u32,
    height: u32,
    rounds: u32,
    x: &[u32],
    mut y: DisjointSlice<u32, Index2D>,
) {
    static mut TILE: SharedArray<u32, 256> = SharedArray::UNINIT;
    let i = thread::index_2d();
    let (thread, size) = (thread::thread_idx(), thread::block_dim());
    let (row, column) = (i.row() as u32, i.column() as u32);
    let t = (thread.y * size.x + thread.x) as usize;
    let Some(out) = y.get_mut(i) else { return };
    let mut value = x[(row * width + column) as usize];
    // SAFETY: each thread writes its own element; others read it after a barrier.
    unsafe { TILE[t] = value };
    thread::sync_threads();
    let is_first = thread.x == 0 || thread.y == 0;
    let is_last = thread.x + 1 == size.x || thread.y + 1 == size.y;
    if is_first || is_last || column + 1 >= width || row + 1 >= height {
        *out = value ^ 1;
        return;
    }
    for round in 0..rounds {
        // SAFETY: the elements around are those of the block; they are written after a barrier.
        let around = unsafe {
            TILE[t - 1] + TILE[t + 1] + TILE[t - size.x as usize] + TILE[t + size.x as usize]
        };
        value = value.wrapping_mul(3).wrapping_add(around % 1009) + round % 2;
        thread::sync_threads();
        // SAFETY: see above.
        unsafe { TILE[t] = value % 4096 };
        thread::sync_threads();
    }
    // SAFETY: nothing writes after the last barrier.
    *out = value ^ unsafe { TILE[t + 1] };
}

/// A return from within another condition, which only some threads come to: a coroutine on the CPU.
#[kernel]
pub fn exit_inside(x: &[u32], mut y: DisjointSlice<u32>) {
    static mut TILE: SharedArray<u32, 64> = SharedArray::UNINIT;
    let (i, t) = (thread::index_1d(), thread::thread_idx().x as usize);
    let value = x[i.get()];
    // SAFETY: each thread writes its own element; others read it after a barrier.
    unsafe { TILE[t] = value };
    let Some(out) = y.get_mut(i) else { return };
    if value % 2 == 1 {
        *out = value + 3;
        if value % 3 == 0 {
            return;
        }
        // SAFETY: see above.
        unsafe { TILE[t] += *out / 2 };
    }
    thread::sync_threads();
    // SAFETY: nothing writes after the barrier.
    *out = unsafe { TILE[63 - t] } ^ value;
}

/// Votes of the threads of each warp that have an element, in as many rounds as there are fifties of elements. Blocks without
/// an element leave as a whole, where that number means nothing.
#[kernel]
pub fn exit_votes(n: u32, x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let all = warp::ballot(i.get() < 1 << 20);
    if i.get() >= n as usize {
        return;
    }
    let mut votes = all.count_ones();
    for round in 0..n.wrapping_sub(1) / 50 + 1 {
        let mine = x[i.get()] >> (round % 32);
        votes = votes * 3 + warp::ballot(mine & 1 == 1).count_ones();
        thread::sync_threads();
    }
    if let Some(out) = y.get_mut(i) {
        *out = votes;
    }
}
