//! Bulk copies from global to shared memory (`cp.async.bulk`), and their barrier (`mbarrier`).

use core::{fmt, marker::PhantomData};

use super::memory::Memory;
use crate::{intrinsics, shared::SharedArray, thread};

/// A barrier in shared memory on which the threads of a block wait for a copy: an `mbarrier` on NVIDIA's
/// processors from sm_90 on. Elsewhere it is [`thread::sync_threads`].
///
/// All threads of the block have one, and use it together.
///
/// ```no_run
/// use kernelmill_device::{prelude::*, tensor::BulkBarrier};
///
/// /// Reverses each block of 256 elements.
/// #[kernel]
/// pub fn reverse(x: &[f32], mut y: DisjointSlice<f32>) {
///     static mut TILE: SharedArray<f32, 256> = SharedArray::UNINIT;
///     static mut WORD: SharedArray<u64, 1> = SharedArray::UNINIT;
///     let (i, t) = (thread::index_1d(), thread::thread_idx().x as usize);
///     // SAFETY: only the copy writes the tile, and `WORD` is the barrier's.
///     let (tile, word) = unsafe { (&*&raw const TILE, &*&raw const WORD) };
///     // SAFETY: all threads come here, and `x` is a parameter.
///     let copy = unsafe {
///         BulkBarrier::new(word).copy(tile, 0, x, 256 * thread::block_idx().x as usize, 256)
///     };
///     let (_, tile) = copy.wait();
///     if let Some(y) = y.get_mut(i) {
///         *y = tile[255 - t];
///     }
/// }
/// ```
pub struct BulkBarrier<'b> {
    pub(super) word: &'b SharedArray<u64, 1>,
    /// The phase of the next copy, or of the one in flight: 0 or 1.
    phase: u32,
    /// Neither `Send` nor `Sync`: each thread has its own.
    thread: PhantomData<*mut ()>,
}

/// A copy in flight, with its destination and its barrier, which are returned once it is complete.
#[must_use = "a copy is complete only after `wait`"]
pub struct BulkCopy<'b, 'a, T, M: Memory<T> + ?Sized> {
    barrier: BulkBarrier<'b>,
    to: &'a M,
    by_unit: bool,
    element: PhantomData<T>,
}

/// The unit of addresses and sizes, in bytes.
const UNIT: usize = 16;

/// The most bytes of a copy that its barrier can count.
const MOST: usize = (1 << 20) - 1;

impl<'b> BulkBarrier<'b> {
    /// A barrier without a copy in flight.
    ///
    /// # Safety
    ///
    /// Every thread of the block calls it with the same word, and nothing else uses the word.
    #[inline(always)]
    #[must_use]
    pub unsafe fn new(word: &'b SharedArray<u64, 1>) -> Self {
        if has_unit() {
            if linear() == 0 {
                intrinsics::tma_init(word.as_mut_ptr());
            }
            thread::sync_threads();
        }
        Self { word, phase: 0, thread: PhantomData }
    }

    /// Starts a copy of `count` elements, from `index` of a slice to `at` of shared memory. If both addresses
    /// and the size are multiples of 16 bytes, processors from sm_90 on copy asynchronously; otherwise the
    /// threads of the block copy, each a part.
    ///
    /// # Safety
    ///
    /// Every thread of the block calls it with the same arguments. `from` is memory that the host passed to
    /// the kernel. From a barrier of the block before the call until after [`BulkCopy::wait`], no thread
    /// accesses the destination or writes to the source.
    ///
    /// # Panics
    ///
    /// In kernels, where either part has no `count` elements.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn copy<'a, T: Copy, M: Memory<T> + ?Sized>(
        self,
        to: &'a M,
        at: usize,
        from: &[T],
        index: usize,
        count: usize,
    ) -> BulkCopy<'b, 'a, T, M> {
        const { assert!(M::IS_SHARED, "copies must be to shared memory") };
        let from = from[index..][..count].as_ptr();
        assert!(
            at <= to.count() && count <= to.count() - at,
            "the copy goes past the end of the shared memory"
        );
        let (target, bytes) = (to.start().wrapping_add(at).cast_mut(), count * size_of::<T>());
        let is_aligned = (from.addr() | target.addr() | bytes).is_multiple_of(UNIT);
        let by_unit = has_unit() && is_aligned && bytes <= MOST;
        if by_unit {
            if linear() == 0 {
                intrinsics::tma_copy(
                    target.cast(),
                    from.cast(),
                    bytes as u32,
                    self.word.as_mut_ptr(),
                );
            }
        } else {
            let threads = threads();
            let mut i = linear();
            while i < count {
                // SAFETY: within both parts, which no other thread uses, but for the elements that are
                // its own.
                unsafe { *target.add(i) = *from.add(i) };
                i += threads;
            }
        }
        BulkCopy::new(self, to, by_unit)
    }
}

impl<'b, 'a, T, M: Memory<T> + ?Sized> BulkCopy<'b, 'a, T, M> {
    #[inline(always)]
    pub(super) fn new(barrier: BulkBarrier<'b>, to: &'a M, by_unit: bool) -> Self {
        Self { barrier, to, by_unit, element: PhantomData }
    }

    /// Waits with all threads of the block until the copy is complete and visible to all of them.
    #[inline(always)]
    pub fn wait(self) -> (BulkBarrier<'b>, &'a M) {
        let Self { mut barrier, to, by_unit, .. } = self;
        if by_unit {
            while intrinsics::tma_try_wait(barrier.word.as_mut_ptr(), barrier.phase) == 0 {}
            barrier.phase ^= 1;
        } else {
            thread::sync_threads();
        }
        (barrier, to)
    }
}

/// Whether the target has `cp.async.bulk`.
#[inline(always)]
pub(super) fn has_unit() -> bool {
    intrinsics::tma_available() != 0
}

/// The threads of a block.
#[inline(always)]
pub(super) fn threads() -> usize {
    let size = thread::block_dim();
    size.x as usize * size.y as usize * size.z as usize
}

/// The linear index of the thread in its block.
#[inline(always)]
pub(super) fn linear() -> usize {
    let (index, size) = (thread::thread_idx(), thread::block_dim());
    (index.z as usize * size.y as usize + index.y as usize) * size.x as usize + index.x as usize
}

impl fmt::Debug for BulkBarrier<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("BulkBarrier").field("phase", &self.phase).finish_non_exhaustive()
    }
}

impl<T, M: Memory<T> + ?Sized> fmt::Debug for BulkCopy<'_, '_, T, M> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "BulkCopy to {} elements", self.to.count())
    }
}
