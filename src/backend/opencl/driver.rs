//! The OpenCL library: whether it is there, and its errors by name.

use cl3::error_codes::{DLOPEN_FUNCTION_NOT_AVAILABLE, DLOPEN_RUNTIME_LOAD_FAILED, error_text};

use crate::{
    error::{Error, Result},
    properties::Backend,
};

/// `cl_int`.
pub(super) type Code = i32;

/// A result of the library's.
pub(super) type Called<T> = std::result::Result<T, Code>;

/// Gives an error code of the library the function that failed, and what it was called for.
pub(super) fn named<T>(
    called: Called<T>,
    function: &'static str,
    subject: impl FnOnce() -> String,
) -> Result<T> {
    called.map_err(|code| match code {
        DLOPEN_RUNTIME_LOAD_FAILED => no_device(NO_LIBRARY.to_owned()),
        DLOPEN_FUNCTION_NOT_AVAILABLE => {
            let reason = format!("the OpenCL library has no function `{function}`: update it");
            Error::Unavailable { backend: Backend::OpenCl, reason }
        }
        code => Error::OpenCl { function, subject: subject(), name: error_text(code), code },
    })
}

/// Why there is no device where nothing is installed.
pub(super) const NO_LIBRARY: &str = "no OpenCL library is installed";

pub(super) fn no_device(reason: String) -> Error {
    Error::NoDevice { backend: Backend::OpenCl, reason }
}
