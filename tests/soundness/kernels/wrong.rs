//! Kernels that read where they are told to, and say where that is.

use kernelmill_device::prelude::*;

/// Reads the element at a place that may be beyond the slice.
///
/// # Safety
///
/// The place is within the memory that `x` is a part of.
#[kernel]
pub unsafe fn read_at(place: i64, x: &[u32], mut y: DisjointSlice<u32>) {
    if let Some(out) = y.get_mut(thread::index_1d()) {
        // SAFETY: promised.
        *out = unsafe { x.as_ptr().offset(place as isize).read_volatile() };
    }
}

/// Where a slice begins.
#[kernel]
pub fn address(x: &[u32], mut y: DisjointSlice<u64>) {
    if let Some(out) = y.get_mut(thread::index_1d()) {
        *out = x.as_ptr() as u64;
    }
}
