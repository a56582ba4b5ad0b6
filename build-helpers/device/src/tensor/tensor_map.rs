//! Tensor maps: tiles of tensors are copied to shared memory and back by the Tensor Memory Accelerator (TMA,
//! `cp.async.bulk.tensor`), or by the threads of the block.
//!
//! CUDA C++ Programming Guide, "Tensor Memory Access".

use core::{fmt, marker::PhantomData, ops::Deref};

use super::{
    bulk::{BulkBarrier, BulkCopy, has_unit, linear, threads},
    memory::Memory,
};
use crate::{intrinsics, thread};

/// An element type of tensor maps: integers and floats of 1 to 8 bytes.
pub trait TensorElement: Copy + sealed::Zero {}

mod sealed {
    /// The value of elements outside of a tensor.
    pub trait Zero {
        const ZERO: Self;
    }
}

macro_rules! elements {
    ($($ty:ty: $zero:literal)*) => {$(
        impl sealed::Zero for $ty {
            const ZERO: Self = $zero;
        }
        impl TensorElement for $ty {}
    )*};
}

elements! { i8: 0 i16: 0 i32: 0 i64: 0 u8: 0 u16: 0 u32: 0 u64: 0 f32: 0.0 f64: 0.0 }

/// The most dimensions.
const RANK: usize = 5;

/// A tensor of `D` dimensions that a kernel reads in tiles: a parameter `map: &TensorMap<f32, 2>`, which the
/// host makes by `kernelmill::TensorMap::tiled`. The innermost dimension is first.
///
/// ```no_run
/// use kernelmill_device::{prelude::*, tensor::{BulkBarrier, TensorMap}};
///
/// /// Transposes a matrix, a block of 256 threads for each tile of 16 by 16 elements.
/// #[kernel]
/// pub fn transpose(from: &TensorMap<f32, 2>, height: usize, mut to: DisjointSlice<f32>) {
///     static mut TILE: SharedArray<f32, 256> = SharedArray::UNINIT;
///     static mut WORD: SharedArray<u64, 1> = SharedArray::UNINIT;
///     let (block, t) = (thread::block_idx().x as usize, thread::thread_idx().x as usize);
///     let tiles = from.size(0).div_ceil(16);
///     let (x, y) = (block % tiles * 16, block / tiles * 16);
///     // SAFETY: only the copy writes the tile, and `WORD` is the barrier's.
///     let (tile, word) = unsafe { (&*&raw const TILE, &*&raw const WORD) };
///     // SAFETY: all threads come here, with the same arguments.
///     let copy = unsafe { BulkBarrier::new(word).load(tile, 0, from, [x as i32, y as i32]) };
///     let (_, tile) = copy.wait();
///     let (column, row) = (t / 16, t % 16);
///     if x + column < from.size(0) && y + row < height {
///         // SAFETY: each element is of one thread.
///         let out = unsafe { to.get_unchecked_mut((x + column) * height + y + row) };
///         *out = tile[from.place([column, row])];
///     }
/// }
/// ```
// The layout is that of `kernelmill_artifact::TensorMapData`.
#[repr(C, align(128))]
pub struct TensorMap<T, const D: usize> {
    descriptor: [u64; 16],
    address: *mut u8,
    sizes: [u64; RANK],
    strides: [u64; RANK],
    box_sizes: [u32; RANK],
    swizzle: u32,
    is_encoded: u32,
    element: PhantomData<T>,
}

/// A tensor that a kernel writes tiles to: a parameter `map: &TensorMapMut<f32, 2>`, which the host makes
/// by `kernelmill::TensorMapMut::tiled`. It can be read as a [`TensorMap`] too.
#[repr(transparent)]
pub struct TensorMapMut<T, const D: usize>(TensorMap<T, D>);

/// A store of a tile in flight, with its source in shared memory, which is returned once the store is
/// complete.
#[must_use = "a store is complete only after `wait`"]
pub struct BulkStore<'a, T, M: Memory<T> + ?Sized> {
    from: &'a M,
    by_unit: bool,
    /// Neither `Send` nor `Sync`: each thread has its own.
    thread: PhantomData<*mut T>,
}

impl<T, const D: usize> Deref for TensorMapMut<T, D> {
    type Target = TensorMap<T, D>;

    #[inline(always)]
    fn deref(&self) -> &TensorMap<T, D> {
        &self.0
    }
}

impl<T: TensorElement, const D: usize> TensorMap<T, D> {
    /// Elements of the tensor in a dimension.
    ///
    /// # Panics
    ///
    /// In kernels, where there is no such dimension.
    #[inline(always)]
    #[must_use]
    #[track_caller]
    pub fn size(&self, dimension: usize) -> usize {
        assert!(dimension < D, "the tensor map has fewer dimensions");
        self.sizes[dimension] as usize
    }

    /// Elements of a tile in a dimension.
    ///
    /// # Panics
    ///
    /// In kernels, where there is no such dimension.
    #[inline(always)]
    #[must_use]
    #[track_caller]
    pub fn tile_size(&self, dimension: usize) -> usize {
        assert!(dimension < D, "the tensor map has fewer dimensions");
        self.box_sizes[dimension] as usize
    }

