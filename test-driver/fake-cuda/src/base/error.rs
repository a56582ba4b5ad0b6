//! The driver's error codes, with their names and what they say.
//!
//! CUDA Driver API, "Data types used by CUDA driver", `CUresult`.

use std::ffi::{CStr, c_int};

/// A code of `cuda.h`; as an error it is never `CUDA_SUCCESS`.
pub(crate) use cudarc::driver::sys::CUresult as Error;

/// An asynchronous error: what the context reports from then on, and what is printed.
///
/// CUDA Driver API, "Data types": errors of launches are found by later calls, and the context stays
/// unusable (a sticky error).
#[derive(Debug)]
pub(crate) struct AsyncError {
    pub(crate) error: Error,
    pub(crate) text: String,
}

/// The result of everything that can fail with one of the driver's errors.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// What a function of the driver returns.
pub(crate) fn status(result: Result<()>) -> Error {
    result.err().unwrap_or(Error::CUDA_SUCCESS)
}

macro_rules! errors {
    ($($variant:ident = $text:literal;)*) => {
        /// The errors that this driver returns, and those that can be injected: name and text.
        const ERRORS: &[(Error, &CStr, &CStr)] = &[$((
            Error::$variant,
            match CStr::from_bytes_with_nul(concat!(stringify!($variant), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => unreachable!(),
            },
            $text,
        )),*];
    };
}

errors! {
    CUDA_ERROR_INVALID_VALUE = c"invalid argument";
    CUDA_ERROR_OUT_OF_MEMORY = c"out of memory";
    CUDA_ERROR_NOT_INITIALIZED = c"initialization error";
    CUDA_ERROR_DEINITIALIZED = c"driver shutting down";
    CUDA_ERROR_STUB_LIBRARY = c"CUDA driver is a stub library";
    CUDA_ERROR_NO_DEVICE = c"no CUDA-capable device is detected";
    CUDA_ERROR_INVALID_DEVICE = c"invalid device ordinal";
    CUDA_ERROR_INVALID_IMAGE = c"device kernel image is invalid";
    CUDA_ERROR_INVALID_CONTEXT = c"invalid device context";
    CUDA_ERROR_MAP_FAILED = c"mapping of buffer object failed";
    CUDA_ERROR_NO_BINARY_FOR_GPU = c"no kernel image is available for execution on the device";
    CUDA_ERROR_ECC_UNCORRECTABLE = c"uncorrectable ECC error encountered";
    CUDA_ERROR_UNSUPPORTED_LIMIT = c"limit is not supported on this architecture";
    CUDA_ERROR_PEER_ACCESS_UNSUPPORTED = c"peer access is not supported between these two devices";
    CUDA_ERROR_INVALID_PTX = c"a PTX JIT compilation failed";
    CUDA_ERROR_JIT_COMPILER_NOT_FOUND = c"PTX JIT compiler library not found";
    CUDA_ERROR_UNSUPPORTED_PTX_VERSION = c"the provided PTX was compiled with an unsupported toolchain.";
    CUDA_ERROR_INVALID_SOURCE = c"device kernel image is invalid";
    CUDA_ERROR_FILE_NOT_FOUND = c"file not found";
    CUDA_ERROR_OPERATING_SYSTEM = c"OS call failed or operation not supported on this OS";
    CUDA_ERROR_INVALID_HANDLE = c"invalid resource handle";
    CUDA_ERROR_ILLEGAL_STATE = c"the operation cannot be performed in the present state";
    CUDA_ERROR_NOT_FOUND = c"named symbol not found";
    CUDA_ERROR_NOT_READY = c"device not ready";
    CUDA_ERROR_ILLEGAL_ADDRESS = c"an illegal memory access was encountered";
    CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = c"too many resources requested for launch";
    CUDA_ERROR_LAUNCH_TIMEOUT = c"the launch timed out and was terminated";
    CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED = c"peer access is already enabled";
    CUDA_ERROR_PEER_ACCESS_NOT_ENABLED = c"peer access has not been enabled";
    CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE = c"cannot set while device is active in this process";
    CUDA_ERROR_CONTEXT_IS_DESTROYED = c"context is destroyed";
    CUDA_ERROR_ASSERT = c"device-side assert triggered";
    CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED = c"part or all of the requested memory range is already mapped";
    CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED = c"pointer does not correspond to a registered memory region";
    CUDA_ERROR_HARDWARE_STACK_ERROR = c"hardware stack error";
    CUDA_ERROR_ILLEGAL_INSTRUCTION = c"an illegal instruction was encountered";
    CUDA_ERROR_MISALIGNED_ADDRESS = c"misaligned address";
    CUDA_ERROR_INVALID_ADDRESS_SPACE = c"operation not supported on global/shared address space";
    CUDA_ERROR_INVALID_PC = c"invalid program counter";
    CUDA_ERROR_LAUNCH_FAILED = c"unspecified launch failure";
    CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = c"too many blocks in cooperative launch";
    CUDA_ERROR_NOT_PERMITTED = c"operation not permitted";
    CUDA_ERROR_NOT_SUPPORTED = c"operation not supported";
    CUDA_ERROR_SYSTEM_NOT_READY = c"system not yet initialized";
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = c"operation not permitted when stream is capturing";
    CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = c"operation failed due to a previous error during capture";
    CUDA_ERROR_STREAM_CAPTURE_MERGE = c"operation would result in a merge of separate capture sequences";
    CUDA_ERROR_STREAM_CAPTURE_UNMATCHED = c"capture was not ended in the same stream as it began";
    CUDA_ERROR_STREAM_CAPTURE_UNJOINED = c"capturing stream has unjoined work";
    CUDA_ERROR_STREAM_CAPTURE_ISOLATION = c"dependency created on uncaptured work in another stream";
    CUDA_ERROR_STREAM_CAPTURE_IMPLICIT = c"operation would make the legacy stream depend on a capturing blocking stream";
    CUDA_ERROR_CAPTURED_EVENT = c"operation not permitted on an event last recorded in a capturing stream";
    CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD = c"attempt to terminate a thread-local capture sequence from another thread";
    CUDA_ERROR_UNKNOWN = c"unknown error";
}

/// The name in `cuda.h`.
pub(crate) fn name(error: Error) -> &'static CStr {
    ERRORS.iter().find(|(known, ..)| *known == error).map_or(c"CUDA_ERROR_UNKNOWN", |found| found.1)
}

