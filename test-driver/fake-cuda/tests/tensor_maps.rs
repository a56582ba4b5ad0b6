//! Descriptors of tensors: what is refused. That kernels copy by them, `tests/device-library` shows.

mod support;

use cudarc::driver::{CudaContext, sys};
use support::clean_child;
use sys::CUresult;

/// A descriptor of 64 by 32 floats in tiles of 16 by 8, with one thing changed.
fn encode(change: impl FnOnce(&mut Request)) -> CUresult {
    let mut request = Request {
        address: 1 << 20,
        rank: 2,
        stride: 256,
        row: 16,
        apart: 1,
        swizzle: sys::CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_NONE,
    };
    change(&mut request);
    let mut map = sys::CUtensorMap { opaque: [0; 16] };
    let (sizes, strides) = ([64_u64, 32], [request.stride]);
    let (tile, apart) = ([request.row, 8_u32], [request.apart; 2]);
    // SAFETY: the arrays have as many elements as a tensor of two dimensions asks for; one of more is
    // refused before they are read.
    unsafe {
        sys::cuTensorMapEncodeTiled(
            &raw mut map,
            sys::CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
            request.rank,
            request.address as *mut _,
            sizes.as_ptr(),
            strides.as_ptr(),
            tile.as_ptr(),
            apart.as_ptr(),
            sys::CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
            request.swizzle,
            sys::CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_NONE,
            sys::CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        )
    }
}

struct Request {
    address: u64,
    rank: u32,
    stride: u64,
    row: u32,
    apart: u32,
    swizzle: sys::CUtensorMapSwizzle,
}

#[test]
fn tensors_that_the_driver_refuses() {
    let name = "tensors_that_the_driver_refuses";
    clean_child(name, &[("FAKE_CUDA_ARCH", "90a")], || {
        let _context = CudaContext::new(0).unwrap();
        assert_eq!(encode(|_| {}), CUresult::CUDA_SUCCESS);
        let invalid: [fn(&mut Request); 6] = [
            |it| it.address += 8,
            |it| it.rank = 0,
            |it| it.rank = 6,
            |it| it.stride = 260,
            |it| it.row = 3,
            |it| {
                it.swizzle = sys::CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_32B;
            },
        ];
        for (place, change) in invalid.into_iter().enumerate() {
            assert_eq!(encode(change), CUresult::CUDA_ERROR_INVALID_VALUE, "change {place}");
        }
        assert_eq!(encode(|it| it.apart = 2), CUresult::CUDA_ERROR_NOT_SUPPORTED);
    });
}

#[test]
fn older_processors_have_no_tensor_maps() {
    clean_child("older_processors_have_no_tensor_maps", &[("FAKE_CUDA_ARCH", "80")], || {
        let _context = CudaContext::new(0).unwrap();
        assert_eq!(encode(|_| {}), CUresult::CUDA_ERROR_NOT_SUPPORTED);
    });
}
