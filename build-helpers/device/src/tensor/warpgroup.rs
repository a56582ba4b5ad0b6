//! Matrix products of a warpgroup (`wgmma`): 128 threads multiply tiles in shared memory.
//!
//! PTX ISA, "Asynchronous warpgroup level matrix instructions".

use core::{fmt, marker::PhantomData};

use super::{bulk::linear, element::Element, memory::Memory, rows};
use crate::{intrinsics, thread};

/// Rows of each of the two matrices, and rows and columns of their product.
pub const WARPGROUP_ROWS: usize = 64;

/// Columns of each of the two matrices.
pub const WARPGROUP_DEPTH: usize = 16;

/// Elements of a tile.
const TILE: usize = WARPGROUP_ROWS * WARPGROUP_DEPTH;

/// Elements of the product that a thread holds.
const SUMS: usize = 32;

/// An element type of warpgroup products: [`F16`](super::F16) or [`Bf16`](super::Bf16).
pub trait WarpgroupElement: Element<Storage = u16, Sum = f32, Register = u32> {
    /// Starts the target's instruction.
    #[doc(hidden)]
    fn begin(sums: &mut [f32; SUMS], a: u64, b: u64);
}

impl WarpgroupElement for super::F16 {
    #[inline(always)]
    fn begin(sums: &mut [f32; SUMS], a: u64, b: u64) {
        intrinsics::wgmma_f16(sums.as_mut_ptr(), a, b);
    }
}

impl WarpgroupElement for super::Bf16 {
    #[inline(always)]
    fn begin(sums: &mut [f32; SUMS], a: u64, b: u64) {
        intrinsics::wgmma_bf16(sums.as_mut_ptr(), a, b);
    }
}

/// A matrix of 64 rows and 16 columns in shared memory, in consecutive core matrices of 8 by 8 elements: two
/// for the first eight rows, two for the next. [`WarpgroupTile::index`] is the position of an element.
pub struct WarpgroupTile<'a, E: WarpgroupElement> {
    first: *const u16,
    memory: PhantomData<(&'a u16, E)>,
}

impl<E: WarpgroupElement> Clone for WarpgroupTile<'_, E> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<E: WarpgroupElement> Copy for WarpgroupTile<'_, E> {}

impl<'a, E: WarpgroupElement> WarpgroupTile<'a, E> {
    /// The tile of the 1024 elements from `start` on, a multiple of 8.
    ///
    /// # Panics
    ///
    /// In kernels, where `start` is no multiple of 8, or an element lies past the end.
    #[inline(always)]
    #[track_caller]
    pub fn new<M: Memory<u16> + ?Sized>(memory: &'a M, start: usize) -> Self {
        const { assert!(M::IS_SHARED, "tiles must be in shared memory") };
        assert!(start.is_multiple_of(8), "a tile must start at a multiple of 8 elements");
        assert!(
            memory.count() >= TILE && start <= memory.count() - TILE,
            "the tile of 1024 elements goes past the end of the shared memory"
        );
        Self { first: memory.start().wrapping_add(start), memory: PhantomData }
    }

    /// The position of an element in a tile.
    #[inline(always)]
    #[must_use]
    pub const fn index(row: usize, column: usize) -> usize {
        (row / 8 * 2 + column / 8) * 64 + row % 8 * 8 + column % 8
    }

    /// The matrix descriptor of the tile: no swizzle; the next core matrix is at 128 bytes along columns and
    /// at 256 along rows.
    ///
    /// PTX ISA, "Matrix descriptor format".
    #[inline(always)]
    fn descriptor(self) -> u64 {
        const COLUMNS: u64 = 128 >> 4;
        const ROWS: u64 = 256 >> 4;
        let address = u64::from(intrinsics::shared_address(self.first));
        (address & 0x3_ffff) >> 4 | COLUMNS << 16 | ROWS << 32
    }

    /// Two elements of a row, from an even column on.
    #[inline(always)]
    fn pair(self, row: usize, column: usize) -> u32 {
        // SAFETY: within the tile, which `new` has checked; the caller of `multiply` guarantees that it is
        // written.
        unsafe {
            let first = self.first.add(Self::index(row, column));
            u32::from(*first) | u32::from(*first.add(1)) << 16
        }
    }
}

/// Makes written tiles visible to `wgmma` (a fence of the asynchronous proxy), and waits for all threads of
/// the block.
#[inline(always)]
pub fn sync_tiles() {
    intrinsics::tma_fence();
    thread::sync_threads();
}

/// A matrix of 64 by 64 sums over the threads of a warpgroup.
pub struct WarpgroupAccumulator<E: WarpgroupElement> {
    sums: [f32; SUMS],
    /// Neither `Send` nor `Sync`: it is of the thread that made it.
    group: PhantomData<(E, *mut ())>,
}

/// Products in flight, with their tiles.
#[must_use = "products are complete only after `wait`"]
pub struct WarpgroupProduct<'a, E: WarpgroupElement> {
    sums: [f32; SUMS],
    /// Neither `Send` nor `Sync`: it is of the thread that made it.
    tiles: PhantomData<(WarpgroupTile<'a, E>, *mut ())>,
}

