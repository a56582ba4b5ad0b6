//! Events.
//!
//! CUDA Driver API, "Event Management".

use std::ffi::c_uint;

use super::call::call;
use crate::base::abi::Out;
use crate::base::error::Error;
use crate::base::handle::Handle;
use crate::event;
use cudarc::driver::sys::CUresult;

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuEventCreate(created: Out<Handle>, flags: c_uint) -> CUresult {
    call("cuEventCreate", || {
        created.check()?;
        created.set(event::create(flags)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuEventDestroy_v2(event: Handle) -> CUresult {
    call("cuEventDestroy_v2", || event::destroy(event))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuEventRecord(event: Handle, stream: Handle) -> CUresult {
    call("cuEventRecord", || event::record(event, stream))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuEventRecordWithFlags(
    event: Handle,
    stream: Handle,
    flags: c_uint,
) -> CUresult {
    call("cuEventRecordWithFlags", || match flags {
        0 => event::record(event, stream),
        // Nodes of graphs that record events for others to wait for.
        1 => Err(Error::CUDA_ERROR_NOT_SUPPORTED),
        _ => Err(Error::CUDA_ERROR_INVALID_VALUE),
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuEventQuery(event: Handle) -> CUresult {
    call("cuEventQuery", || event::query(event))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuEventSynchronize(event: Handle) -> CUresult {
    call("cuEventSynchronize", || event::synchronize(event))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuEventElapsedTime(
    milliseconds: Out<f32>,
    start: Handle,
    end: Handle,
) -> CUresult {
    call("cuEventElapsedTime", || milliseconds.set(event::elapsed(start, end)?))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuEventElapsedTime_v2(
    milliseconds: Out<f32>,
    start: Handle,
    end: Handle,
) -> CUresult {
    call("cuEventElapsedTime_v2", || milliseconds.set(event::elapsed(start, end)?))
}
