//! A kernel package: kernels that use crates of their own.
#![no_std]

use aes::{
    Aes128,
    cipher::{BlockEncrypt as _, KeyInit as _, generic_array::GenericArray as Array},
};
use glam::{Mat3, Vec3};
use half::f16;
use kernelmill_device::prelude::*;

/// The error function by `libm`.
#[kernel]
pub fn error_function(mut y: DisjointSlice<f64>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = libm::erf(*out);
    }
}

/// The exponential function by `libm`.
#[kernel]
pub fn exponential(mut y: DisjointSlice<f64>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = libm::exp(*out);
    }
}

/// Rounds to half precision and back by `half`.
#[kernel]
pub fn through_half(mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = f16::from_f32(*out).to_f32();
    }
}

/// Rotates points about an axis by `glam`.
#[kernel]
pub fn rotate_points(angle: f32, mut points: DisjointSlice<[f32; 3]>) {
    let i = thread::index_1d();
    if let Some(point) = points.get_mut(i) {
        let axis = Vec3::new(1.0, 2.0, 2.0) / 3.0;
        let rotated = Mat3::from_axis_angle(axis, angle) * Vec3::from_array(*point);
        *point = rotated.to_array();
    }
}

/// Square roots, of which `libm` has inline assembly of the host.
#[kernel]
pub fn roots(x: &[f64], mut y: DisjointSlice<f64>, mut z: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let (Some(y), Some(z)) = (y.get_mut(i), z.get_mut(i)) {
        *y = libm::sqrt(x[i.get()]);
        *z = libm::sqrtf(x[i.get()] as f32);
    }
}

/// Fused multiply-adds, for which `libm` asks the host's processor what it has; and roundings.
#[kernel]
pub fn fused(x: &[f64], mut y: DisjointSlice<f64>, mut z: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let (Some(y), Some(z)) = (y.get_mut(i), z.get_mut(i)) {
        let x = x[i.get()];
        *y = libm::fma(x, x, libm::rint(-x * x));
        *z = libm::fmaf(x as f32, x as f32, libm::rintf(-(x as f32) * x as f32));
    }
}

/// Sums and differences of numbers of 128 bits, with the carries of the host's instructions where it has those.
#[kernel]
pub fn carried(x: &[[u64; 4]], mut y: DisjointSlice<[u64; 5]>) {
    let i = thread::index_1d();
    let Some(y) = y.get_mut(i) else { return };
    let [a, b, c, d] = x[i.get()];
    let ((carry, low), (borrow, less)) = (add(0, a, c), subtract(0, a, c));
    let ((carry, high), (borrow, more)) = (add(carry, b, d), subtract(borrow, b, d));
    *y = [low, high, less, more, u64::from(carry) << 1 | u64::from(borrow)];
}

/// A number of two words divided by one: the quotient and the remainder. The first word must be less than the divisor.
#[kernel]
pub fn divided(x: &[[u64; 3]], mut y: DisjointSlice<[u64; 2]>) {
    let i = thread::index_1d();
    let Some(y) = y.get_mut(i) else { return };
    let [high, low, divisor] = x[i.get()];
    *y = divide(high, low, divisor);
}

#[cfg(target_arch = "x86_64")]
fn add(carry: u8, a: u64, b: u64) -> (u8, u64) {
    let mut sum = 0;
    // SAFETY: every processor of this architecture has the instruction.
    #[allow(unused_unsafe)]
    let carry = unsafe { core::arch::x86_64::_addcarry_u64(carry, a, b, &mut sum) };
    (carry, sum)
}

#[cfg(target_arch = "x86_64")]
fn subtract(borrow: u8, a: u64, b: u64) -> (u8, u64) {
    let mut difference = 0;
    // SAFETY: as for `add`.
    #[allow(unused_unsafe)]
    let borrow = unsafe { core::arch::x86_64::_subborrow_u64(borrow, a, b, &mut difference) };
    (borrow, difference)
}

#[cfg(target_arch = "x86_64")]
fn divide(high: u64, low: u64, divisor: u64) -> [u64; 2] {
    let (quotient, remainder);
    // SAFETY: the quotient fits, as the first word is less than the divisor.
    unsafe {
        core::arch::asm!(
            "div {0:r}",
            in(reg) divisor,
            inout("dx") high => remainder,
            inout("ax") low => quotient,
            options(pure, nomem, nostack),
        );
    }
    [quotient, remainder]
}

#[cfg(not(target_arch = "x86_64"))]
fn add(carry: u8, a: u64, b: u64) -> (u8, u64) {
    let sum = u128::from(a) + u128::from(b) + u128::from(carry);
    ((sum >> 64) as u8, sum as u64)
}

#[cfg(not(target_arch = "x86_64"))]
fn subtract(borrow: u8, a: u64, b: u64) -> (u8, u64) {
    let (middle, one) = a.overflowing_sub(b);
    let (difference, other) = middle.overflowing_sub(u64::from(borrow));
    (u8::from(one || other), difference)
}

#[cfg(not(target_arch = "x86_64"))]
fn divide(high: u64, low: u64, divisor: u64) -> [u64; 2] {
    let dividend = u128::from(high) << 64 | u128::from(low);
    [(dividend / u128::from(divisor)) as u64, (dividend % u128::from(divisor)) as u64]
}

/// Blocks of 16 bytes by the crate `aes`, which has code for the host's processor, and chooses it when it runs.
#[kernel]
pub fn encrypted(key: [u8; 16], mut blocks: DisjointSlice<[u8; 16]>) {
    let i = thread::index_1d();
    let Some(block) = blocks.get_mut(i) else { return };
    let mut encrypted = Array::from(*block);
    Aes128::new(&Array::from(key)).encrypt_block(&mut encrypted);
    *block = encrypted.into();
}
