//! Constants whose values a program may choose when it runs.
//!
//! Needs: a type that is a number or `bool`. Guaranteed: in every binary that a build makes, the value is that of the source
//! and known to the optimiser; in bitcode that the program compiles it is what the program chooses, else that of the source.

/// Declares a constant whose value may be chosen when kernels are compiled at run time. Without that it is an ordinary
/// constant, and the optimiser knows its value.
///
/// Its type is one of `bool`, `u8` to `u64`, `i8` to `i64`, `usize`, `isize`, `f32` and `f64`. The name is that by which the
/// program gives the value, so each source has it once.
///
/// ```
/// use kernelmill_device::prelude::*;
///
/// constant! {
///     /// By how much elements are scaled.
///     pub FACTOR: f32 = 2.0;
/// }
///
/// #[kernel]
/// pub fn scale(x: &[f32], mut y: DisjointSlice<f32>) {
///     let i = thread::index_1d();
///     if let (Some(out), Some(x)) = (y.get_mut(i), x.get(i.get())) {
///         *out = FACTOR * x;
///     }
/// }
/// # assert_eq!(FACTOR, 2.0);
/// ```
///
/// ```compile_fail
/// kernelmill_device::constant! { SIZES: [u32; 2] = [1, 2]; }
/// ```
#[macro_export]
macro_rules! constant {
    ($($(#[$attribute:meta])* $vis:vis $name:ident: $ty:ident = $value:expr;)+) => {$(
        $(#[$attribute])*
        #[cfg_attr(
            kernelmill,
            unsafe(export_name = ::core::concat!(
                "__kernelmill_constant_", ::core::stringify!($ty), "_", ::core::stringify!($name)
            ))
        )]
        $vis static $name: $ty = {
            const fn number<T: $crate::__constant::ConstantNumber>(value: T) -> T {
                value
            }
            number::<::core::primitive::$ty>($value)
        };
    )+};
}

/// The types of constants, for [`constant!`].
#[doc(hidden)]
pub trait ConstantNumber: Copy {}

macro_rules! numbers {
    ($($ty:ident)*) => {$(
        impl ConstantNumber for $ty {}
    )*};
}

numbers! { bool u8 u16 u32 u64 i8 i16 i32 i64 usize isize f32 f64 }
