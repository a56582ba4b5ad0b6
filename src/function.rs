//! Device functions as values: what the host gives to kernels that call functions by reference.

use std::{
    fmt,
    hash::{Hash, Hasher},
    marker::PhantomData,
};

use crate::copy::DeviceCopy;

/// A device function, for a kernel that takes a `DeviceFn<F>`: by value, in a struct, or in a buffer
/// of many. The generated `Kernels::functions()` has those of a package, each with its type.
///
/// It is 8 bytes that name the function by its package, name and type, the same on every device: one
/// table serves all devices of a program. A kernel of another package that cannot call it refuses it,
/// at the launch where it is passed by value, by a panic of the kernel where it is in a buffer.
///
/// What is all zero is no function.
///
/// Functions of C++ are unsafe: they have types like `DeviceFn<unsafe fn(f32) -> f32>`, which kernels in C++
/// take, and kernels in Rust that say so. A safe function becomes one of such a type by [`Into`]; an unsafe
/// one never becomes safe:
///
/// ```
/// # fn with(square: kernelmill::DeviceFn<fn(f32) -> f32>) {
/// let square: kernelmill::DeviceFn<unsafe fn(f32) -> f32> = square.into();
/// # }
/// ```
///
/// ```compile_fail
/// # fn with(tint: kernelmill::DeviceFn<unsafe fn(f32) -> f32>) {
/// let tint: kernelmill::DeviceFn<fn(f32) -> f32> = tint.into();
/// # }
/// ```
///
/// A function of another type does not compile:
///
/// ```compile_fail
/// # fn with(square: kernelmill::DeviceFn<fn(f32) -> f32>) {
/// let square: kernelmill::DeviceFn<fn(f64) -> f64> = square;
/// # }
/// ```
///
/// ```
/// # mod kernels {
/// #     #[derive(Clone, Copy)]
/// #     pub struct Functions { pub square: kernelmill::DeviceFn<fn(f32) -> f32> }
/// #     pub struct Kernels;
/// #     impl Kernels {
/// #         pub fn functions() -> Functions {
/// #             Functions { square: kernelmill::__codegen::device_fn(1) }
/// #         }
/// #     }
/// # }
/// use kernelmill::{Device, DeviceFn};
///
/// let square: DeviceFn<fn(f32) -> f32> = kernels::Kernels::functions().square;
/// let table = Device::cpu()?.upload(&[square, square])?;
/// assert_eq!(table.download()?[1], square);
/// # Ok::<(), kernelmill::Error>(())
/// ```
#[repr(transparent)]
pub struct DeviceFn<F> {
    id: u64,
    function: PhantomData<F>,
}

impl<F> DeviceFn<F> {
    pub(crate) const fn new(id: u64) -> Self {
        Self { id, function: PhantomData }
    }

    pub(crate) const fn id(self) -> u64 {
        self.id
    }
}

macro_rules! safe_as_unsafe {
    ($(($($ty:ident),*))*) => {$(
        /// A safe function, for kernels that take unsafe ones: functions of C++ are unsafe.
        impl<$($ty,)* R> From<DeviceFn<fn($($ty),*) -> R>> for DeviceFn<unsafe fn($($ty),*) -> R> {
            fn from(safe: DeviceFn<fn($($ty),*) -> R>) -> Self {
                Self::new(safe.id)
            }
        }
    )*};
}

safe_as_unsafe! {
    ()
    (A)
    (A, B)
    (A, B, C)
    (A, B, C, D)
    (A, B, C, D, E)
    (A, B, C, D, E, F)
    (A, B, C, D, E, F, G)
    (A, B, C, D, E, F, G, H)
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

impl<F> Hash for DeviceFn<F> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

impl<F> fmt::Debug for DeviceFn<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "DeviceFn({:#x})", self.id)
    }
}

// SAFETY: transparent over a number, on the device as on the host; zero names no function.
unsafe impl<F: Send + Sync + 'static> DeviceCopy for DeviceFn<F> {}
