//! The frame around every function of the driver.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::base::error::{Error, Result, status};
use crate::config::config;
use cudarc::driver::sys::CUresult;

/// Runs the body of a function: injected failures come first, and no panic reaches C.
pub(crate) fn call(function: &'static str, body: impl FnOnce() -> Result<()>) -> CUresult {
    let guarded = AssertUnwindSafe(|| {
        if let Ok(config) = config()
            && let Some(error) = config.failures.next(function)
        {
            return Err(error);
        }
        body()
    });
    let result = catch_unwind(guarded).unwrap_or_else(|_| {
        eprintln!("fake-cuda: {function} has a bug, it panicked");
        Err(Error::CUDA_ERROR_UNKNOWN)
    });
    status(result)
}
