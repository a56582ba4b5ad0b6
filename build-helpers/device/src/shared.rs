//! Shared memory of a block.
//!
//! [`SharedArray`] has a constant length, [`DynamicSharedArray`] the size that the launch specifies. The
//! initial contents of both are unspecified.

use crate::intrinsics;
use core::{
    cell::UnsafeCell,
    fmt,
    marker::PhantomData,
    mem::MaybeUninit,
    ops::{Index, IndexMut},
};

/// Marks an initial value, for the compiler, as one of shared memory; never read.
const TAG: u64 = 0x6b6d_5f73_6861_7265;

/// `N` elements that the threads of a block share.
///
/// Declare it inside the kernel as `static mut`, the only way for threads to share it. Access is
/// `unsafe`: the kernel's author guarantees that an element is written before it is read, and that no two
/// threads access one at the same time unless both read or use atomics. [`crate::thread::sync_threads`]
/// separates accesses.
///
/// ```no_run
/// use kernelmill_device::prelude::*;
///
/// /// Reverses each block of 256 elements.
/// #[kernel]
/// pub fn reverse(x: &[f32], mut y: DisjointSlice<f32>) {
///     static mut TILE: SharedArray<f32, 256> = SharedArray::UNINIT;
///     let (i, t) = (thread::index_1d(), thread::thread_idx().x as usize);
///     // SAFETY: every thread writes its own element, all are written at the barrier.
///     unsafe { TILE[t] = x[i.get()] };
///     thread::sync_threads();
///     if let Some(y) = y.get_mut(i) {
///         // SAFETY: written before the barrier.
///         *y = unsafe { TILE[255 - t] };
///     }
/// }
/// ```
///
/// `&raw mut TILE[i]` is a pointer to an element, also for
/// [`AtomicU32::from_ptr`](core::sync::atomic::AtomicU32::from_ptr).
///
/// [`BlockArray`](crate::block_array::BlockArray) is shared memory for safe code.
///
/// A local variable would be no shared memory: a kernel that has one is refused. On the host elements cannot
/// be read or written.
///
/// It is not [`Sync`], because a plain `static` would let safe code read what no thread has
/// written:
///
/// ```compile_fail,E0277
/// use kernelmill_device::prelude::*;
/// static TILE: SharedArray<f32, 256> = SharedArray::UNINIT;
/// ```
///
/// Nor is it [`Send`], because a `static` lock of one would:
///
/// ```compile_fail,E0277
/// use kernelmill_device::prelude::*;
/// static TILE: std::sync::Mutex<SharedArray<f32, 256>> = std::sync::Mutex::new(SharedArray::UNINIT);
/// ```
#[repr(C)]
pub struct SharedArray<T, const N: usize> {
    data: UnsafeCell<MaybeUninit<[T; N]>>,
    tag: u64,
    /// Neither `Send` nor `Sync`.
    thread: PhantomData<*mut ()>,
}

impl<T, const N: usize> SharedArray<T, N> {
    /// The initial value of a `static mut`, whose elements no thread has written.
    #[expect(
        clippy::declare_interior_mutable_const,
        reason = "an initial value, of which every `static mut` is to have a copy"
    )]
    pub const UNINIT: Self =
        Self { data: UnsafeCell::new(MaybeUninit::uninit()), tag: TAG, thread: PhantomData };

    /// The number of elements.
    #[inline(always)]
    #[must_use]
    pub const fn len(&self) -> usize {
        N
    }

    /// Whether there is no element.
    #[inline(always)]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        N == 0
    }

    /// The address of the first element.
    #[inline(always)]
    #[must_use]
    pub const fn as_ptr(&self) -> *const T {
        self.data.get().cast()
    }

    /// The address of the first element. Other threads have the same; nothing is borrowed.
    #[inline(always)]
    #[must_use]
    pub const fn as_mut_ptr(&self) -> *mut T {
        self.data.get().cast()
    }
}

/// Panics on the host, where a local variable could be read before it is written.
#[inline(always)]
#[track_caller]
fn only_in_kernels() {
    #[cfg(not(kernelmill))]
    intrinsics::outside("SharedArray");
}

impl<T, const N: usize> Index<usize> for SharedArray<T, N> {
    type Output = T;

    #[inline(always)]
    #[track_caller]
    fn index(&self, index: usize) -> &T {
        only_in_kernels();
        // SAFETY: in bounds. A kernel has such arrays as `static mut` alone, which the compiler checks: whoever
        // reaches into one answers for the element being written and for threads not racing.
        unsafe { &(*self.data.get().cast::<[T; N]>())[index] }
    }
}

impl<T, const N: usize> IndexMut<usize> for SharedArray<T, N> {
    #[inline(always)]
    #[track_caller]
    fn index_mut(&mut self, index: usize) -> &mut T {
        only_in_kernels();
        // SAFETY: as for `index`.
        unsafe { &mut (*self.data.get().cast::<[T; N]>())[index] }
    }
}

