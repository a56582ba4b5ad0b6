//! Lost devices: the error after which nothing of a device's context can be used any more.
//!
//! OpenCL has no code that says so. `CL_DEVICE_NOT_AVAILABLE` may pass, and what drivers return after a fault of a kernel
//! (NVIDIA's: `CL_OUT_OF_RESOURCES`, then `CL_INVALID_COMMAND_QUEUE`) has other causes as well. So the device is asked once
//! more: one that is lost says so again. From then on the library is asked nothing that could wait for the device.

use std::sync::OnceLock;

use cl3::error_codes::{
    CL_DEVICE_NOT_AVAILABLE, CL_INVALID_COMMAND_QUEUE, CL_INVALID_CONTEXT, CL_OUT_OF_RESOURCES,
    error_text,
};

use super::driver::{Called, Code, named};
use crate::error::{Error, Result};

/// Codes that a lost device gives; the last is NVIDIA's own, of a kernel that accesses memory beyond its buffers.
const LOST: [Code; 5] = [
    CL_DEVICE_NOT_AVAILABLE,
    CL_OUT_OF_RESOURCES,
    CL_INVALID_CONTEXT,
    CL_INVALID_COMMAND_QUEUE,
    -9999,
];

/// What is known of the loss of a device, for one of its contexts.
pub(super) struct Loss {
    /// The device's name.
    device: String,
    /// The function that told of it first, and its error.
    first: OnceLock<(&'static str, Code)>,
}

impl Loss {
    /// Of a device that works.
    pub(super) fn new(device: String) -> Self {
        Self { device, first: OnceLock::new() }
    }

    /// Whether the device is lost: then nothing of the context runs any more.
    pub(super) fn is_known(&self) -> bool {
        self.first.get().is_some()
    }

    /// That the device is not lost.
    pub(super) fn check(&self) -> Result<()> {
        self.first.get().map_or(Ok(()), |(function, code)| Err(self.error(function, *code)))
    }

    /// As [`named`]; where the error is one of lost devices and `ask_again` gets one too, the device is lost.
    pub(super) fn told<T>(
        &self,
        called: Called<T>,
        function: &'static str,
        subject: impl FnOnce() -> String,
        ask_again: impl FnOnce() -> Called<()>,
    ) -> Result<T> {
        let Err(code) = called else { return named(called, function, subject) };
        if !LOST.contains(&code) {
            return named(called, function, subject);
        }
        if self.is_known() || ask_again().is_err_and(|again| LOST.contains(&again)) {
            self.first.get_or_init(|| (function, code));
            return Err(self.error(function, code));
        }
        named(called, function, subject)
    }

    fn error(&self, function: &'static str, code: Code) -> Error {
        let subject = format!("{}, which is lost: open it again", self.device);
        Error::OpenCl { function, subject, name: error_text(code), code }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_lost_where_it_says_so_twice() {
        let loss = Loss::new("a device".to_owned());
        let tell = |code, again| {
            let told = loss.told::<()>(Err(code), "clFlush", || "a copy".to_owned(), || again);
            told.unwrap_err().to_string()
        };
        // Another error, and one that passes.
        assert!(tell(-4, Err(-2)).starts_with("clFlush failed for a copy: "));
        assert!(tell(-5, Ok(())).starts_with("clFlush failed for a copy: "));
        assert!(!loss.is_known() && loss.check().is_ok());
        let lost = "clFlush failed for a device, which is lost: open it again: ";
        assert!(tell(-5, Err(-36)).starts_with(lost));
        assert!(loss.check().unwrap_err().to_string().starts_with(lost));
        assert_eq!(loss.told(Ok(7), "clFlush", String::new, || Ok(())).unwrap(), 7);
    }
}
