//! Signatures of derivatives as types: what rustc checks of a declaration in `autodiff!`. No public
//! interface.
//!
//! A declaration becomes a function that is never called, in which each rule of a signature is a bound of
//! a trait: which types a shadow can have, what follows the parameters in reverse mode, and what the
//! derivative returns. The derivative itself then only compares the lengths of slices.

use super::shadow::Shadow;
use crate::atomic::{AtomicF32, AtomicF64};
use core::mem::MaybeUninit;

/// A number with a derivative.
#[diagnostic::on_unimplemented(message = "`{Self}` has no derivative: write `f32` or `f64`")]
pub trait Number: Copy {}

impl Number for f32 {}
impl Number for f64 {}

/// The number itself: a gradient, or a tangent.
pub fn number<T: Number>(value: T) -> T {
    value
}

/// A number beside its tangent.
pub fn tangent<T: Number>(_value: T, _tangent: T) {}

/// The result of a function that is differentiated.
#[diagnostic::on_unimplemented(
    message = "a function that returns `{Self}` has no derivative: return `f32`, `f64` or nothing"
)]
pub trait Returned {
    /// The result with its tangent.
    type WithTangent;
}

/// The result with its tangent.
pub fn with_tangent<R: Returned>(_value: R) -> R::WithTangent {
    unreachable!("declarations are checked by their types")
}

/// What follows the parameters of a derivative in reverse mode, for a function that returns `R`: the
/// gradient of its result if that is a number, and the tape.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the last parameters of this derivative",
    label = "the gradient of the result comes here if that is a number, and then `tape: &mut [u64]` if a \
             tape is needed"
)]
pub trait Last<R> {}

/// Checks the last parameters.
pub fn last<R, L: Last<R>>(_result: &R, _last: L) {}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl Returned for $number {
            type WithTangent = [$number; 2];
        }
        impl Last<$number> for ($number,) {}
        impl Last<$number> for ($number, &mut [u64]) {}
    )*};
}

macro_rules! others {
    ($($other:ty)*) => {$(
        impl Returned for $other {
            type WithTangent = $other;
        }
        impl Last<$other> for () {}
        impl Last<$other> for (&mut [u64],) {}
    )*};
}

numbers! { f32 f64 }
others! { () bool char i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize }

/// Memory that can have a shadow: values of a type that is [`Shadow`]. References are none.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot have a shadow: it is not a number, nor an array or struct of numbers",
    label = "for a struct write `kernelmill_device::shadow!` with all of its fields where they are visible"
)]
pub trait Shadowed {
    /// Does not compile where zero is no value.
    const ZERO_IS_A_VALUE: ();

    /// The number of elements.
    fn length(&self) -> usize;
}

/// Zero as a value, which rustc validates.
struct Zero<T>(T);

impl<T: Copy> Zero<T> {
    // SAFETY: where zero is no value, rustc refuses the constant.
    const VALUE: T = unsafe { MaybeUninit::zeroed().assume_init() };
}

impl<T: Shadow> Shadowed for T {
    const ZERO_IS_A_VALUE: () = {
        let _ = Zero::<T>::VALUE;
    };

    #[inline(always)]
    fn length(&self) -> usize {
        1
    }
}

impl<T: Shadow> Shadowed for [T] {
    const ZERO_IS_A_VALUE: () = T::ZERO_IS_A_VALUE;

    #[inline(always)]
    fn length(&self) -> usize {
        self.len()
    }
}

/// A shadow with tangents of what `P` leads to: written only where that is.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a shadow of `{P}`",
    label = "the shadow is of the same type, with `mut` where that has it"
)]
pub trait TangentsOf<P> {}

impl<T: Shadowed + ?Sized> TangentsOf<&T> for &T {}
impl<T: Shadowed + ?Sized> TangentsOf<&T> for &mut T {}
impl<T: Shadowed + ?Sized> TangentsOf<&mut T> for &mut T {}

/// A shadow with gradients of what `P` leads to.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a shadow of `{P}`",
    label = "gradients are added to it: the same type with `mut`"
)]
pub trait GradientsOf<P> {}

