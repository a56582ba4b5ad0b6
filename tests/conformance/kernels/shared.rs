//! Shared memory and barriers, the awkward cases first.

use core::sync::atomic::{AtomicU32, Ordering};
use kernelmill_device::{block_array::sync, prelude::*};

const BLOCK: usize = 64;

// CHECK-PTX-COUNT-1: bar.sync
// CHECK-PTX: st.shared.b32
// CHECK-PTX: bar.sync
// CHECK-PTX: ld.shared.b32
// CHECK-gfx942: ds_write_b32
// CHECK-AMD: s_barrier
// CHECK-gfx942: ds_read_b32
/// Reverses each block of 64 through shared memory.
#[kernel]
pub fn reverse_blocks(x: &[u32], mut y: DisjointSlice<u32>) {
    static mut TILE: SharedArray<u32, BLOCK> = SharedArray::UNINIT;
    let i = thread::index_1d();
    let t = thread::thread_idx().x as usize;
    // SAFETY: each thread writes its own element, and reads another only after the barrier.
    unsafe {
        TILE[t] = x[i.get()];
        thread::sync_threads();
        if let Some(out) = y.get_mut(i) {
            *out = TILE[BLOCK - 1 - t];
        }
    }
}

// CHECK-PTX-COUNT-1: bar.sync
// CHECK-AMD-COUNT-1: s_barrier
/// Threads past the end of the data leave before the barrier and do not count at it.
#[kernel]
pub fn early_exit(x: &[u32], mut y: DisjointSlice<u32>) {
    static mut TILE: SharedArray<u32, BLOCK> = SharedArray::UNINIT;
    let i = thread::index_1d();
    let t = thread::thread_idx().x as usize;
    if i.get() >= x.len() {
        return;
    }
    // SAFETY: as in `reverse_blocks`; the neighbour of a thread that runs on is one that ran, or
    // is the thread itself.
    unsafe {
        TILE[t] = x[i.get()];
        thread::sync_threads();
        let left = if t == 0 { 0 } else { TILE[t - 1] };
        if let Some(out) = y.get_mut(i) {
            *out = TILE[t] + left;
        }
    }
}

/// Each warp passes a different number of barriers, then ends.
#[kernel]
pub fn divergent_loop(mut y: DisjointSlice<u32>) {
    static mut TILE: SharedArray<u32, 128> = SharedArray::UNINIT;
    let i = thread::index_1d();
    let t = thread::thread_idx().x as usize;
    let rounds = t / 32 + 1;
    // SAFETY: after the first barrier a thread writes its own element only, and reads that of the
    // next warp, which runs at least as many rounds, between two barriers.
    unsafe {
        TILE[127 - t] = 0;
        thread::sync_threads();
        let mut sum = 0;
        for round in 0..rounds {
            TILE[t] += (round * 10 + t / 32) as u32;
            thread::sync_threads();
            if t + 32 < 128 {
                sum += TILE[t + 32];
            }
            thread::sync_threads();
        }
        if let Some(out) = y.get_mut(i) {
            *out = sum;
        }
    }
}

/// The same with a different number of barriers for each thread of a warp. GPUs leave this
/// undefined; on the CPU it is right.
#[kernel]
pub fn divergent_lanes(mut y: DisjointSlice<u32>) {
    static mut TOTAL: SharedArray<u32, 1> = SharedArray::UNINIT;
    let i = thread::index_1d();
    let t = thread::thread_idx().x;
    // SAFETY: only the thread whose turn it is writes, between two barriers.
    unsafe {
        if t == 0 {
            TOTAL[0] = 0;
        }
        thread::sync_threads();
        let mut seen = 0;
        for turn in 0..=t {
            if turn == t {
                TOTAL[0] += t + 1;
            }
            thread::sync_threads();
            if turn == t {
                seen = TOTAL[0];
            }
            thread::sync_threads();
        }
        if let Some(out) = y.get_mut(i) {
            *out = seen;
        }
    }
}

// CHECK-PTX-COUNT-1: bar.sync
// CHECK-AMD-COUNT-1: s_barrier
/// A barrier under a condition that is the same for the whole block, in code that a compiler
/// likes to duplicate: two conditions on one value around it.
#[kernel]
pub fn barrier_trap(limit: u32, mut y: DisjointSlice<f32>) {
    static mut TILE: SharedArray<f32, BLOCK> = SharedArray::UNINIT;
    let i = thread::index_1d();
    let t = thread::thread_idx().x;
    let mut value = 0.0;
    // SAFETY: writes before the barrier are to the own element; the reads after it change nothing.
    unsafe {
        TILE[t as usize] = t as f32;
        if limit > t {
            value = TILE[t as usize] * 2.0;
            TILE[t as usize] = value;
        }
        thread::sync_threads();
        let other = TILE[BLOCK - 1 - t as usize];
        if let Some(out) = y.get_mut(i) {
            *out = if limit > t { value + other } else { other - 3.0 };
        }
    }
}

