//! Tensor maps: the argument of a kernel for a parameter `&TensorMap<T, D>`, written by the host and
//! read by every device.

use core::mem::{align_of, size_of};

/// The most dimensions of a tensor map.
pub const MAX_TENSOR_RANK: usize = 5;

/// A tensor in device memory with the size of its tiles: the argument for a parameter of type
/// `&TensorMap<T, D>` or `&TensorMapMut<T, D>` of `kernelmill_device::tensor`.
///
/// Code for NVIDIA's sm_90 and later copies tiles with the [Tensor Memory Accelerator][tma], which
/// reads the driver's opaque descriptor. Code for every other target computes addresses from the
/// sizes and strides. A tensor map has both, so that it fits whatever binary of a kernel is launched.
/// The innermost dimension is first.
///
/// [tma]: https://docs.nvidia.com/cuda/cuda-c-programming-guide/#tensor-memory-access
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
    /// Elements of a tile in each dimension, the driver's `boxDim`; 0 past the last one.
    pub box_sizes: [u32; MAX_TENSOR_RANK],
    /// The swizzle of a tile in shared memory: the bits of the row's index that are XORed into the
    /// index of a 16-byte unit within the row. 0, 1, 3 or 7.
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