    /// The number of elements of a tile.
    #[inline(always)]
    #[must_use]
    pub fn tile_len(&self) -> usize {
        let (mut count, mut d) = (1, 0);
        while d < D {
            count *= self.box_sizes[d] as usize;
            d += 1;
        }
        count
    }

    /// The position of an element of a tile in shared memory: rows are consecutive, and units of 16 bytes
    /// are permuted if the host has chosen a swizzle.
    #[inline(always)]
    #[must_use]
    pub fn place(&self, element: [usize; D]) -> usize {
        let (mut place, mut d) = (0, D);
        while d > 0 {
            d -= 1;
            place = place * self.box_sizes[d] as usize + element[d];
        }
        self.swizzled(place)
    }

    /// The position of the element with this number, after the swizzle.
    #[inline(always)]
    fn swizzled(&self, number: usize) -> usize {
        let bytes = number * size_of::<T>();
        (bytes ^ (bytes >> 7 & self.swizzle as usize) << 4) / size_of::<T>()
    }

    /// The alignment of a tile in shared memory that TMA requires, in bytes.
    #[inline(always)]
    fn alignment(&self) -> usize {
        128 * (self.swizzle as usize + 1)
    }

    /// Whether TMA copies this tile, which begins at these coordinates. A unit that is not given whole 16 bytes ends the context
    /// with an illegal instruction, which NVIDIA's documents do not say; seen on an H200.
    #[inline(always)]
    fn by_unit(&self, tile: *const T, start: [i32; D]) -> bool {
        let first = (start[0] as usize).wrapping_mul(size_of::<T>());
        has_unit()
            && self.is_encoded != 0
            && tile.addr().is_multiple_of(self.alignment())
            && first.is_multiple_of(16)
    }

    /// Whether TMA stores a tile right. One that begins before the tensor ends the context with an illegal instruction; of one
    /// that hangs over rows of no whole 16 bytes, up to 16 bytes are written behind these. Both were seen on an H200, and NVIDIA's
    /// documents do not say so.
    #[inline(always)]
    fn stores_by_unit(&self, start: [i32; D]) -> bool {
        let (mut is_inside, mut d) = (true, 0);
        while d < D {
            is_inside &= start[d] >= 0;
            d += 1;
        }
        let end = start[0].wrapping_add(self.box_sizes[0] as i32);
        let ends_inside = end >= 0 && end as u64 <= self.sizes[0];
        let has_units = (self.sizes[0] as usize).wrapping_mul(size_of::<T>()).is_multiple_of(16);
        is_inside && (ends_inside || has_units)
    }

    /// The address of a tile at element `at` of shared memory; panics where it does not fit.
    #[inline(always)]
    #[track_caller]
    fn tile<M: Memory<T> + ?Sized>(&self, tile: &M, at: usize) -> *mut T {
        const { assert!(M::IS_SHARED, "tiles must be in shared memory") };
        let count = self.tile_len();
        assert!(
            at <= tile.count() && count <= tile.count() - at,
            "the tile goes past the end of the shared memory"
        );
        tile.start().wrapping_add(at).cast_mut()
    }

    /// Calls a function for each element of a tile that belongs to this thread, with its position in shared
    /// memory and its address, or null for an element outside of the tensor.
    #[inline(always)]
    fn for_own(&self, start: [i32; D], mut function: impl FnMut(usize, *mut T)) {
        let (count, threads) = (self.tile_len(), threads());
        let mut i = linear();
        while i < count {
            let (mut rest, mut offset, mut is_inside, mut d) = (i as u32, 0_u64, true, 0);
            while d < D {
                let size = self.box_sizes[d];
                let at = i64::from(start[d]) + i64::from(rest % size);
                rest /= size;
                is_inside &= (at as u64) < self.sizes[d];
                offset = offset.wrapping_add((at as u64).wrapping_mul(self.strides[d]));
                d += 1;
            }
            let address = self.address.wrapping_add(offset as usize).cast();
            function(self.swizzled(i), if is_inside { address } else { core::ptr::null_mut() });
            i += threads;
        }
    }
}

