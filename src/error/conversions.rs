//! Errors made of what says more than a line.

use super::{no_binary::NoBinary, panic::KernelPanic, timeout::LaunchTimeout, variants::Error};

impl From<KernelPanic> for Error {
    fn from(panic: KernelPanic) -> Self {
        Self::KernelPanic(Box::new(panic))
    }
}

impl From<LaunchTimeout> for Error {
    fn from(timeout: LaunchTimeout) -> Self {
        Self::LaunchTimeout(Box::new(timeout))
    }
}

impl From<NoBinary> for Error {
    fn from(error: NoBinary) -> Self {
        Self::NoBinary(Box::new(error))
    }
}