// CHECK-PTX: ld.shared.b32
// CHECK-PTX-NOT: ld.local
// CHECK-AMD-NOT: flat_load
/// Shared memory whose size the launch decides: prefix sums in a block.
#[kernel]
pub fn dynamic_shared(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let (t, block) = (thread::thread_idx().x as usize, thread::block_dim().x as usize);
    // SAFETY: the launch gives four bytes for each thread; a thread writes its own element, and
    // reads another's only between two barriers.
    unsafe {
        let sums = DynamicSharedArray::<u32>::get().as_mut_ptr();
        *sums.add(t) = x[i.get()];
        thread::sync_threads();
        let mut step = 1;
        while step < block {
            let left = if t >= step { *sums.add(t - step) } else { 0 };
            thread::sync_threads();
            *sums.add(t) += left;
            thread::sync_threads();
            step *= 2;
        }
        if let Some(out) = y.get_mut(i) {
            *out = *sums.add(t);
        }
    }
}

/// A barrier inside a function that is called from two places, one of them in a loop.
#[kernel]
pub fn barrier_in_function(mut y: DisjointSlice<u32>) {
    static mut TILE: SharedArray<u32, BLOCK> = SharedArray::UNINIT;

    #[inline(never)]
    fn rotate(t: usize, tile: *mut u32) {
        // SAFETY: reads and writes are a barrier apart.
        unsafe {
            let next = *tile.add((t + 1) % BLOCK);
            thread::sync_threads();
            *tile.add(t) = next + 1;
            thread::sync_threads();
        }
    }

    let i = thread::index_1d();
    let t = thread::thread_idx().x as usize;
    // SAFETY: the tile has an element for each thread of the block.
    unsafe {
        TILE[t] = t as u32;
        thread::sync_threads();
        let tile = &raw mut TILE[0];
        rotate(t, tile);
        for _ in 0..3 {
            rotate(t, tile);
        }
        if let Some(out) = y.get_mut(i) {
            *out = TILE[t];
        }
    }
}

// CHECK-PTX: ld.global.nc
// CHECK-PTX: st.shared.b32
// CHECK-PTX: bar.sync
// CHECK-PTX: st.global.b32
// CHECK-PTX-COUNT-1: bar.sync
/// Transposes a matrix of tiles of 16 by 16 through shared memory; a column of padding keeps
/// columns in different banks.
#[kernel(dim = 2)]
pub fn transpose(columns: u32, x: &[f32], mut y: DisjointSlice<f32>) {
    static mut TILE: SharedArray<[f32; 17], 16> = SharedArray::UNINIT;
    let (thread, block) = (thread::thread_idx(), thread::block_idx());
    let rows = thread::grid_dim().y * 16;
    let (tx, ty) = (thread.x as usize % 16, thread.y as usize % 16);
    let source = (block.y * 16 + thread.y) * columns + block.x * 16 + thread.x;
    let target = (block.x * 16 + thread.y) * rows + block.y * 16 + thread.x;
    // SAFETY: a thread writes its own element of the tile before the barrier, and its own element
    // of the result, which a launch over whole tiles has.
    unsafe {
        TILE[ty][tx] = x[source as usize];
        thread::sync_threads();
        *y.get_unchecked_mut(target as usize) = TILE[tx][ty];
    }
}

/// A thread of each block writes alone, and only two of the four bytes that it has.
#[kernel(block_size = [64, 1, 1])]
pub fn one_of_the_tile(x: &[u32], mut y: DisjointSlice<u32>) {
    static mut TILE: SharedArray<u16, 64> = SharedArray::UNINIT;
    let i = thread::index_1d();
    let t = thread::thread_idx().x as usize;
    // SAFETY: threads write elements of their own, a barrier apart from others reading them.
    unsafe {
        TILE[t] = x[i.get()] as u16;
        thread::sync_threads();
        let other = u32::from(TILE[x[i.get()] as usize / 256 % 64]);
        thread::sync_threads();
        let own = x[i.get()].wrapping_sub(other);
        if t < 1 {
            TILE[t] = own as u16;
        }
        thread::sync_threads();
        if let Some(out) = y.get_mut(i) {
            *out = own ^ u32::from(TILE[own as usize / 512 % 64]);
        }
    }
}

