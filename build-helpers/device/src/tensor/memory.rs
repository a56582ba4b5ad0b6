//! Where fragments are loaded from.

use crate::shared::{DynamicSharedArray, SharedArray};

/// Elements that fragments are loaded from: a slice, or memory that the block shares.
///
/// Whoever loads from shared memory answers for the elements being written, and for no thread writing
/// them meanwhile, as whoever reads them one by one does.
pub trait Memory<T>: sealed::Memory<T> {}

impl<T, M: sealed::Memory<T> + ?Sized> Memory<T> for M {}

pub(super) mod sealed {
    /// What only this crate implements.
    pub trait Memory<T> {
        /// Whether the threads of a block share it.
        const IS_SHARED: bool;
        /// The address of the first element.
        fn start(&self) -> *const T;
        /// The number of elements.
        fn count(&self) -> usize;
    }
}

impl<T> sealed::Memory<T> for [T] {
    const IS_SHARED: bool = false;

    #[inline(always)]
    fn start(&self) -> *const T {
        self.as_ptr()
    }

    #[inline(always)]
    fn count(&self) -> usize {
        self.len()
    }
}

impl<T, const N: usize> sealed::Memory<T> for SharedArray<T, N> {
    const IS_SHARED: bool = true;

    #[inline(always)]
    fn start(&self) -> *const T {
        self.as_ptr()
    }

    #[inline(always)]
    fn count(&self) -> usize {
        N
    }
}

impl<T> sealed::Memory<T> for DynamicSharedArray<T> {
    const IS_SHARED: bool = true;

    #[inline(always)]
    fn start(&self) -> *const T {
        self.as_mut_ptr()
    }

    #[inline(always)]
    fn count(&self) -> usize {
        self.len()
    }
}

/// An element of memory; panics past the end as a slice does.
#[inline(always)]
#[track_caller]
pub(super) fn element<T: Copy, M: Memory<T> + ?Sized>(memory: &M, index: usize) -> T {
    // SAFETY: the slice is only indexed, which reads the one element that must have been written,
    // which for shared memory is the word of whoever loads from it.
    unsafe { (&*core::ptr::slice_from_raw_parts(memory.start(), memory.count()))[index] }
}
