//! Access of one device to another's memory, which none has.
//!
//! CUDA Driver API, "Peer Context Memory Access".

use std::ffi::{c_int, c_uint};

use super::call::call;
use crate::base::abi::Out;
use crate::base::error::Error;
use crate::base::handle::Handle;
use crate::context::{self, CONTEXTS};
use crate::driver::device;
use cudarc::driver::sys::CUresult;

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuDeviceCanAccessPeer(
    can: Out<c_int>,
    ordinal: c_int,
    other: c_int,
) -> CUresult {
    call("cuDeviceCanAccessPeer", || {
        device(ordinal)?;
        device(other)?;
        can.set(0)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuDeviceGetP2PAttribute(
    value: Out<c_int>,
    attribute: c_int,
    ordinal: c_int,
    other: c_int,
) -> CUresult {
    call("cuDeviceGetP2PAttribute", || {
        device(ordinal)?;
        device(other)?;
        if ordinal == other || !(1..=5).contains(&attribute) {
            return Err(Error::CUDA_ERROR_INVALID_VALUE);
        }
        value.set(0)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuCtxEnablePeerAccess(other: Handle, flags: c_uint) -> CUresult {
    call("cuCtxEnablePeerAccess", || {
        if flags != 0 {
            return Err(Error::CUDA_ERROR_INVALID_VALUE);
        }
        context::usable()?;
        CONTEXTS.get(other).map_err(|_| Error::CUDA_ERROR_INVALID_CONTEXT)?;
        Err(Error::CUDA_ERROR_PEER_ACCESS_UNSUPPORTED)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuCtxDisablePeerAccess(other: Handle) -> CUresult {
    call("cuCtxDisablePeerAccess", || {
        context::usable()?;
        CONTEXTS.get(other).map_err(|_| Error::CUDA_ERROR_INVALID_CONTEXT)?;
        Err(Error::CUDA_ERROR_PEER_ACCESS_NOT_ENABLED)
    })
}
