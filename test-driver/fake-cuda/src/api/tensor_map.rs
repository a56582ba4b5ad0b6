//! Tensor maps: descriptors of tensors of which kernels copy tiles (TMA).
//!
//! CUDA Driver API, "Tensor Map Object Management".

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

use ptx_emulator::TensorMap;

use super::call::call;
use crate::base::abi::{In, Out, enumerators};
use crate::base::error::{Error, Result};
use crate::context;
use cudarc::driver::sys::{CUresult, CUtensorMap};

enumerators! { c_int: CUtensorMapDataType
    UINT8 = CU_TENSOR_MAP_DATA_TYPE_UINT8;
    UINT16 = CU_TENSOR_MAP_DATA_TYPE_UINT16;
    UINT32 = CU_TENSOR_MAP_DATA_TYPE_UINT32;
    INT32 = CU_TENSOR_MAP_DATA_TYPE_INT32;
    UINT64 = CU_TENSOR_MAP_DATA_TYPE_UINT64;
    INT64 = CU_TENSOR_MAP_DATA_TYPE_INT64;
    FLOAT16 = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    FLOAT32 = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    FLOAT64 = CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
    BFLOAT16 = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    FLOAT32_FTZ = CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ;
    TFLOAT32 = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
    TFLOAT32_FTZ = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
    U4_ALIGN8 = CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B;
    U6_ALIGN16 = CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B;
}

enumerators! { c_int: CUtensorMapSwizzle
    SWIZZLE_NONE = CU_TENSOR_MAP_SWIZZLE_NONE;
    SWIZZLE_32B = CU_TENSOR_MAP_SWIZZLE_32B;
    SWIZZLE_64B = CU_TENSOR_MAP_SWIZZLE_64B;
    SWIZZLE_128B = CU_TENSOR_MAP_SWIZZLE_128B;
    SWIZZLE_ATOM_32B = CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B;
    SWIZZLE_ATOM_64B = CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B;
}

enumerators! { c_int: CUtensorMapInterleave
    INTERLEAVE_NONE = CU_TENSOR_MAP_INTERLEAVE_NONE;
}

enumerators! { c_int: CUtensorMapL2promotion
    PROMOTION_NONE = CU_TENSOR_MAP_L2_PROMOTION_NONE;
    PROMOTION_LAST = CU_TENSOR_MAP_L2_PROMOTION_L2_256B;
}

enumerators! { c_int: CUtensorMapFloatOOBfill
    FILL_ZEROS = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
}

/// Processors from this major number on copy by them.
const SINCE: u32 = 9;

/// Of the modes only those of tensors as they lie are there: no interleaving, every element, and zeros
/// outside.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuTensorMapEncodeTiled(
    descriptor: Out<CUtensorMap>,
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
        if !descriptor.address().is_multiple_of(align_of::<CUtensorMap>())
            || !(PROMOTION_NONE..=PROMOTION_LAST).contains(&promotion)
        {
            return Err(Error::CUDA_ERROR_INVALID_VALUE);
        }
        if interleave != INTERLEAVE_NONE
            || fill != FILL_ZEROS
            || element_strides.elements(rank)?.iter().any(|it| *it != 1)
        {
            return Err(Error::CUDA_ERROR_NOT_SUPPORTED);
        }
        let map = TensorMap {
            address: address as u64,
            element_bytes: element_bytes(element)?,
            sizes: sizes.elements(rank)?,
            strides: strides.elements(rank - 1)?,
            box_sizes: box_sizes.elements(rank)?,
            swizzle: swizzle_bytes(swizzle)?,
        };
        // What it holds is the emulator's, which checks it when it is used.
        let opaque = map.encode().map_err(|_| Error::CUDA_ERROR_INVALID_VALUE)?;
        descriptor.set(CUtensorMap { opaque })
    })
}

/// Bytes of the rows in which a `CUtensorMapSwizzle` exchanges units.
fn swizzle_bytes(swizzle: c_int) -> Result<u32> {
    match swizzle {
        SWIZZLE_NONE => Ok(0),
        SWIZZLE_32B => Ok(32),
        SWIZZLE_64B => Ok(64),
        SWIZZLE_128B => Ok(128),
        SWIZZLE_ATOM_32B..=SWIZZLE_ATOM_64B => Err(Error::CUDA_ERROR_NOT_SUPPORTED),
        _ => Err(Error::CUDA_ERROR_INVALID_VALUE),
    }
}

/// The size of a `CUtensorMapDataType`.
fn element_bytes(element: c_int) -> Result<u32> {
    match element {
        UINT8 => Ok(1),
        UINT16 | FLOAT16 | BFLOAT16 => Ok(2),
        UINT32 | INT32 | FLOAT32 | FLOAT32_FTZ | TFLOAT32 | TFLOAT32_FTZ => Ok(4),
        UINT64 | INT64 | FLOAT64 => Ok(8),
        U4_ALIGN8..=U6_ALIGN16 => Err(Error::CUDA_ERROR_NOT_SUPPORTED),
        _ => Err(Error::CUDA_ERROR_INVALID_VALUE),
    }
}
