//! Device discovery: which devices there are, and the best of them.
//!
//! The only module above the back ends that opens devices.

use crate::{
    backend::{self, cpu},
    device::Device,
    error::{Error, Result},
    properties::Backend,
};

impl Device {
    /// The first GPU that can be opened, else the processor: CUDA (with the feature `cuda`), CPU.
    ///
    /// A GPU that is there but cannot be opened is passed over. [`Device::unavailable`] says why, and
    /// so does this function, to standard error, where the environment variable `KERNELMILL_LOG` is
    /// set.
    ///
    /// # Errors
    ///
    /// [`Error::Variable`], where an environment variable of the CPU back end cannot be read: the processor
    /// is always there.
    pub fn best() -> Result<Self> {
        let mut passed_over = Vec::new();
        let mut devices = backend::devices();
        let best = devices.find_map(|device| device.map_err(|error| passed_over.push(error)).ok());
        let best = Self::of(best.map_or_else(cpu::context::parallel, Ok)?);
        if !passed_over.is_empty() && std::env::var_os("KERNELMILL_LOG").is_some_and(is_on) {
            for error in passed_over {
                eprintln!("kernelmill: {error}; the device is {best}");
            }
        }
        Ok(best)
    }

    /// Every device that can be opened, the best first, the processor last.
    #[must_use]
    pub fn all() -> Vec<Self> {
        backend::devices().filter_map(Result::ok).map(Self::of).collect()
    }

    /// Why what [`Device::all`] lacks is not there: an error for each driver that does not start, and
    /// for each of its devices that cannot be opened. A driver that is not installed is none.
    ///
    /// ```
    /// for error in kernelmill::Device::unavailable() {
    ///     eprintln!("{error}");
    /// }
    /// ```
    #[must_use]
    pub fn unavailable() -> Vec<Error> {
        backend::devices().filter_map(Result::err).collect()
    }

    /// The processor. Blocks of a launch run in parallel, on rayon's global thread pool.
    ///
    /// # Errors
    ///
    /// [`Error::Variable`], where an environment variable of the CPU back end cannot be read.
    pub fn cpu() -> Result<Self> {
        cpu::context::parallel().map(Self::of)
    }

    /// The processor, on the calling thread alone: the blocks of a launch run one after the
    /// other, x fastest, and so do the threads of a block up to their next barrier. What a kernel
    /// computes, and which panic of a launch is reported, is the same every time.
    ///
    /// A device of its own: buffers and kernels of [`Device::cpu`] do not go with it.
    ///
    /// # Errors
    ///
    /// [`Error::Variable`], where an environment variable of the CPU back end cannot be read.
    ///
    /// ```
    /// let device = kernelmill::Device::cpu_sequential()?;
    /// assert!(device.name().contains("sequential"));
    /// # Ok::<(), kernelmill::Error>(())
    /// ```
    pub fn cpu_sequential() -> Result<Self> {
        cpu::context::sequential().map(Self::of)
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

/// Whether a variable is set to something.
fn is_on(value: std::ffi::OsString) -> bool {
    !value.is_empty()
}
