//! Memory that fragments are loaded from: slices and shared arrays.

use crate::{
    block_array::{AnyBitPattern, BlockView},
    shared::{DynamicSharedArray, SharedArray},
};

/// Elements that fragments are loaded from: a slice, or shared memory.
///
/// Of a `SharedArray` and a `DynamicSharedArray` the caller guarantees that the elements have been written, and
/// that no thread writes them at the same time: a kernel has them by `unsafe` code alone.
pub trait Memory<T>: sealed::Memory<T> {}

impl<T, M: sealed::Memory<T> + ?Sized> Memory<T> for M {}

pub(super) mod sealed {
    /// What only this crate implements.
    pub trait Memory<T> {
        /// Whether it is shared memory.
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

impl<T: AnyBitPattern, const N: usize> sealed::Memory<T> for BlockView<'_, T, N> {
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

/// How many rows of how many elements are used, the first from `start` on, and `stride` elements from
/// one to the next.
#[derive(Clone, Copy)]
pub(super) struct Rows {
    pub(super) start: usize,
    pub(super) stride: usize,
    pub(super) count: usize,
    pub(super) length: usize,
}

impl Rows {
    /// The index of the last element, or the greatest number where there is none so great.
    #[inline(always)]
    pub(super) fn last(self) -> usize {
        let before = (self.count - 1).saturating_mul(self.stride);
        self.start.saturating_add(before).saturating_add(self.length - 1)
    }

    /// Panics as a slice of `length` elements does where the last one is past its end; one test for
    /// all elements, which all lanes fail together.
    #[inline(always)]
    #[track_caller]
    pub(super) fn check(self, length: usize) {
        let units: *const [()] = core::ptr::slice_from_raw_parts(core::ptr::dangling(), length);
        // SAFETY: nothing is as long as it wants.
        let units = unsafe { &*units };
        let () = units[self.last()];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: Rows = Rows { start: 10, stride: 20, count: 3, length: 5 };

    #[test]
    fn the_last_element_is_within() {
        assert_eq!(ROWS.last(), 54);
        ROWS.check(55);
        assert_eq!(Rows { stride: usize::MAX, ..ROWS }.last(), usize::MAX);
    }

    #[test]
    #[should_panic(expected = "index out of bounds: the len is 54 but the index is 54")]
    fn past_the_end_it_panics() {
        ROWS.check(54);
    }
}
