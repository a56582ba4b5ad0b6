//! Device functions that the host passes to kernels: function pointers, called through a function
//! table.

use core::{fmt, marker::PhantomData};

/// A function as a type, with these parameters as a tuple: what a generic kernel takes by a type parameter. Calls of it are
/// direct, and inlined.
///
/// Each function marked [`#[device_fn]`](crate::device_fn) has a type of its own name that implements it. Other types may
/// implement it too: functions with type parameters, and combinations of functions.
///
/// ```
/// use kernelmill_device::prelude::*;
///
/// #[device_fn]
/// pub fn square(x: f32) -> f32 {
///     x * x
/// }
///
/// /// One function after another.
/// pub struct Then<F, G>(F, G);
/// impl<T, F: Function<(T,)>, G: Function<(F::Output,)>> Function<(T,)> for Then<F, G> {
///     type Output = G::Output;
///     fn call(arguments: (T,)) -> G::Output {
///         G::call((F::call(arguments),))
///     }
/// }
/// type FourthPower = Then<square, square>;
///
/// #[kernel(instances = ["f32, square", "f32, FourthPower"])]
/// pub fn map<T: Copy, F: Function<(T,), Output = T>>(mut values: DisjointSlice<T>) {
///     if let Some(value) = values.get_mut(thread::index_1d()) {
///         *value = F::call((*value,));
///     }
/// }
///
/// assert_eq!(FourthPower::call((3.0,)), 81.0);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a function of `{Arguments}`",
    note = "a function marked `#[device_fn]` with these parameters is one, under its own name"
)]
pub trait Function<Arguments> {
    /// Its result.
    type Output;

    /// Its value for these arguments.
    fn call(arguments: Arguments) -> Self::Output;
}

/// A function that the host chose, among those marked [`#[device_fn]`](crate::device_fn) of the
/// kernel's package and of the packages it depends on.
///
/// A kernel takes it by value, in a struct, or in a slice as a table. It is a number of 8 bytes that
/// identifies the function, the same on every device. A call dispatches among the functions of that
/// type; each is called directly, and inlined where that is worth it. A call of a number that identifies
/// no function, such as 0, panics.
///
/// Functions of C++, `KERNELMILL_DEVICE_FN`, have a type of unsafe functions: a kernel takes them as
/// `DeviceFn<unsafe fn(f32) -> f32>`, and calls them in an `unsafe` block. A safe function is one of such
/// a type too, by [`Into`]. Without the block, or as a safe one, it is refused:
///
/// ```compile_fail,E0133
/// # use kernelmill_device::prelude::*;
/// fn call(f: DeviceFn<unsafe fn(f32) -> f32>) -> f32 {
///     f.call(1.0)
/// }
/// ```
///
/// ```compile_fail,E0277
/// # use kernelmill_device::prelude::*;
/// fn safe(f: DeviceFn<unsafe fn(f32) -> f32>) -> DeviceFn<fn(f32) -> f32> {
///     f.into()
/// }
/// ```
///
/// A kernel that takes a safe one:
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
    /// The function with this number. The compiler infers its type from the call of the result.
    safe fn __kernelmill_function(id: u64) -> *const ();
    /// Whether there is such a function of this type.
    safe fn __kernelmill_is_function(function: *const ()) -> bool;
}

macro_rules! call {
    ($(($($parameter:ident: $ty:ident),*))*) => {$(
        impl<$($ty,)* R> DeviceFn<fn($($ty),*) -> R> {
            /// Calls the function.
            ///
            /// # Panics
            ///
            /// If it is no function of the kernel's package or of one that it depends on.
            #[inline(always)]
            #[track_caller]
            #[allow(clippy::too_many_arguments, reason = "as many as the function has")]
            pub fn call(self $(, $parameter: $ty)*) -> R {
                // SAFETY: it is a safe function: the host gives a kernel no other for this type.
                unsafe { DeviceFn::<unsafe fn($($ty),*) -> R>::from(self).call($($parameter),*) }
            }
        }

        impl<$($ty,)* R> From<DeviceFn<fn($($ty),*) -> R>> for DeviceFn<unsafe fn($($ty),*) -> R> {
            #[inline(always)]
            fn from(safe: DeviceFn<fn($($ty),*) -> R>) -> Self {
                Self { id: safe.id, function: PhantomData }
            }
        }

        impl<$($ty,)* R> DeviceFn<unsafe fn($($ty),*) -> R> {
            /// Calls the function, which may be one of C++.
            ///
            /// # Safety
            ///
            /// What the function asks of its callers holds.
            ///
            /// # Panics
            ///
            /// If it is no function of the kernel's package or of one that it depends on.
            #[inline(always)]
            #[track_caller]
            #[allow(clippy::too_many_arguments, reason = "as many as the function has")]
            pub unsafe fn call(self $(, $parameter: $ty)*) -> R {
                #[cfg(not(kernelmill))]
                {
                    let _ = ($($parameter,)*);
                    panic!("a `DeviceFn` can be called only inside a kernel that a device runs")
                }
                #[cfg(kernelmill)]
                {
                    let function = __kernelmill_function(self.id);
                    if !__kernelmill_is_function(function) {
                        panic!("a `DeviceFn` was called that is not a device function of these kernels");
                    }
                    // SAFETY: the compiler finds functions of the type that is called here.
                    let function: unsafe fn($($ty),*) -> R = unsafe { core::mem::transmute(function) };
                    // SAFETY: the caller's word.
                    unsafe { function($($parameter),*) }
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
