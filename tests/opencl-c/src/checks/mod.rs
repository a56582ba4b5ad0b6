//! What kernels compute, against plain Rust.

pub(crate) mod atomics;
pub(crate) mod maps;
pub(crate) mod maths;
pub(crate) mod reductions;
pub(crate) mod tiles;
pub(crate) mod values;

use crate::kernels::Kernels;
use kernelmill::{Buffer, Device, DeviceCopy, Result, Stream};

/// A device with the kernels.
pub(crate) struct On<'a> {
    pub(crate) device: &'a Device,
    pub(crate) kernels: &'a Kernels,
    pub(crate) stream: Stream,
}

impl On<'_> {
    /// Memory with these values.
    pub(crate) fn upload<T: DeviceCopy>(&self, values: &[T]) -> Result<Buffer<T>> {
        self.device.upload(values)
    }
}

/// Whether two lists of numbers differ by no more than a share of their size.
#[track_caller]
pub(crate) fn assert_close(found: &[f32], expected: &[f32], share: f32) {
    assert_eq!(found.len(), expected.len());
    for (place, (found, expected)) in found.iter().zip(expected).enumerate() {
        let error = (found - expected).abs();
        assert!(error <= share * expected.abs().max(1.0), "{place}: {found}, not {expected}");
    }
}

/// Numbers without an order.
pub(crate) fn numbers(count: u32) -> impl Iterator<Item = u32> {
    (0..count).map(|i| i.wrapping_mul(2_654_435_761).rotate_left(11) >> 7)
}
