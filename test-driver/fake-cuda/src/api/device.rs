//! Devices and their primary contexts.
//!
//! CUDA Driver API, "Device Management" and "Primary Context Management".

use std::ffi::{c_char, c_int, c_uint};

use super::call::call;
use crate::base::abi::Out;
use crate::base::error::Error;
use crate::base::handle::{Handle, lock};
use crate::context::primary;
use crate::driver::{device, driver};
use crate::lifetime;
use crate::memory::pool::POOLS;
use cudarc::driver::sys::{CUctx_flags, CUresult};

/// All flags that a context can have.
pub(super) const CONTEXT_FLAGS: c_uint = CUctx_flags::CU_CTX_FLAGS_MASK as c_uint;

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuDeviceGet(found: Out<c_int>, ordinal: c_int) -> CUresult {
    call("cuDeviceGet", || device(ordinal).and_then(|_| found.set(ordinal)))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuDeviceGetCount(count: Out<c_int>) -> CUresult {
    call("cuDeviceGetCount", || count.set(driver()?.devices.len() as c_int))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuDeviceGetName(
    name: Out<c_char>,
    room: c_int,
    ordinal: c_int,
) -> CUresult {
    call("cuDeviceGetName", || {
        let room = usize::try_from(room).map_err(|_| Error::CUDA_ERROR_INVALID_VALUE)?;
        name.set_text(&device(ordinal)?.name(), room)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuDeviceGetUuid(uuid: Out<[u8; 16]>, ordinal: c_int) -> CUresult {
    call("cuDeviceGetUuid", || uuid.set(device(ordinal)?.uuid()))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuDeviceGetUuid_v2(uuid: Out<[u8; 16]>, ordinal: c_int) -> CUresult {
    call("cuDeviceGetUuid_v2", || uuid.set(device(ordinal)?.uuid()))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuDeviceTotalMem_v2(bytes: Out<usize>, ordinal: c_int) -> CUresult {
    call("cuDeviceTotalMem_v2", || bytes.set(device(ordinal)?.memory as usize))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuDeviceGetAttribute(
    value: Out<c_int>,
    attribute: c_int,
    ordinal: c_int,
) -> CUresult {
    call("cuDeviceGetAttribute", || value.set(device(ordinal)?.attribute(attribute)?))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuDeviceComputeCapability(
    major: Out<c_int>,
    minor: Out<c_int>,
    ordinal: c_int,
) -> CUresult {
    call("cuDeviceComputeCapability", || {
        let profile = &device(ordinal)?.profile;
        major.set(profile.major as c_int)?;
        minor.set(profile.minor as c_int)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuDeviceGetPCIBusId(
    name: Out<c_char>,
    room: c_int,
    ordinal: c_int,
) -> CUresult {
    call("cuDeviceGetPCIBusId", || {
        let room = usize::try_from(room).map_err(|_| Error::CUDA_ERROR_INVALID_VALUE)?;
        name.set_text(&format!("0000:{:02x}:00.0", device(ordinal)?.ordinal + 1), room)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuDeviceGetByPCIBusId(
    found: Out<c_int>,
    name: crate::base::abi::Text,
) -> CUresult {
    call("cuDeviceGetByPCIBusId", || {
        let bus = name.get()?.rsplit(':').nth(1).ok_or(Error::CUDA_ERROR_INVALID_VALUE)?;
        let bus = c_int::from_str_radix(bus, 16).map_err(|_| Error::CUDA_ERROR_INVALID_VALUE)?;
        found.set(device(bus - 1)?.ordinal as c_int)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuDeviceGetDefaultMemPool(pool: Out<Handle>, ordinal: c_int) -> CUresult {
    call("cuDeviceGetDefaultMemPool", || pool.set(device(ordinal)?.default_pool))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuDeviceGetMemPool(pool: Out<Handle>, ordinal: c_int) -> CUresult {
    call("cuDeviceGetMemPool", || pool.set(*lock(&device(ordinal)?.current_pool)))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuDeviceSetMemPool(ordinal: c_int, pool: Handle) -> CUresult {
    call("cuDeviceSetMemPool", || {
        let device = device(ordinal)?;
        if POOLS.get(pool)?.ordinal != device.ordinal {
            return Err(Error::CUDA_ERROR_INVALID_VALUE);
        }
        *lock(&device.current_pool) = pool;
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuDevicePrimaryCtxRetain(
    context: Out<Handle>,
    ordinal: c_int,
) -> CUresult {
    call("cuDevicePrimaryCtxRetain", || {
        context.check()?;
        context.set(primary::retain(device(ordinal)?.ordinal).handle)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuDevicePrimaryCtxRelease_v2(ordinal: c_int) -> CUresult {
    call("cuDevicePrimaryCtxRelease_v2", || lifetime::release_primary(device(ordinal)?.ordinal))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuDevicePrimaryCtxReset_v2(ordinal: c_int) -> CUresult {
    call("cuDevicePrimaryCtxReset_v2", || {
        lifetime::reset_primary(device(ordinal)?.ordinal);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuDevicePrimaryCtxSetFlags_v2(ordinal: c_int, flags: c_uint) -> CUresult {
    call("cuDevicePrimaryCtxSetFlags_v2", || {
        if flags & !CONTEXT_FLAGS != 0 {
            return Err(Error::CUDA_ERROR_INVALID_VALUE);
        }
        primary::set_flags(device(ordinal)?.ordinal, flags);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuDevicePrimaryCtxGetState(
    ordinal: c_int,
    flags: Out<c_uint>,
    active: Out<c_int>,
) -> CUresult {
    call("cuDevicePrimaryCtxGetState", || {
        let (given, is_active) = primary::state(device(ordinal)?.ordinal);
        flags.set(given)?;
        active.set(is_active.into())
    })
}
