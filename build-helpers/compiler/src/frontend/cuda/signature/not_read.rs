//! What readers of signatures say in a compiler without the feature `cuda-cpp`.

use super::slots::EntrySlots;
use crate::{diagnostic::SignatureError, frontend::cuda::source::CudaKernel};
use kernelmill_artifact::{DeviceFunction, VariableDeclaration};

/// Reads no kernels: that takes the feature `cuda-cpp`.
///
/// # Errors
///
/// [`SignatureError::NoReader`].
pub fn read(_ptx: &str, display: &str) -> Result<Vec<CudaKernel>, SignatureError> {
    Err(no_reader(display))
}

/// As [`read`].
///
/// # Errors
///
/// [`SignatureError::NoReader`].
pub fn read_with_classes(
    _ptx: &str,
    display: &str,
    _compile: impl FnOnce(&str) -> Option<String>,
) -> Result<Vec<CudaKernel>, SignatureError> {
    Err(no_reader(display))
}

/// As [`read`].
///
/// # Errors
///
/// [`SignatureError::NoReader`].
pub fn read_functions(_ptx: &str, display: &str) -> Result<Vec<DeviceFunction>, SignatureError> {
    Err(no_reader(display))
}

/// As [`read`].
///
/// # Errors
///
/// [`SignatureError::NoReader`].
pub fn read_variables(
    _ptx: &str,
    display: &str,
) -> Result<Vec<VariableDeclaration>, SignatureError> {
    Err(no_reader(display))
}

/// As [`read`].
///
/// # Errors
///
/// [`SignatureError::NoReader`].
pub(crate) fn read_entries(_ptx: &str, display: &str) -> Result<Vec<EntrySlots>, SignatureError> {
    Err(no_reader(display))
}

fn no_reader(display: &str) -> SignatureError {
    SignatureError::NoReader { file: display.to_owned() }
}
