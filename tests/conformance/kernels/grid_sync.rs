//! Blocks that wait for each other: reductions and iterations of many steps in one launch.

use core::sync::atomic::{AtomicU32, Ordering};
use kernelmill_device::prelude::*;

// CHECK-PTX: atom
// CHECK-PTX: add.u32
// CHECK-PTX: membar.gl
// CHECK-AMD: global_atomic_add
/// The sum of `x`, and each element's distance from the mean: two barriers of the grid. Each block adds up its own
/// elements in shared memory.
#[kernel(block_size = [64, 1, 1])]
pub fn grid_distances(
    x: &[u32],
    sums: &[AtomicU32],
    mut tile: BlockArray<u32, 64>,
    mut y: DisjointSlice<u32>,
) {
    let (i, own) = (thread::index_1d(), thread::block_index());
    let mine = if let Some(x) = x.get(i.get()) { *x } else { 0 };
    tile.write(own, mine);
    let tile = tile.sync();
    if own.get() == 0 {
        sums[1 + thread::block_idx().x as usize].store(tile.iter().sum(), Ordering::Relaxed);
    }
    grid::sync();
    if i.get() == 0 {
        let mut all = 0;
        for block in 0..thread::grid_dim().x as usize {
            all += sums[1 + block].load(Ordering::Relaxed);
        }
        sums[0].store(all, Ordering::Relaxed);
    }
    grid::sync();
    let mean = sums[0].load(Ordering::Relaxed) / x.len() as u32;
    if let Some(y) = y.get_mut(i) {
        *y = mine.abs_diff(mean);
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

/// Divides by an element of `x` between two barriers of the grid: thread 37 panics where that is zero, the others wait.
#[kernel]
pub fn grid_panics(x: &[u32], cells: &[AtomicU32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    grid::sync();
    let quotient = 100 / x[i.get()];
    cells[0].fetch_add(quotient, Ordering::Relaxed);
    grid::sync();
    if let Some(y) = y.get_mut(i) {
        *y = cells[0].load(Ordering::Relaxed);
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
