//! What kernels compute, against plain Rust.

pub(crate) mod choices;
pub(crate) mod maps;
pub(crate) mod memory;
pub(crate) mod pages;
pub(crate) mod photo;
pub(crate) mod reductions;
pub(crate) mod values;
pub(crate) mod work;

use crate::kernels::Kernels;
use kernelmill::{Device, Stream};

/// A device with the kernels.
pub(crate) struct On<'a> {
    pub(crate) device: &'a Device,
    pub(crate) kernels: &'a Kernels,
    pub(crate) stream: Stream,
}

/// Numbers without an order.
pub(crate) fn numbers(count: u32) -> impl Iterator<Item = u32> {
    (0..count).map(|i| i.wrapping_mul(2_654_435_761).rotate_left(11) >> 7)
}

/// As many groups of `size` invocations as cover `count`.
pub(crate) fn groups(count: usize, size: u32) -> u32 {
    (count as u32).div_ceil(size)
}
