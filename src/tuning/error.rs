//! Errors of tuning.

use crate::error::Error;

/// What can go wrong where a kernel is tuned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TuneError {
    /// A device or a launch failed.
    #[error(transparent)]
    Device(#[from] Error),
    /// What was measured cannot be reported.
    #[error("cannot write what was measured: {0}")]
    Write(#[from] std::io::Error),
    /// The kernel's launches have two or three dimensions.
    #[error(
        "launches of kernel `{kernel}` have more than one dimension, and only others are tuned"
    )]
    Dimension {
        /// The kernel.
        kernel: &'static str,
    },
    /// No block size that is tried fits the kernel on the device.
    #[error("no launch of kernel `{kernel}` with {elements} elements fits {device}")]
    NothingFits {
        /// The kernel.
        kernel: &'static str,
        /// The device.
        device: String,
        /// The number of elements.
        elements: usize,
    },
    /// Two launches of the kernel have different outputs, so that no choice between them is sound.
    #[error(
        "kernel `{kernel}` with {elements} elements on {device}: {differing} has another output than {first}: {what}; \
         mend the kernel, or give `Output::within` a tolerance that suits it"
    )]
    Differs {
        /// The kernel.
        kernel: &'static str,
        /// The device.
        device: String,
        /// The number of elements.
        elements: usize,
        /// The launch that was compared.
        differing: String,
        /// The launch that it was compared with.
        first: String,
        /// The first difference.
        what: String,
    },
    /// A variable of the environment that cannot be read.
    #[error("the environment variable {name} is `{text}`: {what}")]
    Variable {
        /// Its name.
        name: &'static str,
        /// Its value.
        text: String,
        /// What it has to be.
        what: &'static str,
    },
}
