use core::ops::{Add, Mul};
use kernelmill_device::{block_array::AnyBitPattern, prelude::*};

/// A floating-point number.
pub trait Real: Copy + Add<Output = Self> + Mul<Output = Self> {
    /// 0.
    const ZERO: Self;
}
impl Real for f32 {
    const ZERO: Self = 0.0;
}
impl Real for f64 {
    const ZERO: Self = 0.0;
}

/// `y += a * x`, where a thread has `TILE` elements.
#[kernel(instances = ["f32, 1", "f32, 4", "f64, 1", "f64, 4"])]
pub fn axpy<T: Real, const TILE: usize>(
    a: T,
    x: &[[T; TILE]],
    mut y: DisjointSlice<[T; TILE]>,
) {
    let i = thread::index_1d();
    if let Some(tile) = y.get_mut(i) {
        for (y, x) in tile.iter_mut().zip(&x[i.get()]) {
            *y = *y + a * *x;
        }
    }
}

/// The scalar product of the elements that each block takes: `sums` has one element a block.
///
/// Blocks of `BLOCK` threads, a power of two. Each thread adds up elements a whole grid apart; then every thread adds
/// the sums of all, by a butterfly in shared memory.
#[kernel(instances = ["f32, 256", "f64, 256"])]
pub fn dot<T: Real + AnyBitPattern, const BLOCK: usize>(
    x: &[T],
    y: &[T],
    mut tile: BlockArray<T, BLOCK>,
    mut sums: DisjointSlice<T>,
) {
    let own = thread::block_index();
    let block = thread::block_idx().x as usize;
    let stride = thread::grid_dim().x as usize * BLOCK;
    let mut sum = T::ZERO;
    let mut i = block * BLOCK + own.get();
    while i < x.len() {
        sum = sum + x[i] * y[i];
        i += stride;
    }
    tile.write(own, sum);
    let mut view = tile.sync();
    let mut half = BLOCK / 2;
    while half > 0 {
        let sum = view[own.get()] + view[(own.get() + half) % BLOCK];
        tile = view.sync();
        tile.write(own, sum);
        view = tile.sync();
        half /= 2;
    }
    if own.get() == 0 && block < sums.len() {
        // SAFETY: in bounds, and only this thread of this block has this element.
        unsafe { *sums.get_unchecked_mut(block) = view[0] };
    }
}
