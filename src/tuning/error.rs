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
    /// The kernel's launches have another number of dimensions than those that were to be tuned.
    #[error(
        "kernel `{kernel}` is launched in {dimensions}D, but tuned in {tuned}D; use `Tuner::tune` for 1D, and \
         `Tuner::tune_shapes` for the number of dimensions that its closures take"
    )]
    Dimension {
        /// The kernel.
        kernel: &'static str,
        /// The dimensions of its launches.
        dimensions: usize,
        /// The dimensions of the launches that the benchmark makes.
        tuned: usize,
    },
    /// No block size that is tried fits the kernel on the device.
    #[error("no launch of `{kernel}` with {elements} elements fits {device}")]
    NothingFits {
        /// The kernel or the group.
        kernel: String,
        /// The device.
        device: String,
        /// The number of elements along each axis, x first, as `1920x1080`.
        elements: String,
    },
    /// Two launches of the kernel have different outputs, so that no choice between them is sound.
    #[error(
        "{subject}: the output with {differing} differs from that with {first}: {what}; correct the kernel, or give \
         `Output::within` a tolerance that suits it"
    )]
    Differs {
        /// The kernel or the group, the number of elements, and the device.
        subject: String,
        /// The launch that was compared.
        differing: String,
        /// The launch that it was compared with.
        first: String,
        /// The first difference.
        what: String,
    },
    /// Variables of the environment that cannot be read.
    #[error("the environment variable {}", faults.join("\nthe environment variable "))]
    Variables {
        /// Everything that is wrong with them, each fault with the variable's name.
        faults: Vec<String>,
    },
}
