//! Stack arrays: memory of one thread, as OpenCL's `__private` arrays and CUDA's local memory.
//!
//! A [`StackArray`] is a local variable. Its slot lies once in the entry block of the function that has it, in the
//! address space that the target keeps stack slots in, also where the variable is declared in a loop. When the kernel
//! is optimised, LLVM's [SROA](https://llvm.org/docs/Passes.html#sroa-scalar-replacement-of-aggregates) makes registers
//! of it where every index is known.

use crate::block_array::AnyBitPattern;
use core::{
    fmt,
    ops::{Deref, DerefMut},
    ptr,
};

/// `N` elements in memory of one thread, of plain data.
///
/// It is a `[T; N]` for whoever reads and writes it. What it adds is a contract that is checked when it is compiled:
/// elements are [plain data](AnyBitPattern), which nothing drops, so that the address of the slot can be given to code
/// of another language; and it is neither [`Copy`] nor [`Clone`], so that a slot is not copied unseen. A variable that
/// is moved has a slot of its own at each place until the kernel is optimised.
///
/// ```no_run
/// use kernelmill_device::prelude::*;
///
/// /// Counts the digits of the numbers of each thread.
/// #[kernel]
/// pub fn count_digits(x: &[u32], mut y: DisjointSlice<[u32; 10]>) {
///     let i = thread::index_1d();
///     let mut counts = StackArray::<u32, 10>::ZEROED;
///     let mut rest = if let Some(x) = x.get(i.get()) { *x } else { 0 };
///     while rest > 0 {
///         counts[(rest % 10) as usize] += 1;
///         rest /= 10;
///     }
///     if let Some(y) = y.get_mut(i) {
///         *y = *counts;
///     }
/// }
/// ```
///
/// Elements that are no plain data do not compile:
///
/// ```compile_fail,E0277
/// use kernelmill_device::prelude::*;
///
/// let array = StackArray::<&str, 2>::ZEROED;
/// ```
#[repr(transparent)]
pub struct StackArray<T: AnyBitPattern, const N: usize> {
    data: [T; N],
}

impl<T: AnyBitPattern, const N: usize> StackArray<T, N> {
    /// An array whose elements are zero. The zeros are not written where the optimiser sees that every element is
    /// written before it is read.
    // SAFETY: zero is a value of the elements, as every pattern of bytes is.
    pub const ZEROED: Self = unsafe { core::mem::zeroed() };

    /// The address of the first element; null where the array has no bytes, and so no slot.
    #[inline(always)]
    #[must_use]
    pub const fn as_ptr(&self) -> *const T {
        if size_of::<Self>() == 0 { ptr::null() } else { self.data.as_ptr() }
    }

    /// The address of the first element; null where the array has no bytes, and so no slot.
    #[inline(always)]
    #[must_use]
    pub const fn as_mut_ptr(&mut self) -> *mut T {
        if size_of::<Self>() == 0 { ptr::null_mut() } else { self.data.as_mut_ptr() }
    }
}

impl<T: AnyBitPattern, const N: usize> Deref for StackArray<T, N> {
    type Target = [T; N];

    #[inline(always)]
    fn deref(&self) -> &[T; N] {
        &self.data
    }
}

impl<T: AnyBitPattern, const N: usize> DerefMut for StackArray<T, N> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T; N] {
        &mut self.data
    }
}

impl<T: AnyBitPattern + fmt::Debug, const N: usize> fmt::Debug for StackArray<T, N> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("StackArray").field(&self.data).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Acceptance: S0.13.
    #[test]
    fn an_array_on_the_host_is_memory_too_and_one_without_bytes_has_no_address() {
        let mut array = StackArray::<f32, 8>::ZEROED;
        assert_eq!((size_of_val(&array), align_of_val(&array)), (32, 4));
        // SAFETY: in bounds, and nothing else uses the array.
        unsafe { array.as_mut_ptr().add(3).write(2.0) };
        array[4] = 1.0;
        assert_eq!(*array, [0.0, 0.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.0]);
        assert_eq!(array.as_ptr(), &raw const array[0]);
        let mut empty = StackArray::<f64, 0>::ZEROED;
        assert!(empty.as_ptr().is_null() && empty.as_mut_ptr().is_null() && empty.is_empty());
        assert!(StackArray::<[u8; 0], 4>::ZEROED.as_ptr().is_null());
        assert_eq!(format!("{:?}", StackArray::<u8, 2>::ZEROED), "StackArray([0, 0])");
    }
}
