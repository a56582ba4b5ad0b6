//! Every function of `Float`, chosen by a number: its place in `FUNCTIONS` of `src/functions.rs`.

use kernelmill_device::prelude::*;

fn unary<F: Float>(which: u32, x: F) -> F {
    match which {
        0 => Float::sqrt(x),
        1 => x.rsqrt(),
        2 => Float::recip(x),
        3 => Float::cbrt(x),
        4 => Float::sin(x),
        5 => Float::cos(x),
        6 => x.sin_cos().0,
        7 => x.sin_cos().1,
        8 => Float::tan(x),
        9 => Float::asin(x),
        10 => Float::acos(x),
        11 => Float::atan(x),
        12 => Float::sinh(x),
        13 => Float::cosh(x),
        14 => Float::tanh(x),
        15 => Float::exp(x),
        16 => Float::exp2(x),
        17 => Float::exp_m1(x),
        18 => Float::ln(x),
        19 => Float::log2(x),
        20 => Float::log10(x),
        _ => Float::ln_1p(x),
    }
}

fn binary<F: Float>(which: u32, x: F, y: F) -> F {
    match which {
        22 => x.hypot(y),
        23 => x.atan2(y),
        24 => x.powf(y),
        _ => x.mul_add(y, x),
    }
}

/// Functions of one `f32`.
#[kernel]
pub fn unary_f32(which: u32, x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = unary(which, x[i.get()]);
    }
}

/// Functions of one `f64`.
#[kernel]
pub fn unary_f64(which: u32, x: &[f64], mut y: DisjointSlice<f64>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = unary(which, x[i.get()]);
    }
}

/// Functions of two `f32`.
#[kernel]
pub fn binary_f32(which: u32, x: &[f32], y: &[f32], mut z: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = z.get_mut(i) {
        *out = binary(which, x[i.get()], y[i.get()]);
    }
}

/// Functions of two `f64`.
#[kernel]
pub fn binary_f64(which: u32, x: &[f64], y: &[f64], mut z: DisjointSlice<f64>) {
    let i = thread::index_1d();
    if let Some(out) = z.get_mut(i) {
        *out = binary(which, x[i.get()], y[i.get()]);
    }
}
