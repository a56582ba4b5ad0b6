//! Strings that cross between Rust and LLVM's C interface.

use std::ffi::{CStr, CString, c_char};

/// A name for LLVM, ended by a zero.
pub(crate) fn c_string(text: &str) -> CString {
    CString::new(text).expect("names in LLVM have no zero bytes")
}

/// Reads a string that LLVM allocated for the caller, and frees it.
pub(crate) fn take_message(message: *mut c_char) -> String {
    if message.is_null() {
        return String::new();
    }
    // SAFETY: LLVM's C functions hand out null-terminated strings that the caller disposes of.
    unsafe {
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        llvm_sys::core::LLVMDisposeMessage(message);
        text
    }
}

/// Copies a string that LLVM owns; `None` where it is null.
///
/// # Safety
///
/// `text` is null or points to `length` bytes.
pub(crate) unsafe fn copy(text: *const c_char, length: usize) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: by the condition of this function.
    let bytes = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), length) };
    Some(String::from_utf8_lossy(bytes).into_owned())
}
