//! Element types and shapes of matrix products.

use crate::intrinsics;

/// Half precision, IEEE's binary16. Its bits are in a `u16`.
#[derive(Clone, Copy, Debug)]
pub enum F16 {}

/// The upper half of an `f32`, with 8 bits of precision. Its bits are in a `u16`.
#[derive(Clone, Copy, Debug)]
pub enum Bf16 {}

/// An `f32` with 11 bits of precision. Fragments are made of `f32`s, which are rounded to the nearest
/// one, ties away from zero.
#[derive(Clone, Copy, Debug)]
pub enum Tf32 {}

/// An element type of matrices: [`F16`], [`Bf16`], [`Tf32`], `i8` or `f64`. Only this crate implements it.
pub trait Element: sealed::Sealed + 'static {
    /// An element in memory.
    type Storage: Copy;
    /// An element of a product: `f32`, but `i32` for `i8` and `f64` for `f64`.
    type Sum: Copy;
    /// Elements that follow each other along K.
    #[doc(hidden)]
    type Register: Copy;
    /// Its number, for the intrinsic that gives the target's layout.
    #[doc(hidden)]
    const KIND: u32;
    /// How many of them a register holds.
    #[doc(hidden)]
    const PER_REGISTER: usize;
    /// A register of zeros.
    #[doc(hidden)]
    const NOTHING: Self::Register;
    /// The sum of no products.
    #[doc(hidden)]
    const ZERO: Self::Sum;
    /// A register of its first elements.
    #[doc(hidden)]
    fn pack(elements: [Self::Storage; 4]) -> Self::Register;
    /// A register as it is loaded, of bits in memory.
    #[doc(hidden)]
    fn loaded(bits: u32) -> Self::Register;
    /// `sum` and the products of the elements of two registers.
    #[doc(hidden)]
    fn dot(a: Self::Register, b: Self::Register, sum: Self::Sum) -> Self::Sum;
    /// Multiplies by the target's instruction.
    #[doc(hidden)]
    fn multiply(
        sums: &mut [Self::Sum; SUMS],
        a: &[Self::Register; REGISTERS],
        b: &[Self::Register; REGISTERS],
    );
}

/// The shape of a product: `M` by `K` times `K` by `N`.
pub trait Shape: sealed::Sealed {
    /// Rows of the first matrix and of the product.
    const M: usize;
    /// Columns of the second matrix and of the product.
    const N: usize;
    /// Columns of the first matrix, rows of the second.
    const K: usize;
}

/// A shape in which a warp multiplies matrices of `E`.
pub trait Product<E: Element>: Shape {}

