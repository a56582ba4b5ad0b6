use core::ops::{Add, Mul};
use kernelmill_device::{block_array::{AnyBitPattern, sync}, prelude::*};

/// What a routine calculates with.
pub trait Sum: Copy + Add<Output = Self> + Mul<Output = Self> {
    /// 0.
    const ZERO: Self;
}
impl Sum for f32 {
    const ZERO: Self = 0.0;
}
impl Sum for f64 {
    const ZERO: Self = 0.0;
}

/// An element of vectors and matrices, with the type that it is calculated in.
pub trait Real<S: Sum>: Copy {
    /// The number that is calculated with.
    fn widen(self) -> S;
    /// The nearest element.
    fn narrow(number: S) -> Self;
}
impl<S: Sum> Real<S> for S {
    fn widen(self) -> S {
        self
    }
    fn narrow(number: S) -> Self {
        number
    }
}

/// A number of half precision, by its bits.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Half {
    /// The bits, as IEEE 754 has them.
    pub bits: u16,
}
impl Real<f32> for Half {
    fn widen(self) -> f32 {
        let (sign, rest) = (u32::from(self.bits >> 15) << 31, u32::from(self.bits & 0x7fff));
        let magnitude = match rest >> 10 {
            0 => (rest as f32 / 16_777_216.0).to_bits(),
            31 => 0x7f80_0000 | (rest << 13),
            _ => (rest << 13) + (112 << 23),
        };
        f32::from_bits(sign | magnitude)
    }
    fn narrow(number: f32) -> Self {
        let (sign, rest) = ((number.to_bits() >> 16) & 0x8000, number.to_bits() & 0x7fff_ffff);
        let magnitude = match rest {
            0x7f80_0001.. => 0x7e00,
            0x4780_0000.. => 0x7c00,
            // Rounded to the nearest even, the carry into the exponent included.
            0x3880_0000.. => (rest - (112 << 23) + 0xfff + ((rest >> 13) & 1)) >> 13,
            _ => (f32::from_bits(rest) + 0.5).to_bits() - 0.5f32.to_bits(),
        };
        Self { bits: (sign | magnitude) as u16 }
    }
}

/// `y += a * x`, where a thread has `TILE` elements.
#[kernel(instances = [
    "f32, f32, 1", "f32, f32, 4", "f32, f32, 16",
    "f64, f64, 1", "f64, f64, 4", "f64, f64, 16",
    "Half, f32, 1", "Half, f32, 4", "Half, f32, 16",
])]
pub fn axpy<T: Real<S>, S: Sum, const TILE: usize>(
    a: S,
    x: &[[T; TILE]],
    mut y: DisjointSlice<[T; TILE]>,
) {
    let i = thread::index_1d();
    if let Some(tile) = y.get_mut(i) {
        for (y, x) in tile.iter_mut().zip(&x[i.get()]) {
            *y = T::narrow(y.widen() + a * x.widen());
        }
    }
}

/// The sum of what each thread of a block of `BLOCK` threads has, for all of them, by a butterfly in shared memory.
#[inline(always)]
fn sum_of_block<S: Sum + AnyBitPattern, const BLOCK: usize>(
    own: BlockIndex,
    mut tile: BlockArray<S, BLOCK>,
    sum: S,
) -> S {
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
    view[0]
}

/// The scalar product of the elements that each block takes: `sums` has one element a block.
///
/// Blocks of `BLOCK` threads, a power of two. Each thread adds up elements a whole grid apart, then the block all of them.
#[kernel(instances = [
    "f32, f32, 64", "f32, f32, 128", "f32, f32, 256",
    "f64, f64, 64", "f64, f64, 128", "f64, f64, 256",
    "Half, f32, 64", "Half, f32, 128", "Half, f32, 256",
])]
pub fn dot<T: Real<S>, S: Sum + AnyBitPattern, const BLOCK: usize>(
    x: &[T],
    y: &[T],
    tile: BlockArray<S, BLOCK>,
    mut sums: DisjointSlice<S>,
) {
    let own = thread::block_index();
    let block = thread::block_idx().x as usize;
    let stride = thread::grid_dim().x as usize * BLOCK;
    let mut sum = S::ZERO;
    let mut i = block * BLOCK + own.get();
    while i < x.len() {
        sum = sum + x[i].widen() * y[i].widen();
        i += stride;
    }
    let sum = sum_of_block(own, tile, sum);
    if own.get() == 0 && block < sums.len() {
        // SAFETY: in bounds, and only this thread of this block has this element.
        unsafe { *sums.get_unchecked_mut(block) = sum };
    }
}

