//! The CUDA driver: whether it is there and new enough, and its errors by name.

use std::{ffi::c_void, sync::OnceLock};

use cudarc::driver::{DriverError, sys};

use crate::{
    error::{Error, Result},
    properties::Backend,
};

/// The oldest version of the driver that has every function called here but those that [`has`] is asked for: that with
/// `cuGraphInstantiateWithFlags`, CUDA 11.4. cudarc panics where it calls a function that a driver lacks.
const OLDEST: i32 = 11_040;

/// Whether NVIDIA's driver library can be opened. cudarc panics where it cannot.
pub(super) fn present() -> bool {
    static PRESENT: OnceLock<bool> = OnceLock::new();
    // SAFETY: opening the driver's library runs its initialisers, which have no preconditions.
    *PRESENT.get_or_init(|| unsafe { sys::is_culib_present() })
}

/// Checks that the driver, which is present, is not older than [`OLDEST`].
pub(super) fn check_version() -> Result<()> {
    static IS_CHECKED: OnceLock<()> = OnceLock::new();
    if IS_CHECKED.get().is_some() {
        return Ok(());
    }
    let mut version = 0;
    // SAFETY: the driver is there, and writes one number. Every version has the function.
    let asked = unsafe { sys::cuDriverGetVersion(&raw mut version) };
    named(asked.result(), "cuDriverGetVersion", || "CUDA".to_owned())?;
    if version < OLDEST {
        let reason = format!(
            "the installed NVIDIA driver supports CUDA {}, and kernelmill needs {} or later: update the driver",
            written(version),
            written(OLDEST)
        );
        return Err(Error::Unavailable { backend: Backend::Cuda, reason });
    }
    IS_CHECKED.get_or_init(|| ());
    Ok(())
}

/// A version of the driver as people write it: 12.8 for 12080.
fn written(version: i32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

/// Whether the driver, which is present, has a function that came after [`OLDEST`].
pub(super) fn has(function: &str) -> bool {
    // SAFETY: the driver is there; the symbol is looked up, and what it is the address of is not used.
    unsafe { sys::culib().get::<*const c_void>(function.as_bytes()).is_ok() }
}

/// Whether an error is one after which a context gives nothing but this error: those of kernels that went wrong, and of the
/// hardware.
///
/// [CUDA Driver API, `CUresult`](https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__TYPES.html): the process "must be
/// terminated and relaunched", or all of the context given back.
pub(super) fn loses_context(error: DriverError) -> bool {
    use sys::CUresult as C;
    matches!(
        error.0,
        C::CUDA_ERROR_ECC_UNCORRECTABLE
            | C::CUDA_ERROR_NVLINK_UNCORRECTABLE
            | C::CUDA_ERROR_ILLEGAL_ADDRESS
            | C::CUDA_ERROR_LAUNCH_TIMEOUT
            | C::CUDA_ERROR_CONTEXT_IS_DESTROYED
            | C::CUDA_ERROR_ASSERT
            | C::CUDA_ERROR_HARDWARE_STACK_ERROR
            | C::CUDA_ERROR_ILLEGAL_INSTRUCTION
            | C::CUDA_ERROR_MISALIGNED_ADDRESS
            | C::CUDA_ERROR_INVALID_ADDRESS_SPACE
            | C::CUDA_ERROR_INVALID_PC
            | C::CUDA_ERROR_LAUNCH_FAILED
    )
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
pub(super) fn name(error: DriverError) -> String {
    match error.error_name() {
        Ok(name) => name.to_string_lossy().into_owned(),
        Err(_) => "an error that the driver has no name for".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_written_with_a_point() {
        assert_eq!([10_020, 11_040, OLDEST, 13_000].map(written), ["10.2", "11.4", "11.4", "13.0"]);
    }
}
