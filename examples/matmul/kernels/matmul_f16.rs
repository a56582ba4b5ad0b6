use kernelmill_device::{
    prelude::*,
    tensor::{A, Accumulator, B, F16, M16N8K16, mma},
};

/// Rows and columns of `c` that a block computes.
const BLOCK: [usize; 2] = [64, 32];
/// Threads of a block: four warps, each for 16 rows.
const THREADS: usize = 128;
/// Columns of `a` and rows of `b` that are in shared memory at a time.
const DEPTH: usize = 16;
/// Elements from one row of a tile to the next: rows start at multiples of 16 bytes, and in different
/// banks.
const STRIDE: [usize; 2] = [DEPTH + 8, BLOCK[1] + 8];

/// `c = a * b` for matrices in rows, of half precision, summed in single precision: `a` has `k`
/// columns, `b` and `c` have `n`.
///
/// A block of 128 threads for each 64 rows by 32 columns of `c`, columns first. Its warps multiply small
/// matrices, by the instructions that the device has for them.
#[kernel]
pub fn matmul_f16(n: u32, k: u32, a: &[u16], b: &[u16], mut c: DisjointSlice<f32>) {
    static mut TILE_A: SharedArray<u16, { BLOCK[0] * STRIDE[0] }> = SharedArray::UNINIT;
    static mut TILE_B: SharedArray<u16, { DEPTH * STRIDE[1] }> = SharedArray::UNINIT;
    let (n, k) = (n as usize, k as usize);
    let (block, t) = (thread::block_idx().x as usize, thread::thread_idx().x as usize);
    let across = n.div_ceil(BLOCK[1]);
    let (top, left) = (block / across * BLOCK[0], block % across * BLOCK[1]);
    // SAFETY: the tiles are read between two barriers, and written outside of them.
    let (tile_a, tile_b) = unsafe { (&*&raw const TILE_A, &*&raw const TILE_B) };
    let warp_row = t / 32 * 16;
    let mut sums = [Accumulator::<M16N8K16, F16>::zero(); 4];
    let mut start = 0;
    while start < k {
        for i in 0..BLOCK[0] * DEPTH / THREADS {
            let (row, column) = ((i * THREADS + t) / DEPTH, t % DEPTH);
            let place = (top + row) * k + start + column;
            let value = if start + column < k && place < a.len() { a[place] } else { 0 };
            // SAFETY: within the tile, an element for each thread and round.
            unsafe { tile_a.as_mut_ptr().add(row * STRIDE[0] + column).write(value) };
        }
        for i in 0..DEPTH * BLOCK[1] / THREADS {
            let (row, column) = ((i * THREADS + t) / BLOCK[1], t % BLOCK[1]);
            let place = (start + row) * n + left + column;
            let value = if left + column < n && place < b.len() { b[place] } else { 0 };
            // SAFETY: within the tile, an element for each thread and round.
            unsafe { tile_b.as_mut_ptr().add(row * STRIDE[1] + column).write(value) };
        }
        thread::sync_threads();
        let of_a = A::from_rows(tile_a, warp_row * STRIDE[0], STRIDE[0]);
        sums[0] = mma(&of_a, &B::from_rows(tile_b, 0, STRIDE[1]), sums[0]);
        sums[1] = mma(&of_a, &B::from_rows(tile_b, 8, STRIDE[1]), sums[1]);
        sums[2] = mma(&of_a, &B::from_rows(tile_b, 16, STRIDE[1]), sums[2]);
        sums[3] = mma(&of_a, &B::from_rows(tile_b, 24, STRIDE[1]), sums[3]);
        thread::sync_threads();
        start += DEPTH;
    }
    for (part, sums) in sums.iter().enumerate() {
        sums.for_each(|row, column, value| {
            let (row, column) = (top + warp_row + row, left + 8 * part + column);
            let place = row * n + column;
            if column < n && place < c.len() {
                // SAFETY: within the slice; each element is of one block, warp, part and lane.
                unsafe { *c.get_unchecked_mut(place) = value };
            }
        });
    }
}
