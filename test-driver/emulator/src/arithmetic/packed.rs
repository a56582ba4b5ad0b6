//! The same operation on each part of a register: `f16x2`, `u16x2`, `f32x2`.

use super::flags::Flags;

/// Applies `operation` to both 16-bit halves.
#[inline(always)]
pub(crate) fn halves_1(a: u64, operation: impl Fn(u64) -> u64) -> u64 {
    operation(a & 0xffff) | operation(a >> 16 & 0xffff) << 16
}

/// Applies `operation` to both pairs of 16-bit halves.
#[inline(always)]
pub(crate) fn halves_2(a: u64, b: u64, operation: impl Fn(u64, u64) -> u64) -> u64 {
    operation(a & 0xffff, b & 0xffff) | operation(a >> 16 & 0xffff, b >> 16 & 0xffff) << 16
}

/// Applies `operation` to both triples of 16-bit halves.
#[inline(always)]
pub(crate) fn halves_3(a: u64, b: u64, c: u64, operation: impl Fn(u64, u64, u64) -> u64) -> u64 {
    let low = operation(a & 0xffff, b & 0xffff, c & 0xffff);
    low | operation(a >> 16 & 0xffff, b >> 16 & 0xffff, c >> 16 & 0xffff) << 16
}

/// Applies `operation` to both pairs of 32-bit halves.
pub(crate) fn words_2(
    a: u64,
    b: u64,
    flags: Flags,
    operation: impl Fn(u64, u64, Flags) -> u64,
) -> u64 {
    let low = 0xffff_ffff;
    operation(a & low, b & low, flags) | operation(a >> 32, b >> 32, flags) << 32
}

/// Applies `operation` to both triples of 32-bit halves.
pub(crate) fn words_3(
    a: u64,
    b: u64,
    c: u64,
    flags: Flags,
    operation: impl Fn(u64, u64, u64, Flags) -> u64,
) -> u64 {
    let low = 0xffff_ffff;
    operation(a & low, b & low, c & low, flags) | operation(a >> 32, b >> 32, c >> 32, flags) << 32
}
