//! Initialization, versions and profilers.
//!
//! CUDA Driver API, "Initialization", "Version Management" and "Profiler Control".

use std::ffi::{c_int, c_uint};

use super::call::call;
use crate::base::abi::Out;
use crate::base::error::Error;
use crate::driver;
use crate::lifetime;
use cudarc::driver::sys::CUresult;

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuInit(flags: c_uint) -> CUresult {
    call("cuInit", || {
        if flags == 0 { lifetime::initialize() } else { Err(Error::CUDA_ERROR_INVALID_VALUE) }
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuDriverGetVersion(version: Out<c_int>) -> CUresult {
    call("cuDriverGetVersion", || version.set(driver::VERSION))
}

/// There is no profiler, so that there is nothing to start.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuProfilerStart() -> CUresult {
    call("cuProfilerStart", || Ok(()))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuProfilerStop() -> CUresult {
    call("cuProfilerStop", || Ok(()))
}