/// `y = a * x` for a matrix in rows, each of which a block of `BLOCK` threads multiplies, a power of two.
#[kernel(instances = [
    "f32, f32, 64", "f32, f32, 128", "f32, f32, 256",
    "f64, f64, 64", "f64, f64, 128", "f64, f64, 256",
    "Half, f32, 64", "Half, f32, 128", "Half, f32, 256",
])]
pub fn gemv<T: Real<S>, S: Sum + AnyBitPattern, const BLOCK: usize>(
    a: &[T],
    x: &[T],
    tile: BlockArray<S, BLOCK>,
    mut y: DisjointSlice<T>,
) {
    let own = thread::block_index();
    let row = thread::block_idx().x as usize;
    let mut sum = S::ZERO;
    let mut i = own.get();
    while i < x.len() {
        sum = sum + a[row * x.len() + i].widen() * x[i].widen();
        i += BLOCK;
    }
    let sum = sum_of_block(own, tile, sum);
    if own.get() == 0 && row < y.len() {
        // SAFETY: in bounds, and only this thread of this block has this element.
        unsafe { *y.get_unchecked_mut(row) = T::narrow(sum) };
    }
}

/// `c = a * b` for matrices in rows: `a` has `k` columns, `b` and `c` have `n`.
///
/// Blocks of `TILE` by `TILE` threads, a thread for each element of `c`. The block walks along the rows of `a` and down
/// the columns of `b` a tile at a time, which it keeps in shared memory, `AREA` elements.
#[kernel(dim = 2, width = n, instances = [
    "f32, f32, 4, 16", "f32, f32, 8, 64", "f32, f32, 16, 256",
    "f64, f64, 4, 16", "f64, f64, 8, 64", "f64, f64, 16, 256",
    "Half, f32, 4, 16", "Half, f32, 8, 64", "Half, f32, 16, 256",
])]
pub fn gemm<T: Real<S>, S: Sum + AnyBitPattern, const TILE: usize, const AREA: usize>(
    n: u32,
    k: u32,
    a: &[T],
    b: &[T],
    mut tile_a: BlockArray<S, AREA>,
    mut tile_b: BlockArray<S, AREA>,
    mut c: DisjointSlice<T, Index2D>,
) {
    const { assert!(AREA == TILE * TILE) };
    let (i, own) = (thread::index_2d(), thread::block_index());
    let (row, column) = (i.row() as u32, i.column() as u32);
    let (x, y) = (own.get() % TILE, own.get() / TILE % TILE);
    let mut sum = S::ZERO;
    let mut start = 0;
    while start < k {
        let (of_a, of_b) = (start + x as u32, start + y as u32);
        let is_in_a = of_a < k && (row * k + of_a) < a.len() as u32;
        let is_in_b = of_b < k && column < n;
        tile_a.write(own, if is_in_a { a[(row * k + of_a) as usize].widen() } else { S::ZERO });
        tile_b.write(own, if is_in_b { b[(of_b * n + column) as usize].widen() } else { S::ZERO });
        let (rows, columns) = sync((tile_a, tile_b));
        for step in 0..TILE {
            sum = sum + rows[y * TILE + step] * columns[step * TILE + x];
        }
        (tile_a, tile_b) = sync((rows, columns));
        start += TILE as u32;
    }
    if let Some(out) = c.get_mut(i) {
        *out = T::narrow(sum);
    }
}
