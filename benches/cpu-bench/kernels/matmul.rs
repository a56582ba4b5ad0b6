use kernelmill_device::prelude::*;

/// `c = a * b` for square matrices of `n` rows, a multiple of 16. Blocks of 16 by 16 threads, each
/// with a tile of 16 by 16.
#[kernel(dim = 2, width = n)]
pub fn matmul_16x16(n: u32, a: &[f32], b: &[f32], mut c: DisjointSlice<f32, Index2D>) {
    static mut A: SharedArray<f32, 256> = SharedArray::UNINIT;
    static mut B: SharedArray<f32, 256> = SharedArray::UNINIT;
    let i = thread::index_2d();
    let (row, column) = (i.row(), i.column());
    let index = thread::thread_idx();
    let (x, y, n) = (index.x as usize % 16, index.y as usize % 16, n as usize);
    let mut sum = 0.0;
    for start in (0..n).step_by(16) {
        // SAFETY: each thread writes its own element; they are read between two barriers.
        unsafe {
            A[y * 16 + x] = a[row * n + start + x];
            B[y * 16 + x] = b[(start + y) * n + column];
            thread::sync_threads();
            for k in 0..16 {
                sum += A[y * 16 + k] * B[k * 16 + x];
            }
            thread::sync_threads();
        }
    }
    if let Some(out) = c.get_mut(i) {
        *out = sum;
    }
}

/// The same for a multiple of 32, with blocks of 32 by 8 threads, each with a tile of 32 by 32: a
/// thread has four elements of `c`, eight rows apart.
#[kernel(dim = 2)]
pub fn matmul_32x8(n: u32, a: &[f32], b: &[f32], mut c: DisjointSlice<f32>) {
    static mut A: SharedArray<f32, 1024> = SharedArray::UNINIT;
    static mut B: SharedArray<f32, 1024> = SharedArray::UNINIT;
    let (index, block, n) = (thread::thread_idx(), thread::block_idx(), n as usize);
    let (x, y) = (index.x as usize % 32, index.y as usize % 8);
    let (top, left) = (block.y as usize * 32, block.x as usize * 32);
    let mut sums = [0.0; 4];
    for start in (0..n).step_by(32) {
        // SAFETY: each thread writes its own elements; they are read between two barriers.
        unsafe {
            for part in 0..4 {
                let row = y + 8 * part;
                A[row * 32 + x] = a[(top + row) * n + start + x];
                B[row * 32 + x] = b[(start + row) * n + left + x];
            }
            thread::sync_threads();
            for k in 0..32 {
                for part in 0..4 {
                    sums[part] += A[(y + 8 * part) * 32 + k] * B[k * 32 + x];
                }
            }
            thread::sync_threads();
        }
    }
    for part in 0..4 {
        let place = (top + y + 8 * part) * n + left + x;
        if place < c.len() {
            // SAFETY: in bounds, and only this thread has this element.
            unsafe { *c.get_unchecked_mut(place) = sums[part] };
        }
    }
}
