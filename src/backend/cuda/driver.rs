//! The CUDA driver: whether it is there, and its errors by name.

use std::sync::OnceLock;

use cudarc::driver::{CudaContext, DriverError, sys};

use crate::error::{Error, Result};

/// Whether NVIDIA's driver library can be opened. cudarc panics where it cannot.
pub(super) fn present() -> bool {
    static PRESENT: OnceLock<bool> = OnceLock::new();
    // SAFETY: opening the driver's library runs its initialisers, which have no preconditions.
    *PRESENT.get_or_init(|| unsafe { sys::is_culib_present() })
}

/// Gives an error of the driver the function that failed, and what it was called for.
pub(super) fn named<T>(
    result: std::result::Result<T, DriverError>,
    function: &'static str,
    subject: impl FnOnce() -> String,
) -> Result<T> {
    result.map_err(|error| Error::Cuda {
        function,
        subject: subject(),
        name: name(error),
        code: error.0 as u32,
    })
}

/// Makes the context current, for calls of the driver on this thread. An error that cudarc met
/// where it could not report it, in a `drop`, is reported here, and not as one of this call.
pub(super) fn bind(context: &CudaContext) -> Result<()> {
    let subject = || format!("device {}", context.ordinal());
    named(context.check_err(), "an earlier call", subject)?;
    named(context.bind_to_thread(), "cuCtxSetCurrent", subject)
}

/// The name of an error code, for example `CUDA_ERROR_ILLEGAL_ADDRESS`.
fn name(error: DriverError) -> String {
    match error.error_name() {
        Ok(name) => name.to_string_lossy().into_owned(),
        Err(_) => "an error that the driver has no name for".to_owned(),
    }
}