impl<E: WarpgroupElement> WarpgroupAccumulator<E> {
    /// A matrix of zeros.
    #[inline(always)]
    #[must_use]
    pub fn zero() -> Self {
        Self { sums: [0.0; SUMS], group: PhantomData }
    }

    /// Starts adding `a` times the transpose of `b`: by `wgmma` on sm_90a; elsewhere it is done at once.
    ///
    /// # Safety
    ///
    /// The 128 threads of a warpgroup, consecutive threads of a block from a multiple of 128 on, all call it
    /// with the same tiles. The tiles were written before a call of [`sync_tiles`] by all threads of the
    /// block, and no thread writes to them until after [`WarpgroupProduct::wait`] and a barrier.
    #[inline(always)]
    pub unsafe fn multiply<'a>(
        self,
        a: WarpgroupTile<'a, E>,
        b: WarpgroupTile<'a, E>,
    ) -> WarpgroupProduct<'a, E> {
        let product = WarpgroupProduct { sums: self.sums, tiles: PhantomData };
        // SAFETY: by the condition of this function.
        unsafe { product.multiply(a, b) }
    }

    /// Calls a function with row, column and value of each element that this thread holds. Every element is
    /// held by one thread of the warpgroup.
    #[inline(always)]
    pub fn for_each(&self, mut function: impl FnMut(usize, usize, f32)) {
        let thread = linear() % 128;
        rows::sixteen!(INDEX, {
            let (row, column) = place(thread, INDEX);
            function(row, column, self.sums[INDEX]);
            let (row, column) = place(thread, INDEX + 16);
            function(row, column, self.sums[INDEX + 16]);
        });
    }
}

impl<'a, E: WarpgroupElement> WarpgroupProduct<'a, E> {
    /// Starts adding another product.
    ///
    /// # Safety
    ///
    /// As for [`WarpgroupAccumulator::multiply`].
    #[inline(always)]
    pub unsafe fn multiply(mut self, a: WarpgroupTile<'a, E>, b: WarpgroupTile<'a, E>) -> Self {
        if has_instruction() {
            E::begin(&mut self.sums, a.descriptor(), b.descriptor());
            return self;
        }
        let thread = linear() % 128;
        let dot = |part: usize, index: usize, sum: f32| {
            let (row, column) = place(thread, index);
            E::dot(a.pair(row, 2 * part), b.pair(column, 2 * part), sum)
        };
        let mut part = 0;
        while part < WARPGROUP_DEPTH / 2 {
            rows::sixteen!(INDEX, {
                self.sums[INDEX] = dot(part, INDEX, self.sums[INDEX]);
                self.sums[INDEX + 16] = dot(part, INDEX + 16, self.sums[INDEX + 16]);
            });
            part += 1;
        }
        self
    }

    /// Waits until all products have been added.
    #[inline(always)]
    #[must_use]
    pub fn wait(mut self) -> WarpgroupAccumulator<E> {
        if has_instruction() {
            intrinsics::wgmma_wait(self.sums.as_mut_ptr());
        }
        WarpgroupAccumulator { sums: self.sums, group: PhantomData }
    }
}

/// Whether the target has `wgmma`.
#[inline(always)]
fn has_instruction() -> bool {
    intrinsics::wgmma_available() != 0
}

/// Row and column of a sum that a thread holds: 16 rows for each warp, laid out as by `mma.sync`, in eight
/// parts of 8 columns.
///
/// PTX ISA, "Register fragments for wgmma.mma_async.m64nNk16".
#[inline(always)]
fn place(thread: usize, index: usize) -> (usize, usize) {
    let (warp, lane) = (thread / 32, thread % 32);
    (16 * warp + lane / 4 + index / 2 % 2 * 8, index / 4 * 8 + lane % 4 * 2 + index % 2)
}

macro_rules! debug {
    ($($name:ident $(<$life:lifetime>)?)*) => {
        $(
            impl<E: WarpgroupElement> fmt::Debug for $name<$($life,)? E> {
                fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                    formatter.write_str(stringify!($name))
                }
            }
        )*
    };
}

debug! { WarpgroupTile<'_> WarpgroupAccumulator WarpgroupProduct<'_> }

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::F16;
    use std::collections::BTreeSet;

    #[test]
    fn every_element_has_its_place() {
        let all = |rows: usize, columns: usize| {
            (0..rows).flat_map(move |row| (0..columns).map(move |column| (row, column)))
        };
        let tile: BTreeSet<_> =
            all(64, 16).map(|(row, column)| WarpgroupTile::<F16>::index(row, column)).collect();
        assert_eq!(tile, (0..TILE).collect());
        let sums: BTreeSet<_> =
            (0..128).flat_map(|thread| (0..SUMS).map(move |index| place(thread, index))).collect();
        assert_eq!(sums, all(64, 64).collect());
    }

    /// Thread 37, the sixth of the second warp, as PTX ISA 9.7.15.5.1 has it.
    #[test]
    fn sums_are_where_ptx_has_them() {
        let places: Vec<_> = (0..6).map(|index| place(37, index)).collect();
        assert_eq!(places, [(17, 2), (17, 3), (25, 2), (25, 3), (17, 10), (17, 11)]);
    }
}
