//! What kernels compute, against plain Rust.

pub(crate) mod blocks;
pub(crate) mod maps;
pub(crate) mod small_floats;
pub(crate) mod wavefronts;

use crate::kernels::Kernels;
use kernelmill::{Device, Stream};

/// A device with the kernels.
pub(crate) struct On<'a> {
    pub(crate) device: &'a Device,
    pub(crate) kernels: &'a Kernels,
    pub(crate) stream: Stream,
}

/// Whole numbers below 100, in no order.
pub(crate) fn numbers(count: u32) -> Vec<u32> {
    (0..count).map(|i| (i.wrapping_mul(2_654_435_761).rotate_left(11) >> 7) % 100).collect()
}

/// The same with a sign.
pub(crate) fn integers(count: u32) -> Vec<i32> {
    numbers(count).into_iter().map(|number| number as i32).collect()
}

/// The same as numbers with a fraction.
pub(crate) fn floats(count: u32) -> Vec<f32> {
    numbers(count).into_iter().map(|number| number as f32).collect()
}
