//! Device discovery: which devices there are, and the best of them.
//!
//! The only module above the back ends that opens devices.

use crate::{
    backend::{self, cpu},
    device::Device,
    error::Result,
    properties::Backend,
};

impl Device {
    /// The first GPU that can be opened, else the processor: CUDA (with the feature `cuda`), CPU.
    ///
    /// A GPU that is there but cannot be opened is passed over; [`Device::cuda`] says why.
    ///
    /// # Errors
    ///
    /// None at present: the processor is always there.
    pub fn best() -> Result<Self> {
        let best = backend::devices().next().unwrap_or_else(cpu::context::parallel);
        Ok(Self::of(best))
    }

    /// Every device that can be opened, the best first, the processor last.
    #[must_use]
    pub fn all() -> Vec<Self> {
        backend::devices().map(Self::of).collect()
    }

    /// The processor. Blocks of a launch run in parallel, on rayon's global thread pool.
    ///
    /// # Errors
    ///
    /// None at present.
    pub fn cpu() -> Result<Self> {
        Ok(Self::of(cpu::context::parallel()))
    }

    /// The processor, on the calling thread alone: the blocks of a launch run one after the
    /// other, x fastest, and so do the threads of a block up to their next barrier. What a kernel
    /// computes, and which panic of a launch is reported, is the same every time.
    ///
    /// A device of its own: buffers and kernels of [`Device::cpu`] do not go with it.
    ///
    /// # Errors
    ///
    /// None at present.
    ///
    /// ```
    /// let device = kernelmill::Device::cpu_sequential()?;
    /// assert!(device.name().contains("sequential"));
    /// # Ok::<(), kernelmill::Error>(())
    /// ```
    pub fn cpu_sequential() -> Result<Self> {
        Ok(Self::of(cpu::context::sequential()))
    }

    /// The NVIDIA GPU with this number, in its primary context.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] without the feature `cuda`, a driver or such a device;
    /// [`Error::Cuda`] where the driver refuses it.
    ///
    /// [`Error::Unavailable`]: crate::Error::Unavailable
    /// [`Error::Cuda`]: crate::Error::Cuda
    pub fn cuda(ordinal: usize) -> Result<Self> {
        backend::open(Backend::Cuda, ordinal).map(Self::of)
    }
}
