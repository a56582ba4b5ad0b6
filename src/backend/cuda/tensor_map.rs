//! CUDA tensor maps: the driver's descriptors of tensors whose tiles TMA copies.

use std::sync::OnceLock;

use cudarc::driver::sys;
use kernelmill_artifact::TensorMapData;

use super::{
    driver::{has, named},
    driver_context::DriverContext,
};
use crate::{backend::gpu::calls::ContextCalls as _, error::Result, hal::TensorFormat};

/// The major number of the first processors that copy by them.
pub(super) const SINCE: u32 = 9;

/// Whether the driver writes them, as those since CUDA 12 do.
pub(super) fn is_known() -> bool {
    static IS_KNOWN: OnceLock<bool> = OnceLock::new();
    *IS_KNOWN.get_or_init(|| has("cuTensorMapEncodeTiled"))
}

/// The descriptor, of a driver that [knows them](is_known).
pub(super) fn encode(
    driver: &DriverContext,
    data: &TensorMapData,
    format: TensorFormat,
) -> Result<[u64; 16]> {
    let subject = || {
        let (sizes, boxes) = (&data.sizes[..format.rank], &data.box_sizes[..format.rank]);
        format!("a tensor of sizes {sizes:?} in boxes of {boxes:?}")
    };
    driver.bind()?;
    let mut map = sys::CUtensorMap { opaque: [0; 16] };
    let apart = [1_u32; 5];
    use sys::{
        CUtensorMapFloatOOBfill as Fill, CUtensorMapInterleave as Interleave,
        CUtensorMapL2promotion as Promotion,
    };
    // SAFETY: the driver has the function; it reads as many sizes as there are
    // dimensions, a stride less, and writes the map, whose type has the alignment that it asks for.
    let encoded = unsafe {
        sys::cuTensorMapEncodeTiled(
            &raw mut map,
            element(format.element_bytes),
            format.rank as u32,
            data.address as *mut _,
            data.sizes.as_ptr(),
            data.strides[1..].as_ptr(),
            data.box_sizes.as_ptr(),
            apart.as_ptr(),
            Interleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
            swizzle(data.swizzle),
            Promotion::CU_TENSOR_MAP_L2_PROMOTION_NONE,
            Fill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        )
    };
    named(encoded.result(), "cuTensorMapEncodeTiled", subject)?;
    Ok(map.opaque)
}

/// Elements are copied as they are, so only their size counts.
fn element(bytes: usize) -> sys::CUtensorMapDataType {
    use sys::CUtensorMapDataType as Type;
    match bytes {
        1 => Type::CU_TENSOR_MAP_DATA_TYPE_UINT8,
        2 => Type::CU_TENSOR_MAP_DATA_TYPE_UINT16,
        4 => Type::CU_TENSOR_MAP_DATA_TYPE_UINT32,
        _ => Type::CU_TENSOR_MAP_DATA_TYPE_UINT64,
    }
}

/// The swizzle whose bits of a row's number are these: see [`TensorMapData::swizzle`].
fn swizzle(mask: u32) -> sys::CUtensorMapSwizzle {
    use sys::CUtensorMapSwizzle as Type;
    match mask {
        0 => Type::CU_TENSOR_MAP_SWIZZLE_NONE,
        1 => Type::CU_TENSOR_MAP_SWIZZLE_32B,
        3 => Type::CU_TENSOR_MAP_SWIZZLE_64B,
        _ => Type::CU_TENSOR_MAP_SWIZZLE_128B,
    }
}