/// What the error says.
pub(crate) fn text(error: Error) -> &'static CStr {
    ERRORS.iter().find(|(known, ..)| *known == error).map_or(c"unknown error", |found| found.2)
}

/// The error with this number. A number from a caller is compared, never made into a [`Error`]: one
/// that is no enumerator would be undefined behaviour.
pub(crate) fn from_code(code: c_int) -> Option<Error> {
    ERRORS.iter().map(|&(error, ..)| error).find(|&error| error as c_int == code)
}

/// The error with this name, with or without `CUDA_ERROR_`, or this number.
pub(crate) fn from_name(wanted: &str) -> Option<Error> {
    let long = format!("CUDA_ERROR_{wanted}");
    let known = |name: &CStr| name.to_str().is_ok_and(|name| name == wanted || name == long);
    let found = ERRORS.iter().find(|(_, name, _)| known(name)).map(|&(error, ..)| error);
    found.or_else(|| wanted.parse().ok().and_then(from_code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_find_their_error() {
        assert_eq!(from_name("OUT_OF_MEMORY"), Some(Error::CUDA_ERROR_OUT_OF_MEMORY));
        assert_eq!(
            from_name("CUDA_ERROR_ILLEGAL_ADDRESS"),
            Some(Error::CUDA_ERROR_ILLEGAL_ADDRESS)
        );
        assert_eq!(from_name("719"), Some(Error::CUDA_ERROR_LAUNCH_FAILED));
        assert_eq!(from_name("OUT_OF"), None);
    }

    #[test]
    fn every_error_has_its_own_number() {
        for &(error, ..) in ERRORS {
            assert_eq!(from_code(error as c_int), Some(error));
        }
    }
}
