//! Memory of devices, and what is known about addresses.
//!
//! CUDA Driver API, "Memory Management" and "Unified Addressing".

use std::ffi::{c_int, c_uint, c_ulonglong};

use super::call::call;
use crate::base::abi::{In, Out, enumerators};
use crate::base::error::{Error, Result};
use crate::base::handle::Handle;
use crate::context;
use crate::memory::{self, Allocation, Kind};
use cudarc::driver::sys::CUresult;

/// Rows of two-dimensional memory begin at multiples of this.
const PITCH: usize = 512;

fn allocate(address: Out<u64>, bytes: usize) -> Result<()> {
    address.check()?;
    let context = context::usable()?;
    context::refuse_during_capture()?;
    if bytes == 0 {
        return Err(Error::CUDA_ERROR_INVALID_VALUE);
    }
    address.set(context.allocate(bytes, Kind::Device)?)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemAlloc_v2(address: Out<u64>, bytes: usize) -> CUresult {
    call("cuMemAlloc_v2", || allocate(address, bytes))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemAllocPitch_v2(
    address: Out<u64>,
    pitch: Out<usize>,
    width: usize,
    height: usize,
    element_bytes: c_uint,
) -> CUresult {
    call("cuMemAllocPitch_v2", || {
        if !matches!(element_bytes, 4 | 8 | 16) {
            return Err(Error::CUDA_ERROR_INVALID_VALUE);
        }
        let row = width.checked_next_multiple_of(PITCH).ok_or(Error::CUDA_ERROR_INVALID_VALUE)?;
        pitch.check()?;
        allocate(address, row.checked_mul(height).ok_or(Error::CUDA_ERROR_INVALID_VALUE)?)?;
        pitch.set(row)
    })
}

/// Waits for all streams, so that nothing uses the memory any more.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemFree_v2(address: u64) -> CUresult {
    call("cuMemFree_v2", || {
        let context = context::current()?;
        if address == 0 {
            return context.usable();
        }
        context::refuse_during_capture()?;
        context::drain_all();
        let freed = |found: &Allocation| {
            let kind = matches!(found.kind, Kind::Device | Kind::Pool(_) | Kind::Managed);
            !found.retired && (kind || found.kind == Kind::External)
        };
        memory::give_back(&memory::take(address, context.ordinal, freed)?);
        context.usable()
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemGetInfo_v2(free: Out<usize>, total: Out<usize>) -> CUresult {
    call("cuMemGetInfo_v2", || {
        let context = context::usable()?;
        let device = context.device();
        free.set(device.free_bytes() as usize)?;
        total.set(device.memory as usize)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemGetAddressRange_v2(
    start: Out<u64>,
    bytes: Out<usize>,
    address: u64,
) -> CUresult {
    call("cuMemGetAddressRange_v2", || {
        let found =
            memory::find(address, context::usable()?.ordinal).ok_or(Error::CUDA_ERROR_NOT_FOUND)?;
        start.set_if_wanted(found.address);
        bytes.set_if_wanted(found.bytes as usize);
        Ok(())
    })
}

enumerators! { c_uint: CUmemorytype
    HOST = CU_MEMORYTYPE_HOST;
    DEVICE = CU_MEMORYTYPE_DEVICE;
}

enumerators! { c_int: CUpointer_attribute
    CONTEXT = CU_POINTER_ATTRIBUTE_CONTEXT;
    MEMORY_TYPE = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
    DEVICE_POINTER = CU_POINTER_ATTRIBUTE_DEVICE_POINTER;
    HOST_POINTER = CU_POINTER_ATTRIBUTE_HOST_POINTER;
    SYNC_MEMOPS = CU_POINTER_ATTRIBUTE_SYNC_MEMOPS;
    BUFFER_ID = CU_POINTER_ATTRIBUTE_BUFFER_ID;
    IS_MANAGED = CU_POINTER_ATTRIBUTE_IS_MANAGED;
    DEVICE_ORDINAL = CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL;
    IS_LEGACY_CUDA_IPC_CAPABLE = CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE;
    RANGE_START_ADDR = CU_POINTER_ATTRIBUTE_RANGE_START_ADDR;
    RANGE_SIZE = CU_POINTER_ATTRIBUTE_RANGE_SIZE;
    MAPPED = CU_POINTER_ATTRIBUTE_MAPPED;
    ALLOWED_HANDLE_TYPES = CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES;
    IS_GPU_DIRECT_RDMA_CAPABLE = CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE;
    ACCESS_FLAGS = CU_POINTER_ATTRIBUTE_ACCESS_FLAGS;
    MEMPOOL_HANDLE = CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE;
}

enumerators! { c_uint: CUDA_POINTER_ATTRIBUTE_ACCESS_FLAGS
    READ_AND_WRITE = CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE;
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuPointerGetAttribute(
    data: Out<u8>,
    attribute: c_int,
    address: u64,
) -> CUresult {
    call("cuPointerGetAttribute", || {
        let ordinal = context::current().map_or(0, |context| context.ordinal);
        let found = memory::find(address, ordinal).ok_or(Error::CUDA_ERROR_INVALID_VALUE)?;
        describe(data, attribute, address, &found)
    })
}

/// Several attributes; of memory that is not known all are 0.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuPointerGetAttributes(
    count: c_uint,
    attributes: In<c_int>,
    data: In<Out<u8>>,
    address: u64,
) -> CUresult {
    call("cuPointerGetAttributes", || {
        let ordinal = context::current().map_or(0, |context| context.ordinal);
        let found = memory::find(address, ordinal);
        for index in 0..count as usize {
            let (attribute, data) = (attributes.element(index)?, data.element(index)?);
            match &found {
                Some(found) => describe(data, attribute, address, found)?,
                None => describe_unknown(data, attribute)?,
            }
        }
        Ok(())
    })
}

fn describe(data: Out<u8>, attribute: c_int, address: u64, found: &Allocation) -> Result<()> {
    let host = matches!(found.kind, Kind::Pinned(_) | Kind::Registered);
    match attribute {
        CONTEXT => data.cast().set(found.owner.context),
        MEMORY_TYPE => data.cast().set(if host { HOST } else { DEVICE }),
        DEVICE_POINTER => data.cast().set(address),
        HOST_POINTER if found.kind.is_of_host() => data.cast().set(address),
        HOST_POINTER => Err(Error::CUDA_ERROR_INVALID_VALUE),
        SYNC_MEMOPS => data.cast::<c_int>().set(0),
        BUFFER_ID => data.cast::<c_ulonglong>().set(found.id),
        IS_MANAGED => data.cast::<c_uint>().set((found.kind == Kind::Managed).into()),
        DEVICE_ORDINAL => data.cast().set(found.owner.ordinal as c_int),
        // Whether other processes can have it.
        IS_LEGACY_CUDA_IPC_CAPABLE | IS_GPU_DIRECT_RDMA_CAPABLE => data.cast::<c_uint>().set(0),
        RANGE_START_ADDR => data.cast().set(found.address),
        RANGE_SIZE => data.cast().set(found.bytes as usize),
        MAPPED => data.cast::<c_uint>().set(1),
        ALLOWED_HANDLE_TYPES => data.cast::<c_ulonglong>().set(0),
        ACCESS_FLAGS => data.cast::<c_uint>().set(READ_AND_WRITE),
        MEMPOOL_HANDLE => match found.kind {
            Kind::Pool(pool) => data.cast().set(pool),
            _ => data.cast().set(Handle::NULL),
        },
        _ => Err(Error::CUDA_ERROR_INVALID_VALUE),
    }
}

fn describe_unknown(data: Out<u8>, attribute: c_int) -> Result<()> {
    match attribute {
        CONTEXT | DEVICE_POINTER | HOST_POINTER | BUFFER_ID | RANGE_START_ADDR | RANGE_SIZE
        | ALLOWED_HANDLE_TYPES | MEMPOOL_HANDLE => data.cast::<u64>().set(0),
        DEVICE_ORDINAL => data.cast::<c_int>().set(-2),
        MEMORY_TYPE
        | SYNC_MEMOPS
        | IS_MANAGED
        | IS_LEGACY_CUDA_IPC_CAPABLE
        | MAPPED
        | IS_GPU_DIRECT_RDMA_CAPABLE
        | ACCESS_FLAGS => data.cast::<c_uint>().set(0),
        _ => Err(Error::CUDA_ERROR_INVALID_VALUE),
    }
}
