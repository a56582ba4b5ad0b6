//! Tensor maps: descriptors of tensors of which kernels copy tiles (TMA).

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

use ptx_emulator::TensorMap;

use super::call::call;
use crate::base::abi::{In, Out};
use crate::base::error::{Error, Result};
use crate::context;
use cudarc::driver::sys::CUresult;

/// `CUtensorMap`: what it holds is the emulator's, which checks it when it is used.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Descriptor([u64; 16]);

/// Processors from this major number on copy by them.
const SINCE: u32 = 9;

/// Of the modes only those of tensors as they lie are there: no interleaving, every element, and zeros
/// outside.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuTensorMapEncodeTiled(
    descriptor: Out<Descriptor>,
    element: c_int,
    rank: c_uint,
    address: *const c_void,
    sizes: In<c_ulonglong>,
    strides: In<c_ulonglong>,
    box_sizes: In<c_uint>,
    element_strides: In<c_uint>,
    interleave: c_int,
    swizzle: c_int,
    promotion: c_int,
    fill: c_int,
) -> CUresult {
    call("cuTensorMapEncodeTiled", || {
        descriptor.check()?;
        let context = context::usable()?;
        if context.device().profile.major < SINCE {
            return Err(Error::CUDA_ERROR_NOT_SUPPORTED);
        }
        let rank = usize::try_from(rank).ok().filter(|rank| (1..=5).contains(rank));
        let rank = rank.ok_or(Error::CUDA_ERROR_INVALID_VALUE)?;
        if !descriptor.address().is_multiple_of(align_of::<Descriptor>())
            || !(0..=3).contains(&promotion)
        {
            return Err(Error::CUDA_ERROR_INVALID_VALUE);
        }
        if interleave != 0 || fill != 0 || element_strides.elements(rank)?.iter().any(|it| *it != 1)
        {
            return Err(Error::CUDA_ERROR_NOT_SUPPORTED);
        }
        let map = TensorMap {
            address: address as u64,
            element_bytes: element_bytes(element)?,
            sizes: sizes.elements(rank)?,
            strides: strides.elements(rank - 1)?,
            box_sizes: box_sizes.elements(rank)?,
            swizzle: match swizzle {
                0 => 0,
                1 => 32,
                2 => 64,
                3 => 128,
                4..=6 => return Err(Error::CUDA_ERROR_NOT_SUPPORTED),
                _ => return Err(Error::CUDA_ERROR_INVALID_VALUE),
            },
        };
        descriptor.set(Descriptor(map.encode().map_err(|_| Error::CUDA_ERROR_INVALID_VALUE)?))
    })
}

/// The size of a `CUtensorMapDataType`.
fn element_bytes(element: c_int) -> Result<u32> {
    match element {
        0 => Ok(1),
        1 | 6 | 9 => Ok(2),
        2 | 3 | 7 | 10..=12 => Ok(4),
        4 | 5 | 8 => Ok(8),
        13..=15 => Err(Error::CUDA_ERROR_NOT_SUPPORTED),
        _ => Err(Error::CUDA_ERROR_INVALID_VALUE),
    }
}
