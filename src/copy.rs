//! The types that cross between host and device.

/// A type whose values can be copied between host and device, byte for byte.
///
/// Implemented for the scalars, for arrays, and by the generated bindings for the `#[repr(C)]`
/// structs in kernel signatures. Not for tuples: their layout is not defined in Rust.
///
/// # Safety
///
/// - The layout is defined (`#[repr(C)]` or `#[repr(transparent)]`), and the same on the device.
/// - Bytes that are all zero are a value.
/// - There are no references or pointers in it that only mean something on the host.
///
/// ```
/// #[derive(Clone, Copy)]
/// #[repr(C)]
/// struct Particle { position: [f32; 3], mass: f32 }
/// // SAFETY: `repr(C)`, of scalars only.
/// unsafe impl kernelmill::DeviceCopy for Particle {}
///
/// let particles = kernelmill::Device::cpu()?.zeros::<Particle>(10)?;
/// assert_eq!(particles.download()?[9].mass, 0.0);
/// # Ok::<(), kernelmill::Error>(())
/// ```
pub unsafe trait DeviceCopy: Copy + Send + Sync + 'static {}

macro_rules! scalars {
    ($($scalar:ty)*) => {$(
        // SAFETY: a scalar, zero is a value of it, and devices have it in the same layout.
        unsafe impl DeviceCopy for $scalar {}
    )*};
}

scalars!(bool char i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64);
#[cfg(feature = "half")]
scalars!(half::f16 half::bf16);
#[cfg(not(feature = "half"))]
scalars!(crate::__codegen::half::f16 crate::__codegen::half::bf16);

// SAFETY: an array is its elements one after the other, and nothing else.
unsafe impl<T: DeviceCopy, const N: usize> DeviceCopy for [T; N] {}
