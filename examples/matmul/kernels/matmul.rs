use kernelmill_device::prelude::*;

/// Rows and columns of a tile.
const TILE: usize = 16;

/// `c = a * b` for matrices in rows: `a` has `k` columns, `b` and `c` have `n`.
///
/// Blocks of 16 by 16 threads, a thread for each element of `c`. The block walks along the rows of
/// `a` and down the columns of `b` a tile at a time, which it keeps in shared memory.
#[kernel(dim = 2, width = n)]
pub fn matmul(n: u32, k: u32, a: &[f32], b: &[f32], mut c: DisjointSlice<f32, Index2D>) {
    static mut TILE_A: SharedArray<f32, { TILE * TILE }> = SharedArray::UNINIT;
    static mut TILE_B: SharedArray<f32, { TILE * TILE }> = SharedArray::UNINIT;
    let i = thread::index_2d();
    let (row, column) = (i.row() as u32, i.column() as u32);
    let index = thread::thread_idx();
    let (x, y) = (index.x as usize % TILE, index.y as usize % TILE);
    // SAFETY: the tiles are read between two barriers, and written outside of them.
    let (tile_a, tile_b) = unsafe { (&raw mut TILE_A[0], &raw mut TILE_B[0]) };
    let mut sum = 0.0;
    let mut start = 0;
    while start < k {
        let place_a = (row * k + start + x as u32) as usize;
        let place_b = ((start + y as u32) * n + column) as usize;
        let value_a = if start + (x as u32) < k && place_a < a.len() { a[place_a] } else { 0.0 };
        let value_b = if column < n && place_b < b.len() { b[place_b] } else { 0.0 };
        // SAFETY: `x` and `y` are below 16, and each thread writes its own element of each tile.
        unsafe {
            *tile_a.add(y * TILE + x) = value_a;
            *tile_b.add(y * TILE + x) = value_b;
        }
        thread::sync_threads();
        for step in 0..TILE {
            // SAFETY: as above.
            sum += unsafe { *tile_a.add(y * TILE + step) * *tile_b.add(step * TILE + x) };
        }
        thread::sync_threads();
        start += TILE as u32;
    }
    if let Some(out) = c.get_mut(i) {
        *out = sum;
    }
}
