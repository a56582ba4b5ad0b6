//! The HIP run time: whether it is there, and its errors by name.

use std::ffi::{CStr, c_char};

use super::library::{Code, Functions, hip, open};
use crate::{
    error::{Error, Result},
    properties::Backend,
};

/// `hipErrorOutOfMemory`.
pub(super) const OUT_OF_MEMORY: Code = 2;
/// `hipErrorNoDevice`.
pub(super) const NO_DEVICE: Code = 100;
/// `hipErrorNotFound`.
pub(super) const NOT_FOUND: Code = 500;
/// `hipErrorNotReady`.
pub(super) const NOT_READY: Code = 600;
/// Errors after which a device gives nothing else: `hipErrorECCNotCorrectable`, `hipErrorIllegalAddress`, `hipErrorLaunchTimeOut`,
/// `hipErrorContextIsDestroyed`, `hipErrorAssert`, `hipErrorLaunchFailure`.
const LOST: [Code; 6] = [214, 700, 702, 709, 710, 719];

/// Whether an error is one that a device keeps.
pub(super) fn loses_device(code: Code) -> bool {
    LOST.contains(&code)
}

/// The functions of the library.
///
/// # Errors
///
/// [`Error::NoDevice`] where there is none, and [`Error::Unavailable`] for one that lacks a function.
pub(super) fn library() -> Result<&'static Functions> {
    let backend = Backend::Hip;
    let no_device = || {
        let reason = "no HIP library is installed".to_owned();
        Error::NoDevice { backend, reason }
    };
    open().ok_or_else(no_device)?.map_err(|lacks| {
        let reason = format!("{lacks}, and kernelmill needs that of HIP 5 or later: update ROCm");
        Error::Unavailable { backend, reason }
    })
}

/// Gives an error code of the library the function that failed, and what it was called for.
pub(super) fn named(
    code: Code,
    function: &'static str,
    subject: impl FnOnce() -> String,
) -> Result<()> {
    if code == 0 {
        return Ok(());
    }
    // SAFETY: the functions take any code.
    let (name, text) = unsafe { ((hip().hipGetErrorName)(code), (hip().hipGetErrorString)(code)) };
    // SAFETY: the library gives null, or a text that it never changes.
    let (name, text) = unsafe { (text_of(name), text_of(text)) };
    Err(Error::Hip { function, subject: subject(), name, text, code })
}

/// A text of the library.
///
/// # Safety
///
/// It is null, or ends with a zero.
unsafe fn text_of(text: *const c_char) -> String {
    if text.is_null() {
        return "an error that the library has no name for".to_owned();
    }
    // SAFETY: promised.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
