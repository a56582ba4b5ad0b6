//! Memory of the host.
//!
//! CUDA Driver API, "Memory Management".

use std::ffi::c_uint;

use super::call::call;
use crate::base::abi::Out;
use crate::base::error::{Error, Result};
use crate::context;
use crate::memory::{self, Allocation, Kind, host};
use cudarc::driver::sys::CUresult;

fn allocate(address: Out<u64>, bytes: usize, flags: c_uint) -> Result<()> {
    address.check()?;
    context::refuse_during_capture()?;
    address.set(host::allocate_pinned(context::usable()?.owner(), bytes, flags)?)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemHostAlloc(
    address: Out<u64>,
    bytes: usize,
    flags: c_uint,
) -> CUresult {
    call("cuMemHostAlloc", || allocate(address, bytes, flags))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemAllocHost_v2(address: Out<u64>, bytes: usize) -> CUresult {
    call("cuMemAllocHost_v2", || allocate(address, bytes, 0))
}

/// Waits for all streams, which may be using the memory.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemFreeHost(address: u64) -> CUresult {
    call("cuMemFreeHost", || {
        let context = context::current()?;
        if address == 0 {
            return Ok(());
        }
        context::drain_all();
        host::free_pinned(address)?;
        context.usable()
    })
}

/// Memory that was pinned, whoever allocated it.
fn pinned(address: u64) -> Result<Allocation> {
    let found =
        memory::find(address, context::usable()?.ordinal).ok_or(Error::CUDA_ERROR_INVALID_VALUE)?;
    match found.kind {
        Kind::Pinned(_) | Kind::Registered => Ok(found),
        _ => Err(Error::CUDA_ERROR_INVALID_VALUE),
    }
}

/// The host's address is the device's.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemHostGetDevicePointer_v2(
    device: Out<u64>,
    host: u64,
    flags: c_uint,
) -> CUresult {
    call("cuMemHostGetDevicePointer_v2", || {
        if flags != 0 {
            return Err(Error::CUDA_ERROR_INVALID_VALUE);
        }
        pinned(host)?;
        device.set(host)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemHostGetFlags(flags: Out<c_uint>, host: u64) -> CUresult {
    call("cuMemHostGetFlags", || match pinned(host)?.kind {
        Kind::Pinned(given) => flags.set(given),
        _ => flags.set(0),
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemHostRegister_v2(
    address: u64,
    bytes: usize,
    flags: c_uint,
) -> CUresult {
    call("cuMemHostRegister_v2", || {
        host::register(context::usable()?.owner(), address, bytes, flags)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuMemHostUnregister(address: u64) -> CUresult {
    call("cuMemHostUnregister", || {
        let context = context::current()?;
        context::drain_all();
        host::unregister(address)?;
        context.usable()
    })
}
