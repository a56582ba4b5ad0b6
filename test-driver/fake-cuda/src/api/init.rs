//! Initialization, versions and profilers.
//!
//! CUDA Driver API, "Initialization", "Version Management" and "Profiler Control".

use std::ffi::{c_int, c_uint};

use super::call::call;
use crate::base::abi::{In, Out};
use crate::base::error::Error;
use crate::config::config;
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
    call("cuDriverGetVersion", || version.set(config()?.version.unwrap_or(driver::VERSION)))
}

/// Tables of functions without documentation, which NVIDIA's own libraries ask for: there is none. NVRTC then does
/// without its cache; where this function is missing it crashes.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuGetExportTable(table: Out<usize>, _id: In<u8>) -> CUresult {
    call("cuGetExportTable", || {
        table.set(0)?;
        Err(Error::CUDA_ERROR_NOT_FOUND)
    })
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
