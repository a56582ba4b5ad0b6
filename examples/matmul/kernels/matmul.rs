use kernelmill_device::{block_array::sync, prelude::*};

/// Rows and columns of a tile.
const TILE: usize = 16;

/// `c = a * b` for matrices in rows: `a` has `k` columns, `b` and `c` have `n`.
///
/// Blocks of 16 by 16 threads, a thread for each element of `c`. The block walks along the rows of
/// `a` and down the columns of `b` a tile at a time, which it keeps in shared memory.
#[kernel(dim = 2, width = n, block_size = [16, 16, 1])]
pub fn matmul(
    n: u32,
    k: u32,
    a: &[f32],
    b: &[f32],
    mut tile_a: BlockArray<f32, { TILE * TILE }>,
    mut tile_b: BlockArray<f32, { TILE * TILE }>,
    mut c: DisjointSlice<f32, Index2D>,
) {
    let (i, own) = (thread::index_2d(), thread::block_index());
    let (row, column) = (i.row() as u32, i.column() as u32);
    let (x, y) = (own.get() % TILE, own.get() / TILE % TILE);
    let mut sum = 0.0;
    let mut start = 0;
    while start < k {
        let place_a = (row * k + start + x as u32) as usize;
        let place_b = ((start + y as u32) * n + column) as usize;
        let value_a = if start + (x as u32) < k && place_a < a.len() { a[place_a] } else { 0.0 };
        let value_b = if column < n && place_b < b.len() { b[place_b] } else { 0.0 };
        tile_a.write(own, value_a);
        tile_b.write(own, value_b);
        let (rows, columns) = sync((tile_a, tile_b));
        for step in 0..TILE {
            sum += rows[y * TILE + step] * columns[step * TILE + x];
        }
        (tile_a, tile_b) = sync((rows, columns));
        start += TILE as u32;
    }
    if let Some(out) = c.get_mut(i) {
        *out = sum;
    }
}
