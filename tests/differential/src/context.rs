//! The device that the random kernels run on.

use kernelmill::{Device, Stream};

pub(crate) mod kernels {
    kernelmill::include_kernels!();
}

/// What cases run on.
pub struct Context {
    pub(crate) device: Device,
    pub(crate) stream: Stream,
    pub(crate) kernels: kernels::Kernels,
}

/// Threads of a block: whole warps, and a number that no vector width divides.
pub(crate) const WIDTHS: [usize; 2] = [64, 41];
/// Blocks of a launch.
pub(crate) const BLOCKS: usize = 3;

impl Context {
    /// Loads the kernels on a device.
    ///
    /// # Errors
    ///
    /// When none of the embedded binaries runs on it.
    pub fn new(device: Device) -> kernelmill::Result<Self> {
        let kernels = kernels::Kernels::load(&device)?;
        Ok(Self { stream: device.stream(), device, kernels })
    }

    /// The device's name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.device.name()
    }
}