impl<'b> BulkBarrier<'b> {
    /// Starts a copy of the tile whose first element has the coordinates `start` to `at` of shared memory.
    /// Elements outside of the tensor are zero. Coordinates may be negative.
    ///
    /// Processors from sm_90 on copy by TMA if the destination is aligned to 128 bytes; with a swizzle, to
    /// 256, 512 or 1024. Shared arrays of kernels with tensor maps are. The tile must also begin at a multiple of
    /// 16 bytes in the innermost dimension: for `f32`, `start[0]` is a multiple of 4. Elsewhere the threads of the
    /// block copy, each a part.
    ///
    /// # Safety
    ///
    /// Every thread of the block calls it with the same arguments. From a barrier of the block before the
    /// call until after [`BulkCopy::wait`], no thread accesses the destination or writes to the tensor.
    ///
    /// # Panics
    ///
    /// In kernels, where the tile does not fit into the shared memory.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn load<'a, T: TensorElement, const D: usize, M: Memory<T> + ?Sized>(
        self,
        to: &'a M,
        at: usize,
        map: &TensorMap<T, D>,
        start: [i32; D],
    ) -> BulkCopy<'b, 'a, T, M> {
        let tile = map.tile(to, at);
        let by_unit = map.by_unit(tile, start);
        if by_unit {
            if linear() == 0 {
                let bytes = (map.tile_len() * size_of::<T>()) as u32;
                let word = self.word.as_mut_ptr();
                intrinsics::tma_expect(bytes, word);
                load_tile::<D>(tile.cast(), map.descriptor.as_ptr(), start, word);
            }
        } else {
            map.for_own(start, |place, from| {
                // SAFETY: within the tile, whose elements are each of one thread, and within the
                // tensor, which the host has checked to be memory of the kernel's.
                unsafe { *tile.add(place) = if from.is_null() { T::ZERO } else { *from } };
            });
        }
        BulkCopy::new(self, to, by_unit)
    }
}

impl<T: TensorElement, const D: usize> TensorMapMut<T, D> {
    /// Starts a copy of a tile from `at` of shared memory to the coordinates `start` of its first element.
    /// Elements outside of the tensor are left out. Coordinates may be negative.
    ///
    /// TMA copies it on the conditions of [`BulkBarrier::load`], if no coordinate is negative, and if the tensor's rows are whole
    /// 16 bytes or the tile hangs over none of their ends. Elsewhere the threads of the block do.
    ///
    /// Earlier writes of the block's threads to shared memory are included.
    ///
    /// # Safety
    ///
    /// Every thread of the block calls it with the same arguments. Until after [`BulkStore::wait`], no thread
    /// writes to the source. No thread of another block accesses that part of the tensor; those of this
    /// block do so only after `wait`.
    ///
    /// # Panics
    ///
    /// In kernels, where the shared memory has fewer elements than the tile.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn store<'a, M: Memory<T> + ?Sized>(
        &self,
        from: &'a M,
        at: usize,
        start: [i32; D],
    ) -> BulkStore<'a, T, M> {
        let tile = self.tile(from, at);
        let by_unit = self.by_unit(tile, start) && self.stores_by_unit(start);
        intrinsics::tma_fence();
        thread::sync_threads();
        if by_unit {
            if linear() == 0 {
                store_tile::<D>(self.descriptor.as_ptr(), tile.cast(), start);
                intrinsics::tma_commit();
            }
        } else {
            self.for_own(start, |place, to| {
                if !to.is_null() {
                    // SAFETY: within the tile and the tensor, as for `load`.
                    unsafe { *to = *tile.add(place) };
                }
            });
        }
        BulkStore { from, by_unit, thread: PhantomData }
    }
}

impl<'a, T, M: Memory<T> + ?Sized> BulkStore<'a, T, M> {
    /// Waits with all threads of the block until the store is complete.
    #[inline(always)]
    pub fn wait(self) -> &'a M {
        if self.by_unit && linear() == 0 {
            intrinsics::tma_wait();
        }
        thread::sync_threads();
        self.from
    }
}

/// The load of a tile, by the intrinsic for `D` dimensions.
#[inline(always)]
fn load_tile<const D: usize>(to: *mut u8, map: *const u64, start: [i32; D], word: *mut u64) {
    let at = |d: usize| start[d];
    match D {
        1 => intrinsics::tma_tile_load_1(to, map, at(0), word),
        2 => intrinsics::tma_tile_load_2(to, map, at(0), at(1), word),
        3 => intrinsics::tma_tile_load_3(to, map, at(0), at(1), at(2), word),
        4 => intrinsics::tma_tile_load_4(to, map, at(0), at(1), at(2), at(3), word),
        _ => intrinsics::tma_tile_load_5(to, map, at(0), at(1), at(2), at(3), at(4), word),
    }
}

/// The store of a tile, by the intrinsic for `D` dimensions.
#[inline(always)]
fn store_tile<const D: usize>(map: *const u64, from: *const u8, start: [i32; D]) {
    let at = |d: usize| start[d];
    match D {
        1 => intrinsics::tma_tile_store_1(map, from, at(0)),
        2 => intrinsics::tma_tile_store_2(map, from, at(0), at(1)),
        3 => intrinsics::tma_tile_store_3(map, from, at(0), at(1), at(2)),
        4 => intrinsics::tma_tile_store_4(map, from, at(0), at(1), at(2), at(3)),
        _ => intrinsics::tma_tile_store_5(map, from, at(0), at(1), at(2), at(3), at(4)),
    }
}

impl<T, const D: usize> fmt::Debug for TensorMap<T, D> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "TensorMap of {:?} in tiles of {:?}", self.sizes, self.box_sizes)
    }
}

impl<T, const D: usize> fmt::Debug for TensorMapMut<T, D> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Mutable {:?}", self.0)
    }
}

impl<T, M: Memory<T> + ?Sized> fmt::Debug for BulkStore<'_, T, M> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "BulkStore from {} elements", self.from.count())
    }
}
