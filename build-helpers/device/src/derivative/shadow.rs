//! Types of shadows: what a derivative may write tangents and gradients into.

use core::marker::PhantomData;

/// Types of values that a derivative may make of any bits of their numbers: what a shadow in [`autodiff!`](crate::autodiff) consists of.
///
/// A derivative writes tangents or gradients into floating-point numbers, and zero into all others, whatever the
/// type's own code lets its values be. Implemented for numbers, `bool`, `char`, arrays and tuples; [`shadow!`](crate::shadow)
/// implements it for structs.
///
/// # Safety
///
/// No code relies on what the fields hold: a derivative may give each of them any number, and all of them zero. Pointers
/// are used by derivatives that are `unsafe fn` alone, whose callers answer for them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be part of a shadow: it is not a number, nor an array or struct of numbers",
    label = "for a struct write `kernelmill_device::shadow!` with all of its fields where they are visible"
)]
pub unsafe trait Shadow: Copy {}

macro_rules! plain {
    ($($number:ty)*) => {$(
        // SAFETY: any bits of a number are one, and zero is a value of each.
        unsafe impl Shadow for $number {}
    )*};
}

plain! { f32 f64 bool char i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize }

// SAFETY: it has no bytes.
unsafe impl<T> Shadow for PhantomData<T> {}

// SAFETY: its elements can be shadows.
unsafe impl<T: Shadow, const N: usize> Shadow for [T; N] {}

macro_rules! tuples {
    ($(($($part:ident)*))*) => {$(
        // SAFETY: its fields can be shadows, and everybody sees them.
        unsafe impl<$($part: Shadow),*> Shadow for ($($part,)*) {}
    )*};
}

tuples! { () (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) }

/// Implements [`Shadow`] for a struct that is `Copy`, of which all fields are named, so that none of them is private
/// there; each of them can be part of a shadow.
///
/// ```
/// use kernelmill_device::{autodiff, shadow};
///
/// #[derive(Clone, Copy)]
/// #[repr(C)]
/// pub struct Line {
///     pub slope: f32,
///     pub offset: f32,
/// }
///
/// shadow!(Line { slope, offset });
///
/// fn loss(line: &Line, x: f32, y: f32) -> f32 {
///     let difference = line.slope * x + line.offset - y;
///     difference * difference
/// }
///
/// autodiff! {
///     pub fn loss_gradient(line: &Line, gradient: &mut Line, x: f32, y: f32, seed: f32)
///         = reverse loss(duplicated, constant, constant);
/// }
/// ```
///
/// Code that cannot see a field cannot say that any value of it is fine:
///
/// ```compile_fail,E0451
/// mod table {
///     #[derive(Clone, Copy, Default)]
///     pub struct Place { pub weight: f32, index: usize }
/// }
/// kernelmill_device::shadow!(table::Place { weight, index });
/// ```
#[macro_export]
macro_rules! shadow {
    ($name:path { $($field:tt),* $(,)? }) => {
        // SAFETY: code that sees all fields says that any number is fine in each; their types are checked below.
        unsafe impl $crate::Shadow for $name {}
        const _: fn($name) = |value| {
            let $name { $($field: _),* } = value;
            $($crate::__shadow::field(value.$field);)*
        };
    };
}

/// Checks the type of a field of a struct. No public interface.
#[doc(hidden)]
pub fn field<T: Shadow>(_field: T) {}
