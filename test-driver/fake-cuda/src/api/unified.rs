//! Managed memory.
//!
//! CUDA Driver API, "Unified Addressing".

use std::ffi::{c_int, c_uint};

use super::call::call;
use crate::base::abi::{Location, Out};
use crate::base::error::{Error, Result};
use crate::base::handle::Handle;
use crate::context;
use crate::driver::device;
use crate::memory::{self, Kind, host};
use crate::work::Work;
use cudarc::driver::sys::{CUmem_advise, CUmemLocationType, CUresult};

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemAllocManaged(
    address: Out<u64>,
    bytes: usize,
    flags: c_uint,
) -> CUresult {
    call("cuMemAllocManaged", || {
        address.check()?;
        context::refuse_during_capture()?;
        address.set(host::allocate_managed(context::usable()?.owner(), bytes, flags)?)
    })
}

/// Fails where a range is not managed memory.
fn managed(address: u64, bytes: usize, ordinal: usize) -> Result<()> {
    let found = memory::find(address, ordinal).ok_or(Error::CUDA_ERROR_INVALID_VALUE)?;
    if found.kind != Kind::Managed || bytes == 0 {
        return Err(Error::CUDA_ERROR_INVALID_VALUE);
    }
    memory::check(address, bytes, ordinal)
}

const DEVICE: u32 = CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE as u32;
const HOST: u32 = CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST as u32;
const HOST_NUMA_CURRENT: u32 = CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT as u32;

/// Fails where there is no such place.
fn check_location(location: Location) -> Result<()> {
    match location.kind {
        DEVICE => device(location.id).map(drop),
        HOST..=HOST_NUMA_CURRENT => Ok(()),
        _ => Err(Error::CUDA_ERROR_INVALID_VALUE),
    }
}

/// The host among the devices.
const CU_DEVICE_CPU: c_int = -1;

/// The place that the older functions mean: a device, or -1 for the host.
fn location(ordinal: c_int) -> Location {
    Location { kind: if ordinal == CU_DEVICE_CPU { HOST } else { DEVICE }, id: ordinal }
}

fn advise(address: u64, bytes: usize, advice: c_int, place: Location) -> Result<()> {
    managed(address, bytes, context::usable()?.ordinal)?;
    const READ_MOSTLY: c_int = CUmem_advise::CU_MEM_ADVISE_SET_READ_MOSTLY as c_int;
    const NOT_READ_MOSTLY: c_int = CUmem_advise::CU_MEM_ADVISE_UNSET_READ_MOSTLY as c_int;
    const PREFERRED: c_int = CUmem_advise::CU_MEM_ADVISE_SET_PREFERRED_LOCATION as c_int;
    const NOT_PREFERRED: c_int = CUmem_advise::CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION as c_int;
    const ACCESSED_BY: c_int = CUmem_advise::CU_MEM_ADVISE_SET_ACCESSED_BY as c_int;
    const NOT_ACCESSED_BY: c_int = CUmem_advise::CU_MEM_ADVISE_UNSET_ACCESSED_BY as c_int;
    match advice {
        // Advice without a place.
        READ_MOSTLY | NOT_READ_MOSTLY | NOT_PREFERRED => Ok(()),
        PREFERRED | ACCESSED_BY | NOT_ACCESSED_BY => check_location(place),
        _ => Err(Error::CUDA_ERROR_INVALID_VALUE),
    }
}

/// Advice is checked, and makes no difference.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemAdvise(
    address: u64,
    bytes: usize,
    advice: c_int,
    ordinal: c_int,
) -> CUresult {
    call("cuMemAdvise", || advise(address, bytes, advice, location(ordinal)))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemAdvise_v2(
    address: u64,
    bytes: usize,
    advice: c_int,
    place: Location,
) -> CUresult {
    call("cuMemAdvise_v2", || advise(address, bytes, advice, place))
}

fn prefetch(address: u64, bytes: usize, place: Location, stream: Handle) -> Result<()> {
    let (context, stream) = context::resolve(stream)?;
    managed(address, bytes, context.ordinal)?;
    check_location(place)?;
    stream.submit(Work::Nothing)
}

/// Managed memory is everywhere, so that there is nothing to fetch.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemPrefetchAsync(
    address: u64,
    bytes: usize,
    ordinal: c_int,
    stream: Handle,
) -> CUresult {
    call("cuMemPrefetchAsync", || prefetch(address, bytes, location(ordinal), stream))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemPrefetchAsync_v2(
    address: u64,
    bytes: usize,
    place: Location,
    flags: c_uint,
    stream: Handle,
) -> CUresult {
    call("cuMemPrefetchAsync_v2", || {
        if flags != 0 {
            return Err(Error::CUDA_ERROR_INVALID_VALUE);
        }
        prefetch(address, bytes, place, stream)
    })
}
