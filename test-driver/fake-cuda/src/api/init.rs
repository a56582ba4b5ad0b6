//! Initialization, versions and profilers.

use std::ffi::{c_int, c_uint};

use super::call::call;
use crate::base::abi::Out;
use crate::base::error::{Error, Status};
use crate::driver;
use crate::lifetime;

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuInit(flags: c_uint) -> Status {
    call("cuInit", || if flags == 0 { lifetime::initialize() } else { Err(Error::InvalidValue) })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuDriverGetVersion(version: Out<c_int>) -> Status {
    call("cuDriverGetVersion", || version.set(driver::VERSION))
}

/// There is no profiler, so that there is nothing to start.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuProfilerStart() -> Status {
    call("cuProfilerStart", || Ok(()))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuProfilerStop() -> Status {
    call("cuProfilerStop", || Ok(()))
}
