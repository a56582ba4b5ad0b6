//! The frame around every function of the driver.
//!
//! In a process that was forked the driver cannot be used, as the real one: the threads of its streams
//! are those of the other process.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::base::error::{Error, Result, status};
use crate::config::config;
use crate::lifetime;
use cudarc::driver::sys::CUresult;

/// Runs the body of a function: injected failures come first, and no panic reaches C.
pub(crate) fn call(function: &'static str, body: impl FnOnce() -> Result<()>) -> CUresult {
    let guarded = AssertUnwindSafe(|| {
        if lifetime::is_forked() && !function.starts_with("cuGetError") {
            return Err(Error::CUDA_ERROR_NOT_INITIALIZED);
        }
        if let Ok(config) = config()
            && let Some(error) = config.failures.next(function)
        {
            return Err(error);
        }
        body()
    });
    let result = catch_unwind(guarded).unwrap_or_else(|_| {
        eprintln!("fake-cuda: internal error: {function} panicked; please report it");
        Err(Error::CUDA_ERROR_UNKNOWN)
    });
    status(result)
}
