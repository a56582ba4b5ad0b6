//! Access of one device to another's memory, which none has.

use std::ffi::{c_int, c_uint};

use super::call::call;
use crate::base::abi::Out;
use crate::base::error::{Error, Status};
use crate::base::handle::Handle;
use crate::context::{self, CONTEXTS};
use crate::driver::device;

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuDeviceCanAccessPeer(
    can: Out<c_int>,
    ordinal: c_int,
    other: c_int,
) -> Status {
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
) -> Status {
    call("cuDeviceGetP2PAttribute", || {
        device(ordinal)?;
        device(other)?;
        if ordinal == other || !(1..=5).contains(&attribute) {
            return Err(Error::InvalidValue);
        }
        value.set(0)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuCtxEnablePeerAccess(other: Handle, flags: c_uint) -> Status {
    call("cuCtxEnablePeerAccess", || {
        if flags != 0 {
            return Err(Error::InvalidValue);
        }
        context::usable()?;
        CONTEXTS.get(other).map_err(|_| Error::InvalidContext)?;
        Err(Error::PeerAccessUnsupported)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuCtxDisablePeerAccess(other: Handle) -> Status {
    call("cuCtxDisablePeerAccess", || {
        context::usable()?;
        CONTEXTS.get(other).map_err(|_| Error::InvalidContext)?;
        Err(Error::PeerAccessNotEnabled)
    })
}
