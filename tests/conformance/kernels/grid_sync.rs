//! Blocks that wait for each other: reductions and iterations of many steps in one launch.

use core::sync::atomic::{AtomicU32, Ordering};
use kernelmill_device::prelude::*;

// CHECK-PTX: atom
// CHECK-PTX: add.u32
// CHECK-PTX: membar.gl
// CHECK-AMD: global_atomic_add
/// Each element's distance from the mean of `x`, and the sum of these distances added to it: two barriers of the grid,
/// before each of which every thread adds to a sum, and after which every thread reads it. What is added first comes from
/// the thread opposite in the block, through shared memory.
#[kernel(block_size = [64, 1, 1])]
pub fn grid_distances(
    x: &[u32],
    sums: &[AtomicU32],
    mut tile: BlockArray<u32, 64>,
    mut y: DisjointSlice<u32>,
) {
    let (i, own) = (thread::index_1d(), thread::block_index());
    let mine = x.get(i.get()).copied();
    tile.write(own, mine.unwrap_or(0));
    let tile = tile.sync();
    sums[0].fetch_add(tile[63 - own.get() % 64], Ordering::Relaxed);
    grid::sync();
    let mean = sums[0].load(Ordering::Relaxed) / x.len() as u32;
    let distance = mine.map_or(0, |mine| mine.abs_diff(mean));
    sums[1].fetch_add(distance, Ordering::Relaxed);
    grid::sync();
    if let Some(y) = y.get_mut(i) {
        *y = distance + sums[1].load(Ordering::Relaxed);
    }
}

/// Steps of Jacobi's iteration for `y'' = 0` between fixed ends, from `even` to `odd` and back.
#[kernel]
pub fn grid_jacobi(steps: u32, mut even: DisjointSlice<f32>, mut odd: DisjointSlice<f32>) {
    let i = thread::index_1d().get();
    let n = even.len();
    let [even, odd] = [even.as_mut_ptr(), odd.as_mut_ptr()];
    for step in 0..steps {
        let (from, to) = if step % 2 == 0 { (even, odd) } else { (odd, even) };
        if i > 0 && i + 1 < n {
            // SAFETY: within both, which have the same length; a thread writes its own element of one of them, and all
            // read the other, a barrier of the grid apart from the writes to it.
            unsafe { to.add(i).write(0.5 * (from.add(i - 1).read() + from.add(i + 1).read())) };
        }
        grid::sync();
    }
}

/// Waits for all blocks `rounds` times, in a function, where each block adds its number.
#[kernel(dim = 3)]
pub fn grid_rounds(rounds: u32, cells: &[AtomicU32]) {
    for round in 0..rounds as usize {
        meet(&cells[round..], &cells[rounds as usize..], round);
    }
}

/// Counts the threads that have come here, and those that see fewer than all of them afterwards.
#[inline(never)]
fn meet(cells: &[AtomicU32], wrong: &[AtomicU32], round: usize) {
    cells[0].fetch_add(1, Ordering::Relaxed);
    grid::sync();
    let (grid, block) = (thread::grid_dim(), thread::block_dim());
    let threads = grid.x * grid.y * grid.z * block.x * block.y * block.z;
    if cells[0].load(Ordering::Relaxed) != threads {
        wrong[0].fetch_add(1 + round as u32, Ordering::Relaxed);
    }
}

/// Divides by an element of `x` between two barriers of the grid: a thread panics where that is zero, the others wait.
/// `cells` counts the threads, and adds up their number and their quotients.
#[kernel]
pub fn grid_panics(x: &[u32], cells: &[AtomicU32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    cells[0].fetch_add(1, Ordering::Relaxed);
    grid::sync();
    let quotient = 100 / x[i.get()];
    cells[1].fetch_add(cells[0].load(Ordering::Relaxed) + quotient, Ordering::Relaxed);
    grid::sync();
    if let Some(y) = y.get_mut(i) {
        *y = cells[1].load(Ordering::Relaxed);
    }
}

/// Threads from `end` on return before the others wait.
#[kernel]
pub fn grid_leaves(end: u32, cells: &[AtomicU32]) {
    if thread::index_1d().get() >= end as usize {
        return;
    }
    grid::sync();
    cells[0].fetch_add(1, Ordering::Relaxed);
}