impl<T, const N: usize> fmt::Debug for SharedArray<T, N> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tagged = self.tag == TAG;
        formatter.debug_struct("SharedArray").field("len", &N).field("tagged", &tagged).finish()
    }
}

/// The dynamic shared memory of the launch, as elements of `T`.
///
/// All `DynamicSharedArray`s of a block alias the same bytes; [`Self::offset`] gives the part after the
/// first elements.
///
/// ```no_run
/// use kernelmill_device::prelude::*;
///
/// #[kernel]
/// pub fn rotate(x: &[u32], mut y: DisjointSlice<u32>) {
///     // SAFETY: elements are read after the barrier, when all are written.
///     let tile = unsafe { DynamicSharedArray::<u32>::get() };
///     let (i, t) = (thread::index_1d(), thread::thread_idx().x as usize);
///     assert!(t < tile.len());
///     // SAFETY: in bounds; every thread writes its own element.
///     unsafe { tile.as_mut_ptr().add(t).write(x[i.get()]) };
///     thread::sync_threads();
///     if let Some(y) = y.get_mut(i) {
///         // SAFETY: in bounds and written before the barrier.
///         *y = unsafe { tile.as_mut_ptr().add((t + 1) % tile.len()).read() };
///     }
/// }
/// ```
pub struct DynamicSharedArray<T> {
    data: *mut T,
    length: usize,
}

impl<T> Clone for DynamicSharedArray<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for DynamicSharedArray<T> {}

impl<T> DynamicSharedArray<T> {
    /// All bytes that the launch specified. They are aligned to at least 16 bytes.
    ///
    /// On the host it panics.
    ///
    /// # Safety
    ///
    /// Whatever reads elements, such as a load of a tensor's fragment, reads those that a thread of the block has
    /// written, and no thread writes them at the same time.
    #[inline(always)]
    #[must_use]
    pub unsafe fn get() -> Self {
        const { assert!(align_of::<T>() <= 16, "dynamic shared memory is aligned to 16 bytes") };
        let length = intrinsics::dynamic_shared_bytes() as usize / size_of_at_least_one::<T>();
        Self { data: intrinsics::dynamic_shared().cast(), length }
    }

    /// The number of whole elements.
    #[inline(always)]
    #[must_use]
    pub fn len(self) -> usize {
        self.length
    }

    /// Whether there is not one element.
    #[inline(always)]
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.length == 0
    }

    /// The address of the first element.
    #[inline(always)]
    #[must_use]
    pub fn as_mut_ptr(self) -> *mut T {
        self.data
    }

    /// The elements of another type after the first `elements` of this array, from the next
    /// address where one may lie. It is empty when nothing is left.
    #[inline(always)]
    #[must_use]
    pub fn offset<U>(self, elements: usize) -> DynamicSharedArray<U> {
        const { assert!(align_of::<U>() <= 16, "dynamic shared memory is aligned to 16 bytes") };
        let end = self.length * size_of::<T>();
        let start = elements.min(self.length) * size_of::<T>();
        let address = self.data.addr() + start;
        let padding = address.wrapping_neg() % align_of::<U>();
        let skipped = (start + padding).min(end);
        let length = (end - skipped) / size_of_at_least_one::<U>();
        // SAFETY: at most the end of the same memory.
        let data = unsafe { self.data.byte_add(skipped).cast() };
        DynamicSharedArray { data, length }
    }
}

/// The size of `T`, or 1, so that one can divide by it.
const fn size_of_at_least_one<T>() -> usize {
    if size_of::<T>() == 0 { 1 } else { size_of::<T>() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tag_ends_the_initial_value() {
        let array = SharedArray::<u8, 3>::UNINIT;
        assert_eq!(size_of_val(&array), 16);
        assert_eq!(core::mem::offset_of!(SharedArray<u8, 3>, tag), 8);
        assert_eq!(array.tag.to_ne_bytes(), 0x6b6d_5f73_6861_7265_u64.to_ne_bytes());
        assert_eq!(format!("{array:?}"), "SharedArray { len: 3, tagged: true }");
    }

    #[test]
    #[should_panic(expected = "`SharedArray` works only inside a kernel")]
    fn elements_are_no_memory_of_the_host() {
        let array = SharedArray::<u32, 4>::UNINIT;
        let _ = &array[3];
    }

    #[test]
    fn an_offset_array_is_aligned_and_within() {
        let mut memory = [0_u64; 4];
        let data = memory.as_mut_ptr().cast::<u8>();
        let bytes = DynamicSharedArray { data, length: 32 };
        let words = bytes.offset::<u64>(3);
        assert_eq!(words.as_mut_ptr().addr(), data.addr() + 8);
        assert_eq!((words.len(), bytes.offset::<u64>(32).len()), (3, 0));
        assert!(words.offset::<u8>(4).is_empty());
    }
}
