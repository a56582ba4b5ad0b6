//! Functions that the host gives to kernels.

use core::{fmt, marker::PhantomData};

/// A function that the host chose, among those marked [`#[device_fn]`](crate::device_fn) of the
/// kernel's package and of the packages it depends on.
///
/// A kernel takes it by value, in a struct, or in a slice of many: a table. It is 8 bytes that name
/// the function, the same on every device, and a call chooses among the functions of that type: it
/// is a direct call of each, which is inlined where that pays. A call of what names none, such as
/// zeros, panics.
///
/// ```
/// use kernelmill_device::prelude::*;
///
/// #[device_fn]
/// pub fn square(x: f32) -> f32 {
///     x * x
/// }
///
/// #[kernel]
/// pub fn apply(f: DeviceFn<fn(f32) -> f32>, mut values: DisjointSlice<f32>) {
///     if let Some(value) = values.get_mut(thread::index_1d()) {
///         *value = f.call(*value);
///     }
/// }
/// ```
#[repr(transparent)]
pub struct DeviceFn<F> {
    id: u64,
    function: PhantomData<F>,
}

impl<F> Clone for DeviceFn<F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F> Copy for DeviceFn<F> {}

impl<F> PartialEq for DeviceFn<F> {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl<F> Eq for DeviceFn<F> {}

impl<F> fmt::Debug for DeviceFn<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "DeviceFn({:#x})", self.id)
    }
}

#[cfg(kernelmill)]
unsafe extern "C" {
    /// The function of a name; the compiler knows its type by the call of what this gives.
    safe fn __kernelmill_function(id: u64) -> *const ();
    /// Whether there is one of this type.
    safe fn __kernelmill_is_function(function: *const ()) -> bool;
}

macro_rules! call {
    ($(($($parameter:ident: $ty:ident),*))*) => {$(
        impl<$($ty,)* R> DeviceFn<fn($($ty),*) -> R> {
            /// Calls the function.
            ///
            /// # Panics
            ///
            /// Where it is no function of the kernel's package and of those it depends on.
            #[inline(always)]
            #[track_caller]
            #[allow(clippy::too_many_arguments, reason = "as many as the function has")]
            pub fn call(self $(, $parameter: $ty)*) -> R {
                #[cfg(not(kernelmill))]
                {
                    let _ = ($($parameter,)*);
                    panic!("a `DeviceFn` can be called only inside a kernel that a device runs")
                }
                #[cfg(kernelmill)]
                {
                    let function = __kernelmill_function(self.id);
                    if !__kernelmill_is_function(function) {
                        panic!("a `DeviceFn` was called that is no function of these kernels");
                    }
                    // SAFETY: the compiler finds functions of the type that is called here.
                    let function: fn($($ty),*) -> R = unsafe { core::mem::transmute(function) };
                    function($($parameter),*)
                }
            }
        }
    )*};
}

call! {
    ()
    (a: A)
    (a: A, b: B)
    (a: A, b: B, c: C)
    (a: A, b: B, c: C, d: D)
    (a: A, b: B, c: C, d: D, e: E)
    (a: A, b: B, c: C, d: D, e: E, f: F)
    (a: A, b: B, c: C, d: D, e: E, f: F, g: G)
    (a: A, b: B, c: C, d: D, e: E, f: F, g: G, h: H)
}
