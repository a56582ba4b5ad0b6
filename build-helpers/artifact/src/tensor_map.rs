//! What a kernel is passed for a `&TensorMap<T, D>`: what the host writes and every device reads.

use core::mem::{align_of, size_of};

/// The most dimensions of a tensor that boxes are copied of.
pub const MAX_TENSOR_RANK: usize = 5;

/// A tensor in a device's memory, and the box of it that kernels copy at a time: what crosses for a
/// parameter of type `&TensorMap<T, D>` or `&TensorMapMut<T, D>` of `kernelmill_device::tensor`.
///
/// NVIDIA's processors from sm_90 on copy by the driver's descriptor, which nobody else can read;
/// every other target, and a binary for an older one on such a processor, by the numbers beside it.
/// So both are there, whatever binary of a kernel is launched. The innermost dimension is first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(128))]
pub struct TensorMapData {
    /// `CUtensorMap`, as `cuTensorMapEncodeTiled` has written it.
    pub descriptor: [u64; 16],
    /// The address of the first element.
    pub address: u64,
    /// Elements in each dimension; 0 past the last one.
    pub sizes: [u64; MAX_TENSOR_RANK],
    /// Bytes from an element to the next one in each dimension; 0 past the last one.
    pub strides: [u64; MAX_TENSOR_RANK],
    /// Elements of the box in each dimension; 0 past the last one.
    pub box_sizes: [u32; MAX_TENSOR_RANK],
    /// Which bits of a row's number are put over those of a unit of 16 bytes in shared memory: 0, 1, 3
    /// or 7.
    pub swizzle: u32,
    /// Whether there is a descriptor: 0 or 1.
    pub is_encoded: u32,
}

impl TensorMapData {
    /// No tensor.
    pub const NOTHING: Self = Self {
        descriptor: [0; 16],
        address: 0,
        sizes: [0; MAX_TENSOR_RANK],
        strides: [0; MAX_TENSOR_RANK],
        box_sizes: [0; MAX_TENSOR_RANK],
        swizzle: 0,
        is_encoded: 0,
    };

    /// Size in bytes, on every device.
    pub const BYTES: u64 = size_of::<Self>() as u64;

    /// Alignment in bytes: `CUtensorMap` has 64, and 128 since CUDA 13.
    pub const ALIGN: u64 = align_of::<Self>() as u64;
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::mem::offset_of;

    #[test]
    fn the_layout_is_the_one_that_kernels_read() {
        assert_eq!((TensorMapData::BYTES, TensorMapData::ALIGN), (256, 128));
        assert_eq!(offset_of!(TensorMapData, address), 128);
        assert_eq!(offset_of!(TensorMapData, box_sizes), 216);
        assert_eq!(offset_of!(TensorMapData, is_encoded), 240);
    }
}
