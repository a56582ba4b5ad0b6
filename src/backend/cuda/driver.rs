//! The CUDA driver: whether it is there, and its errors by name.

use std::sync::OnceLock;

use cudarc::driver::{DriverError, sys};

use crate::error::{Error, Result};

/// Whether NVIDIA's driver library can be opened. cudarc panics where it cannot.
pub(super) fn present() -> bool {
    static PRESENT: OnceLock<bool> = OnceLock::new();
    // SAFETY: opening the driver's library runs its initialisers, which have no preconditions.
    *PRESENT.get_or_init(|| unsafe { sys::is_culib_present() })
}

/// Gives an error of the driver the function that failed, and what it was called for. For a function
/// of cudarc's that makes several calls, that function is named.
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

/// The name of an error code, for example `CUDA_ERROR_ILLEGAL_ADDRESS`.
fn name(error: DriverError) -> String {
    match error.error_name() {
        Ok(name) => name.to_string_lossy().into_owned(),
        Err(_) => "an error that the driver has no name for".to_owned(),
    }
}
