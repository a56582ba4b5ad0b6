//! Elements of cudarc's slices: its traits for the types that cross to devices.
//!
//! [`DeviceCopy`](crate::DeviceCopy) asks for all that these ask for.

use crate::function::DeviceFn;
pub use cudarc::driver::{DeviceRepr, ValidAsZeroBits};

/// Implements cudarc's traits for a type that is `DeviceCopy`.
#[doc(hidden)]
#[macro_export]
macro_rules! __cuda_element {
    (unsafe $name:ty) => {
        $crate::__cuda_element!(private unsafe $name);
        // SAFETY: it is `DeviceCopy`, and zero is a value.
        unsafe impl $crate::__library_traits::ValidAsZeroBits for $name {}
    };
    (private unsafe $name:ty) => {
        // SAFETY: it is `DeviceCopy`, which asks for more.
        unsafe impl $crate::__library_traits::DeviceRepr for $name {}
    };
}

// SAFETY: a number, on the device as on the host.
unsafe impl<F> DeviceRepr for DeviceFn<F> {}
// SAFETY: zero names no function.
unsafe impl<F> ValidAsZeroBits for DeviceFn<F> {}
