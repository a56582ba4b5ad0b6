//! Memory that is allocated and freed in the order of a stream.
//!
//! CUDA Driver API, "Stream Ordered Memory Allocator".

use std::{ffi::c_int, sync::Arc};

use super::call::call;
use crate::base::abi::{In, Out, field};
use crate::base::error::{Error, Result};
use crate::base::handle::{Handle, lock};
use crate::context::{self, Context};
use crate::driver::{device, driver};
use crate::memory::{
    self, Allocation, Kind,
    pool::{self, POOLS, Pool},
};
use crate::stream::Stream;
use crate::work::Work;
use cudarc::driver::sys::{
    CUmemAccess_flags, CUmemAccessDesc, CUmemLocation, CUmemLocationType, CUmemPoolProps, CUresult,
};

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemPoolCreate(
    created: Out<Handle>,
    properties: In<CUmemPoolProps>,
) -> CUresult {
    call("cuMemPoolCreate", || {
        created.check()?;
        created.set(pool::create(properties, driver()?.devices.len())?)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemPoolDestroy(pool: Handle) -> CUresult {
    call("cuMemPoolDestroy", || {
        pool::destroy(pool)?;
        for device in &driver()?.devices {
            let mut current = lock(&device.current_pool);
            if *current == pool {
                *current = device.default_pool;
            }
        }
        Ok(())
    })
}

/// Pools keep nothing that was freed.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemPoolTrimTo(pool: Handle, _bytes: usize) -> CUresult {
    call("cuMemPoolTrimTo", || POOLS.get(pool).map(drop))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemPoolGetAttribute(
    pool: Handle,
    attribute: c_int,
    value: Out<u64>,
) -> CUresult {
    call("cuMemPoolGetAttribute", || {
        let found = POOLS.get(pool)?.attribute(attribute)?;
        if Pool::is_wide(attribute) {
            value.set(found)
        } else {
            value.cast::<c_int>().set(found as c_int)
        }
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemPoolSetAttribute(
    pool: Handle,
    attribute: c_int,
    value: In<u64>,
) -> CUresult {
    call("cuMemPoolSetAttribute", || {
        let wide = Pool::is_wide(attribute);
        let value = if wide { value.get()? } else { value.cast::<u32>().get()?.into() };
        POOLS.get(pool)?.set_attribute(attribute, value)
    })
}

const DEVICE: u32 = CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE as u32;
const NO_ACCESS: u32 = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE as u32;
const READ_ONLY: u32 = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READ as u32;
const READ_AND_WRITE: u32 = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE as u32;

/// Access of another device is noted; kernels reach the memory of their own device only.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemPoolSetAccess(
    pool: Handle,
    accesses: In<CUmemAccessDesc>,
    count: usize,
) -> CUresult {
    call("cuMemPoolSetAccess", || {
        let pool = POOLS.get(pool)?;
        for access in (0..count).map(|index| accesses.place(index)) {
            let kind = field!(access, CUmemAccessDesc, location.type_ as u32)?;
            let id = field!(access, CUmemAccessDesc, location.id as c_int)?;
            let flags = field!(access, CUmemAccessDesc, flags as u32)?;
            let other = device(id).map_err(|_| Error::CUDA_ERROR_INVALID_VALUE)?;
            if kind != DEVICE || !matches!(flags, NO_ACCESS | READ_ONLY | READ_AND_WRITE) {
                return Err(Error::CUDA_ERROR_INVALID_VALUE);
            }
            // Its own device always has access, and the others never.
            if (other.ordinal == pool.ordinal) != (flags == READ_AND_WRITE) {
                return Err(Error::CUDA_ERROR_INVALID_DEVICE);
            }
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemPoolGetAccess(
    flags: Out<u32>,
    pool: Handle,
    location: In<CUmemLocation>,
) -> CUresult {
    call("cuMemPoolGetAccess", || {
        let pool = POOLS.get(pool)?;
        let id = field!(location, CUmemLocation, id as c_int)?;
        let device = device(id).map_err(|_| Error::CUDA_ERROR_INVALID_VALUE)?;
        flags.set(if device.ordinal == pool.ordinal { READ_AND_WRITE } else { NO_ACCESS })
    })
}

fn allocate(address: Out<u64>, bytes: usize, pool: Option<Handle>, stream: Handle) -> Result<()> {
    address.check()?;
    let (context, stream) = context::resolve(stream)?;
    // A slice of no elements.
    if bytes == 0 {
        return address.set(0);
    }
    if let Some(capture) = stream.capture() {
        let allocated = context.allocate(bytes, Kind::Graph)?;
        capture.keep(&stream.slot, allocated, context.ordinal)?;
        return address.set(allocated);
    }
    address.set(allocate_from(&context, bytes, pool)?)
}

fn allocate_from(context: &Arc<Context>, bytes: usize, pool: Option<Handle>) -> Result<u64> {
    let device = context.device();
    let pool = POOLS.get(pool.unwrap_or_else(|| *lock(&device.current_pool)))?;
    if pool.ordinal != device.ordinal {
        return Err(Error::CUDA_ERROR_INVALID_VALUE);
    }
    pool.take(bytes as u64)?;
    context.allocate(bytes, Kind::Pool(pool.handle)).inspect_err(|_| pool.give(bytes as u64))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemAllocAsync(
    address: Out<u64>,
    bytes: usize,
    stream: Handle,
) -> CUresult {
    call("cuMemAllocAsync", || allocate(address, bytes, None, stream))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemAllocFromPoolAsync(
    address: Out<u64>,
    bytes: usize,
    pool: Handle,
    stream: Handle,
) -> CUresult {
    call("cuMemAllocFromPoolAsync", || allocate(address, bytes, Some(pool), stream))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemFreeAsync(address: u64, stream: Handle) -> CUresult {
    call("cuMemFreeAsync", || {
        let stream = context::find_stream(stream)?;
        let context = stream.context()?;
        if address != 0 {
            free(&context, &stream, address)?;
        }
        context.usable()
    })
}

fn free(context: &Arc<Context>, stream: &Arc<Stream>, address: u64) -> Result<()> {
    if let Some(capture) = stream.capture() {
        return capture.release(&stream.slot, address);
    }
    // Memory of a graph is freed with the graph, whoever says that it is no longer wanted.
    if memory::find(address, context.ordinal).is_some_and(|found| found.kind == Kind::Graph) {
        return Ok(());
    }
    context.refuse_legacy_capture(stream)?;
    let ours = |found: &Allocation| matches!(found.kind, Kind::Pool(_) | Kind::Device);
    memory::retire(address, context.ordinal, ours)?;
    context.push(stream, Vec::new(), Work::Release(address)).map(drop)
}
