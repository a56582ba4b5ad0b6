//! What the suite of behaviour launches on every back end.

use core::sync::atomic::{AtomicU32, Ordering};
use kernelmill_device::{
    prelude::*,
    tensor::{BulkBarrier, TensorMap},
};

/// Adds to each element.
#[kernel]
pub fn added(summand: u32, mut y: DisjointSlice<u32>) {
    if let Some(out) = y.get_mut(thread::index_1d()) {
        *out += summand;
    }
}

/// Steps of a random number generator from each element, which take as long as the host likes.
#[kernel]
pub fn stepped(rounds: u32, mut y: DisjointSlice<u32>) {
    if let Some(out) = y.get_mut(thread::index_1d()) {
        let mut value = *out;
        for _ in 0..rounds {
            // No compiler finds a formula for many of these.
            value = (value ^ value >> 15).wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        }
        *out = value;
    }
}

/// Copies elements, and panics where there are too few.
#[kernel]
pub fn looked_up(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = x[i.get()];
    }
}

/// The elements of each block in the opposite order, through dynamic shared memory from an element on.
#[kernel]
pub fn turned(first: u32, x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let (t, block) = (thread::thread_idx().x as usize, thread::block_dim().x as usize);
    // SAFETY: the launch gives four bytes for each thread behind the first element; a thread writes its own element, and
    // reads another's behind the barrier.
    let opposite = unsafe {
        let tile = DynamicSharedArray::<u32>::get().as_mut_ptr().add(first as usize);
        *tile.add(t) = x.get(i.get()).copied().unwrap_or(0);
        thread::sync_threads();
        *tile.add(block - 1 - t)
    };
    if let Some(out) = y.get_mut(i) {
        *out = opposite;
    }
}

/// Blocks that start together in pairs.
#[kernel(cluster = [2, 1, 1])]
pub fn paired_blocks(mut y: DisjointSlice<u32>) {
    if let Some(out) = y.get_mut(thread::index_1d()) {
        *out = thread::block_idx().x;
    }
}

/// Counts the threads before all blocks have waited for each other, and behind that those which see fewer than all.
#[kernel]
pub fn met(cells: &[AtomicU32]) {
    cells[0].fetch_add(1, Ordering::Relaxed);
    grid::sync();
    let threads = thread::grid_dim().x * thread::block_dim().x;
    if cells[0].load(Ordering::Relaxed) != threads {
        cells[1].fetch_add(1, Ordering::Relaxed);
    }
}

/// A tile of eight by four elements, from the fourth column and the second row on.
#[kernel]
pub fn tiled(map: &TensorMap<u32, 2>, mut y: DisjointSlice<u32>) {
    static mut TILE: SharedArray<u32, 32> = SharedArray::UNINIT;
    static mut WORD: SharedArray<u64, 1> = SharedArray::UNINIT;
    // SAFETY: only the copy writes the tile, and `WORD` is the barrier's.
    let (tile, word) = unsafe { (&*&raw const TILE, &*&raw const WORD) };
    // SAFETY: all threads come here.
    let (_, tile) = unsafe { BulkBarrier::new(word).load(tile, 0, map, [4, 2]) }.wait();
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = tile[map.place([i.get() % 8, i.get() / 8])];
    }
}

/// Says each element.
#[kernel]
pub fn spoken(x: &[u32]) {
    let i = thread::index_1d().get();
    if i < x.len() {
        gpu_println!("element {i} is {}", x[i]);
    }
}