macro_rules! shapes {
    ($($(#[$doc:meta])* $name:ident = $m:literal, $n:literal, $k:literal: $($element:ty),*;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub enum $name {}

            impl sealed::Sealed for $name {}

            impl Shape for $name {
                const M: usize = $m;
                const N: usize = $n;
                const K: usize = $k;
            }

            $(impl Product<$element> for $name {})*
        )*
    };
}

shapes! {
    /// 16 by 16 times 16 by 8, of [`F16`] or [`Bf16`].
    M16N8K16 = 16, 8, 16: F16, Bf16;
    /// 16 by 8 times 8 by 8, of [`Tf32`].
    M16N8K8 = 16, 8, 8: Tf32;
    /// 16 by 32 times 32 by 8, of `i8`.
    M16N8K32 = 16, 8, 32: i8;
    /// 8 by 4 times 4 by 8, of `f64`.
    M8N8K4 = 8, 8, 4: f64;
}

/// The most registers that a fragment of A or B has on any target.
pub(super) const REGISTERS: usize = 16;

/// The most elements of an accumulator that a thread has.
pub(super) const SUMS: usize = 4;

mod sealed {
    /// What only this crate implements.
    pub trait Sealed: Copy {}
}

/// Elements of which a register of 32 bits holds several, or one.
macro_rules! elements {
    ($($name:ty = $kind:literal, $stored:ty, $total:ty, $zero:literal, $each:literal, $instruction:ident,
       $bits:expr, $dot:expr;)*) => {
        $(
            impl sealed::Sealed for $name {}

            impl Element for $name {
                type Storage = $stored;
                type Sum = $total;
                const KIND: u32 = $kind;
                const PER_REGISTER: usize = $each;
                type Register = u32;
                const NOTHING: u32 = 0;
                const ZERO: $total = $zero;

                #[inline(always)]
                fn pack(elements: [$stored; 4]) -> u32 {
                    let bits: fn($stored) -> u32 = $bits;
                    let mut register = bits(elements[0]);
                    if $each > 1 {
                        register |= bits(elements[1]) << (32 / $each % 32);
                    }
                    if $each > 2 {
                        register |= bits(elements[2]) << 16 | bits(elements[3]) << 24;
                    }
                    register
                }

                #[inline(always)]
                fn loaded(bits: u32) -> u32 {
                    if $each == 1 { round_to_tf32(bits) } else { bits }
                }

                #[inline(always)]
                fn dot(a: u32, b: u32, sum: $total) -> $total {
                    let dot: fn(u32, u32, $total) -> $total = $dot;
                    dot(a, b, sum)
                }

                #[inline(always)]
                fn multiply(sums: &mut [$total; SUMS], a: &[u32; REGISTERS], b: &[u32; REGISTERS]) {
                    intrinsics::$instruction(sums.as_mut_ptr(), a.as_ptr(), b.as_ptr());
                }
            }
        )*
    };
}

elements! {
    F16 = 0, u16, f32, 0.0, 2, mma_f16, u32::from, |a, b, sum| {
        let product = |sum, a, b| intrinsics::f32::fmuladd(half(a), half(b), sum);
        product(product(sum, a as u16, b as u16), (a >> 16) as u16, (b >> 16) as u16)
    };
    Bf16 = 1, u16, f32, 0.0, 2, mma_bf16, u32::from, |a, b, sum| {
        let product = |sum, a, b| intrinsics::f32::fmuladd(f32::from_bits(a), f32::from_bits(b), sum);
        product(product(sum, a << 16, b << 16), a & 0xffff_0000, b & 0xffff_0000)
    };
    Tf32 = 2, f32, f32, 0.0, 1, mma_tf32, |value| round_to_tf32(value.to_bits()), |a, b, sum| {
        intrinsics::f32::fmuladd(f32::from_bits(a), f32::from_bits(b), sum)
    };
    i8 = 3, i8, i32, 0, 4, mma_i8, |value| u32::from(value.cast_unsigned()), |a, b, sum| {
        let product = |shift: u32| (a >> shift) as i8 as i32 * ((b >> shift) as i8 as i32);
        sum.wrapping_add(product(0) + product(8) + product(16) + product(24))
    };
}

impl sealed::Sealed for f64 {}

impl Element for f64 {
    type Storage = f64;
    type Sum = f64;
    const KIND: u32 = 4;
    const PER_REGISTER: usize = 1;
    type Register = f64;
    const NOTHING: f64 = 0.0;
    const ZERO: f64 = 0.0;

    #[inline(always)]
    fn pack(elements: [f64; 4]) -> f64 {
        elements[0]
    }

    #[inline(always)]
    fn loaded(bits: u32) -> f64 {
        f64::from_bits(u64::from(bits))
    }

    #[inline(always)]
    fn dot(a: f64, b: f64, sum: f64) -> f64 {
        intrinsics::f64::fmuladd(a, b, sum)
    }

    #[inline(always)]
    fn multiply(sums: &mut [f64; SUMS], a: &[f64; REGISTERS], b: &[f64; REGISTERS]) {
        intrinsics::mma_f64(sums.as_mut_ptr(), a.as_ptr(), b.as_ptr());
    }
}

#[inline(always)]
fn half(bits: u16) -> f32 {
    intrinsics::f16_to_f32(bits)
}

/// The bits of the nearest number with 11 bits of precision, ties away from zero.
#[inline(always)]
fn round_to_tf32(bits: u32) -> u32 {
    const INFINITY: u32 = 0x7f80_0000;
    const QUIET: u32 = 0x0040_0000;
    let is_nan = bits & 0x7fff_ffff > INFINITY;
    // To an infinity nothing is added that stays.
    let rounded = if is_nan { bits | QUIET } else { bits + 0x1000 };
    rounded & !0x1fff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_lie_in_registers_from_the_lowest_bit_on() {
        assert_eq!(F16::pack([0x1234, 0x5678, 0, 0]), 0x5678_1234);
        assert_eq!(i8::pack([1, -2, 3, -4]), 0xfc03_fe01);
        assert_eq!(Tf32::pack([1.0; 4]), 0x3f80_0000);
    }

    #[test]
    fn tf32_is_rounded_to_the_nearest() {
        for (bits, rounded) in [
            (0x3f80_0fff, 0x3f80_0000),
            (0x3f80_1000, 0x3f80_2000),
            (0xbf80_3000, 0xbf80_4000),
            (0x7f7f_ffff, 0x7f80_0000),
            (0x7f80_0000, 0x7f80_0000),
        ] {
            assert_eq!(round_to_tf32(bits), rounded, "{bits:x}");
        }
        assert!(f32::from_bits(round_to_tf32(0x7f80_0001)).is_nan());
    }

    #[test]
    fn halves_are_what_ieee_says() {
        for (bits, value) in [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x0001, 2f32.powi(-24)),
            (0x7bff, 65504.0),
            (0x7c00, f32::INFINITY),
        ] {
            assert_eq!(half(bits), value, "{bits:x}");
        }
        assert!(half(0x7c01).is_nan());
    }

    #[test]
    fn registers_are_multiplied_element_by_element() {
        let halves = |low: u32, high: u32| high << 16 | low;
        assert_eq!(F16::dot(halves(0x3c00, 0x4000), halves(0x4200, 0xc000), 0.5), -0.5);
        assert_eq!(Bf16::dot(halves(0x3f80, 0x4000), halves(0x4040, 0xc000), 0.5), -0.5);
        assert_eq!(i8::dot(0xfc03_fe01, 0x0201_80ff, 7), 7 - 1 + 256 + 3 - 8);
        assert_eq!(
            i8::dot(0x7f7f_7f7f, 0x7f7f_7f7f, i32::MAX),
            i32::MAX.wrapping_add(4 * 127 * 127)
        );
        assert_eq!(<f64 as Element>::dot(3.0, 0.5, 1.0), 2.5);
    }
}
