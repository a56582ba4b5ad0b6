//! Support for the entry points that `#[kernel]` generates. No public interface.

use crate::{
    index::IndexSpace,
    slice::DisjointSlice,
    thread::{block_idx, thread_idx},
};
use core::convert::Infallible;

/// Passes its argument on in the build for devices, and drops it in every other.
#[cfg(kernelmill)]
#[macro_export]
#[doc(hidden)]
macro_rules! __entry {
    ($($token:tt)*) => { $($token)* };
}

/// Passes its argument on in the build for devices, and drops it in every other.
#[cfg(not(kernelmill))]
#[macro_export]
#[doc(hidden)]
macro_rules! __entry {
    ($($token:tt)*) => {};
}

/// Lets the optimiser assume that the axes after the first `DIMENSIONS` have one thread, so that
/// [`crate::thread::index_1d`] costs nothing for them.
///
/// # Safety
///
/// The launch has one thread along these axes.
#[inline(always)]
pub unsafe fn launched_over<const DIMENSIONS: u32>() {
    if DIMENSIONS < 2 && (block_idx().y != 0 || thread_idx().y != 0) {
        // SAFETY: by the condition of this function.
        unsafe { unreachable() }
    }
    if DIMENSIONS < 3 && (block_idx().z != 0 || thread_idx().z != 0) {
        // SAFETY: by the condition of this function.
        unsafe { unreachable() }
    }
}

/// [`core::hint::unreachable_unchecked`] without the message of its debug check, which would link
/// formatting into every kernel.
///
/// # Safety
///
/// It is never reached.
#[inline(always)]
unsafe fn unreachable() -> ! {
    let nothing = core::ptr::dangling::<Infallible>();
    // SAFETY: by the condition of this function.
    match unsafe { *nothing } {}
}

/// The slice of `length` elements at `data`.
///
/// # Safety
///
/// As for [`core::slice::from_raw_parts`], of which this is the part without checks.
#[inline(always)]
#[must_use]
pub unsafe fn slice<'a, T>(data: *const T, length: usize) -> &'a [T] {
    // SAFETY: by the condition of this function.
    unsafe { &*core::ptr::slice_from_raw_parts(data, length) }
}

/// The slice with the width that `#[kernel(width = w)]` gives, where its index has rows: which one it is
/// known by its type, under whatever name it is written.
///
/// # Safety
///
/// Every thread of the launch gives the same `width`.
#[inline(always)]
#[must_use]
pub unsafe fn with_rows<T, I: IndexSpace>(
    slice: DisjointSlice<'_, T, I>,
    width: usize,
) -> DisjointSlice<'_, T, I> {
    // SAFETY: by the condition of this function.
    unsafe { slice.with_rows(width) }
}