impl<T: Shadowed + ?Sized> GradientsOf<&T> for &mut T {}
impl<T: Shadowed + ?Sized> GradientsOf<&mut T> for &mut T {}

/// A shadow that all threads add gradients to.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a shadow of `{P}` that threads can share",
    label = "threads add to it: `&[AtomicF32]` for `&[f32]`, or the same type with `mut`"
)]
pub trait SharedGradientsOf<P> {}

impl<T: Shadowed + ?Sized> SharedGradientsOf<&T> for &mut T {}
impl<T: Shadowed + ?Sized> SharedGradientsOf<&mut T> for &mut T {}
impl SharedGradientsOf<&[f32]> for &[AtomicF32] {}
impl SharedGradientsOf<&[f64]> for &[AtomicF64] {}

/// Checks a shadow with tangents.
pub fn tangents<P, S: TangentsOf<P>>(_memory: &P, _shadow: &S) {}

/// Checks a shadow with gradients.
pub fn gradients<P, S: GradientsOf<P>>(_memory: &P, _shadow: &S) {}

/// Checks a shadow with gradients that threads share.
pub fn shared_gradients<P, S: SharedGradientsOf<P>>(_memory: &P, _shadow: &S) {}

/// A reference to memory, or to its shadow.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot have a shadow, or be one",
    label = "write a reference or a slice, of numbers, or of arrays and structs of numbers; a struct needs \
             `kernelmill_device::shadow!` with all of its fields, where they are visible"
)]
pub trait Memory {
    /// Does not compile where zero is no value of the memory.
    const ZERO_IS_A_VALUE: ();

    /// The number of elements.
    fn length(&self) -> usize;
}

macro_rules! memory {
    ($($reference:ty),*) => {$(
        impl<T: Shadowed + ?Sized> Memory for $reference {
            const ZERO_IS_A_VALUE: () = T::ZERO_IS_A_VALUE;

            #[inline(always)]
            fn length(&self) -> usize {
                T::length(self)
            }
        }
    )*};
}

memory! { &T, &mut T }

macro_rules! atomics {
    ($($atomic:ty),*) => {$(
        impl Memory for &[$atomic] {
            const ZERO_IS_A_VALUE: () = ();

            #[inline(always)]
            fn length(&self) -> usize {
                self.len()
            }
        }
    )*};
}

atomics! { AtomicF32, AtomicF64 }

/// Panics where a shadow has fewer elements than the memory.
#[inline(always)]
#[track_caller]
pub fn require_length<P: Memory, S: Memory>(memory: &P, shadow: &S) {
    const { P::ZERO_IS_A_VALUE };
    if shadow.length() < memory.length() {
        panic!("a shadow has fewer elements than what it is the shadow of");
    }
}

/// A rule for a function of numbers: a safe function for each partial derivative, of the same type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot have a rule, or be one",
    label = "functions with rules and their derivatives are safe functions of numbers"
)]
pub trait Rule {}

macro_rules! rules {
    ($(($($parameter:ident)*))*) => {$(
        impl<$($parameter: Number,)* R: Number> Rule for fn($($parameter),*) -> R {}
    )*};
}

rules! { (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) (A B C D E F G) (A B C D E F G H) }

/// Checks a function with a rule and its partial derivatives.
pub fn rule<F: Rule, const COUNT: usize>(_functions: [F; COUNT]) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shadow_may_be_longer_than_its_memory() {
        require_length(&&[1.0_f32; 3][..], &&mut [0.0_f32; 3][..]);
        require_length(
            &&[1.0_f32; 3][..],
            &&[AtomicF32::default(), AtomicF32::default(), AtomicF32::default()][..],
        );
        require_length(&&mut 1.0_f32, &&mut 0.0_f32);
        require_length(&&[1.0_f32; 0][..], &&[0.0_f32; 2][..]);
    }

    #[test]
    #[should_panic(expected = "a shadow has fewer elements than what it is the shadow of")]
    fn a_shorter_shadow_is_a_panic() {
        require_length(&&[1.0_f32; 3][..], &&mut [0.0_f32; 2][..]);
    }
}
