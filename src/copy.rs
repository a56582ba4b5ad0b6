//! Device-copyable types: those whose values cross between host and device.
//!
//! Needed by every buffer and every argument; nothing of this crate is needed here.

#[cfg(feature = "half")]
pub use half;

/// A type whose values can be copied between host and device, byte for byte.
///
/// Implemented for the scalars, for arrays, and by the generated bindings for the `#[repr(C)]`
/// structs in kernel signatures. Not for tuples: their layout is not defined in Rust.
///
/// # Safety
///
/// - The layout is defined (`#[repr(C)]` or `#[repr(transparent)]`), and the same on the device.
/// - Bytes that are all zero are a value, unless [`ZERO_IS_VALUE`](Self::ZERO_IS_VALUE) is false.
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
pub unsafe trait DeviceCopy: Copy + Send + Sync + 'static {
    /// Whether bytes that are all zero are a value: not for a struct with private fields in the kernels, of
    /// which only its own code says what the values are, and not for an enum without a variant that is 0. Where it is
    /// false, [`Device::zeros`](crate::Device::zeros) does not compile.
    const ZERO_IS_VALUE: bool = true;
}

/// In place of the crate `half`, so that what is missing is the only error: see
/// [`__needs_half`](crate::__needs_half).
#[cfg(not(feature = "half"))]
#[expect(non_camel_case_types, reason = "named as in the crate `half`")]
pub mod half {
    /// Half precision.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    #[repr(transparent)]
    pub struct f16(u16);

    /// Brain floating point.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    #[repr(transparent)]
    pub struct bf16(u16);
}

macro_rules! scalars {
    ($($scalar:ty)*) => {$(
        // SAFETY: a scalar, zero is a value of it, and devices have it in the same layout.
        unsafe impl DeviceCopy for $scalar {}
    )*};
}

scalars!(bool char i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64);
scalars!(half::f16 half::bf16);

// SAFETY: an array is its elements one after the other, and nothing else.
unsafe impl<T: DeviceCopy, const N: usize> DeviceCopy for [T; N] {
    const ZERO_IS_VALUE: bool = T::ZERO_IS_VALUE;
}

/// A type of which all bytes are initialised, and of which every pattern of bits is a value: numbers, and arrays of them.
/// Elements of such a type can be taken for those of another: [`BufferSlice::cast`](crate::BufferSlice::cast).
///
/// # Safety
///
/// There is no padding, and no pattern that is no value: no `bool`, `char`, enum or reference in it.
///
/// ```
/// #[derive(Clone, Copy)]
/// #[repr(C)]
/// struct Rgba { channels: [u8; 4] }
/// kernelmill::device_copy!(unsafe Rgba);
/// // SAFETY: four bytes, whatever they are.
/// unsafe impl kernelmill::Pod for Rgba {}
///
/// let device = kernelmill::Device::cpu()?;
/// let words = device.upload(&[0xff00_0080_u32])?;
/// let pixels = words.slice(..).cast::<Rgba>()?;
/// assert_eq!(pixels.download()?[0].channels, [0x80, 0, 0, 0xff]);
/// # Ok::<(), kernelmill::Error>(())
/// ```
pub unsafe trait Pod: DeviceCopy {}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        // SAFETY: a number, whatever its bits.
        unsafe impl Pod for $number {}
    )*};
}

numbers!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64);
numbers!(half::f16 half::bf16);

// SAFETY: an array is its elements one after the other, and nothing else.
unsafe impl<T: Pod, const N: usize> Pod for [T; N] {}

/// Implements [`DeviceCopy`] for types of yours and, with the feature `cuda`, cudarc's
/// `DeviceRepr` and `ValidAsZeroBits`, so that `CudaSlice` can hold them.
///
/// What [`DeviceCopy`] asks for is for you to uphold: `#[repr(C)]`, fields that cross to devices
/// themselves, and all bytes zero a value; the word `unsafe` says that you do.
///
/// ```
/// #[derive(Clone, Copy)]
/// #[repr(C)]
/// struct Particle { position: [f32; 3], mass: f32 }
/// // `repr(C)`, of scalars only:
/// kernelmill::device_copy!(unsafe Particle);
/// assert_eq!(kernelmill::Device::cpu()?.zeros::<Particle>(10)?.len(), 10);
/// # Ok::<(), kernelmill::Error>(())
/// ```
///
/// With `nonzero`, for types of which all bytes zero are no value:
///
/// ```
/// #[derive(Clone, Copy)]
/// #[repr(u32)]
/// enum Axis { X = 1, Y = 2 }
/// // An integer, without a variant that is 0:
/// kernelmill::device_copy!(unsafe nonzero Axis);
/// kernelmill::Device::cpu()?.upload(&[Axis::X, Axis::Y])?;
/// # Ok::<(), kernelmill::Error>(())
/// ```
///
/// ```compile_fail,E0080
/// #[derive(Clone, Copy)]
/// #[repr(u32)]
/// enum Axis { X = 1, Y = 2 }
/// kernelmill::device_copy!(unsafe nonzero Axis);
/// kernelmill::Device::cpu()?.zeros::<[Axis; 2]>(3)?;
/// # Ok::<(), kernelmill::Error>(())
/// ```
#[macro_export]
macro_rules! device_copy {
    (unsafe nonzero $($name:ty),+ $(,)?) => {$(
        // SAFETY: whoever calls the macro upholds what the trait asks for.
        unsafe impl $crate::DeviceCopy for $name {
            const ZERO_IS_VALUE: bool = false;
        }
        $crate::__library_traits!(private unsafe $name);
    )+};
    (unsafe $($name:ty),+ $(,)?) => {$(
        // SAFETY: whoever calls the macro upholds what the trait asks for.
        unsafe impl $crate::DeviceCopy for $name {}
        $crate::__library_traits!(unsafe $name);
    )+};
}