/// Tiles of 8 by 8 for blocks of this size alone: sums of rows by columns, mirrored at the diagonal.
#[kernel(dim = 2, block_size = [8, 8, 1])]
pub fn small_tiles(x: &[u32], mut y: DisjointSlice<u32>) {
    static mut TILE: SharedArray<[u32; 8], 8> = SharedArray::UNINIT;
    let (thread, block) = (thread::thread_idx(), thread::block_idx());
    let (tx, ty) = (thread.x as usize % 8, thread.y as usize % 8);
    let i = (block.y * thread::grid_dim().x + block.x) as usize * 64 + ty * 8 + tx;
    let mut sum = 0_u32;
    // SAFETY: threads write elements of their own, a barrier apart from others reading them, and a launch has as many
    // threads as the slices have elements.
    unsafe {
        TILE[ty][tx] = x[i];
        thread::sync_threads();
        for k in 0..8 {
            sum = sum.rotate_left(1).wrapping_add(TILE[ty][k] ^ TILE[k][tx]);
        }
        thread::sync_threads();
        TILE[tx][ty] = sum;
        thread::sync_threads();
        *y.get_unchecked_mut(i) = TILE[ty][tx].wrapping_sub(TILE[7 - ty][7 - tx]);
    }
}

/// Rows of 4 threads, each of which has a loop of its own, for blocks of this size alone.
#[kernel(dim = 2, block_size = [4, 6, 1])]
pub fn small_rows(x: &[u32], mut y: DisjointSlice<u32>) {
    let (thread, block) = (thread::thread_idx(), thread::block_idx());
    let i = (block.y * thread::grid_dim().x + block.x) * 24 + thread.y * 4 + thread.x;
    let (mut value, mut steps) = (x[i as usize], 0);
    while value % (thread.y + 2) != 0 && steps < 20 + thread.x {
        value = value / 2 + thread.x;
        steps += 1;
    }
    // SAFETY: a launch has as many threads as the slice has elements.
    unsafe { *y.get_unchecked_mut(i as usize) = value };
}

/// The threads of a block wait at two different barriers, by their elements: an error on the CPU.
#[kernel]
pub fn barriers_apart(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let value = x[i.get()];
    let seen = if value > 0 {
        thread::sync_threads();
        value + 1
    } else {
        thread::sync_threads();
        7
    };
    if let Some(out) = y.get_mut(i) {
        *out = seen;
    }
}

// CHECK-PTX: st.shared.b32
// CHECK-PTX: bar.sync
// CHECK-PTX: ld.shared.b32
/// The same without `unsafe`, for blocks of any size: each block of 64 elements reversed.
#[kernel]
pub fn reverse_array(x: &[u32], mut tile: BlockArray<u32, BLOCK>, mut y: DisjointSlice<u32>) {
    let (i, own) = (thread::index_1d(), thread::block_index());
    if let Some(x) = x.get(i.get()) {
        tile.write(own, *x);
    }
    let tile = tile.sync();
    if let Some(out) = y.get_mut(i) {
        *out = tile[BLOCK - 1 - own.get()];
    }
}

/// Sums of blocks of 256 by a tree between two arrays, one barrier a step; threads past the end leave
/// first, and have written zeros.
#[kernel(block_size = [256, 1, 1])]
pub fn sum_arrays(
    x: &[u32],
    mut even: BlockArray<u32, 256>,
    mut odd: BlockArray<u32, 256>,
    mut y: DisjointSlice<u32>,
) {
    let (i, own) = (thread::index_1d(), thread::block_index());
    even.write(own, 0);
    let Some(x) = x.get(i.get()) else { return };
    let half_of = |all: &[u32; 256], half: usize| {
        if own.get() < half { all[own.get()] + all[own.get() + half] } else { 0 }
    };
    even.write(own, *x);
    let (mut sums, mut half) = (even.sync(), 128);
    while half > 0 {
        odd.write(own, half_of(&sums, half));
        let (mut free, next) = sync((sums, odd));
        free.write(own, half_of(&next, half / 2));
        (odd, sums) = sync((next, free));
        half /= 4;
    }
    if let Some(y) = y.get_mut(i) {
        *y = sums[0];
    }
}

/// Counts in shared memory: bins that all threads add to, more than a block has threads.
#[kernel]
pub fn count_arrays(x: &[u32], bins: BlockArray<AtomicU32, 100>, mut y: DisjointSlice<[u32; 100]>) {
    let bins = bins.sync();
    for x in x.iter().skip(thread::block_index().get()).step_by(thread::block_dim().x as usize) {
        bins[*x as usize % 100].fetch_add(1, Ordering::Relaxed);
    }
    thread::sync_threads();
    if let Some(y) = y.get_mut(thread::index_1d()) {
        for (count, bin) in y.iter_mut().zip(bins.iter()) {
            *count = bin.load(Ordering::Relaxed);
        }
    }
}
