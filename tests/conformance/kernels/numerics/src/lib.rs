//! A kernel package: kernels that use crates of their own.
#![no_std]

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
