//! Error codes: those of `hipError_t` that the library returns, with their names.

use std::ffi::{CStr, c_int};

/// `hipError_t`.
pub(crate) type Code = c_int;

macro_rules! codes {
    ($($constant:ident = $code:literal, $name:literal, $text:literal;)*) => {
        $(
            #[allow(dead_code, reason = "some are only asked for by `FAKE_HIP_FAIL`")]
            pub(crate) const $constant: Code = $code;
        )*

        const CODES: &[(Code, &CStr, &CStr)] = &[$(($code, $name, $text),)*];
    };
}

codes! {
    SUCCESS = 0, c"hipSuccess", c"no error";
    INVALID_VALUE = 1, c"hipErrorInvalidValue", c"invalid argument";
    OUT_OF_MEMORY = 2, c"hipErrorOutOfMemory", c"out of memory";
    INVALID_CONFIGURATION = 9, c"hipErrorInvalidConfiguration", c"invalid configuration argument";
    NO_DEVICE = 100, c"hipErrorNoDevice", c"no ROCm-capable device is detected";
    INVALID_DEVICE = 101, c"hipErrorInvalidDevice", c"invalid device ordinal";
    INVALID_IMAGE = 200, c"hipErrorInvalidImage", c"device kernel image is invalid";
    NO_BINARY_FOR_GPU = 209, c"hipErrorNoBinaryForGpu", c"no kernel image is available for execution on the device";
    PEER_ACCESS_UNSUPPORTED = 217, c"hipErrorPeerAccessUnsupported", c"peer access is not supported between these two devices";
    INVALID_HANDLE = 400, c"hipErrorInvalidHandle", c"invalid resource handle";
    NOT_FOUND = 500, c"hipErrorNotFound", c"named symbol not found";
    NOT_READY = 600, c"hipErrorNotReady", c"device not ready";
    ILLEGAL_ADDRESS = 700, c"hipErrorIllegalAddress", c"an illegal memory access was encountered";
    LAUNCH_OUT_OF_RESOURCES = 701, c"hipErrorLaunchOutOfResources", c"too many resources requested for launch";
    LAUNCH_FAILURE = 719, c"hipErrorLaunchFailure", c"unspecified launch failure";
    COOPERATIVE_LAUNCH_TOO_LARGE = 720, c"hipErrorCooperativeLaunchTooLarge", c"too many blocks in cooperative launch";
    NOT_SUPPORTED = 801, c"hipErrorNotSupported", c"operation not supported";
    UNKNOWN = 999, c"hipErrorUnknown", c"unknown error";
}

/// The name in `hip_runtime_api.h`.
pub(crate) fn name(code: Code) -> &'static CStr {
    CODES.iter().find(|known| known.0 == code).map_or(c"hipErrorUnknown", |known| known.1)
}

/// What the error says.
pub(crate) fn text(code: Code) -> &'static CStr {
    CODES.iter().find(|known| known.0 == code).map_or(c"unknown error", |known| known.2)
}

/// The code with this name, with or without `hipError`, or this number.
pub(crate) fn from_name(wanted: &str) -> Option<Code> {
    let long = format!("hipError{wanted}");
    let is = |name: &CStr| name.to_str().is_ok_and(|name| name == wanted || name == long);
    let number = wanted.parse::<Code>();
    CODES.iter().find(|known| is(known.1) || number == Ok(known.0)).map(|known| known.0)
}
