//! Devices: contexts that are open, with their properties.
//!
//! Where they come from is in `discovery`, their memory in `buffer`, their queues in `stream`.

use std::{fmt, sync::Arc};

use crate::{
    capability::{Capability, Support},
    device_name::DeviceName,
    error::Result,
    hal::Context,
    properties::{Architecture, Backend, Limits},
};

/// A device that kernels run on: the processor or a GPU.
///
/// Cheap to clone; clones are the same device. Every call that asks for the same device gets the
/// same context, so buffers and kernels of one go with those of the other.
///
/// ```
/// use kernelmill::{Backend, Device};
/// let device = Device::best()?;
/// println!("{device}: up to {} threads per block", device.limits().threads_per_block);
/// assert_eq!(Device::cpu()?.backend(), Backend::Cpu);
/// # Ok::<(), kernelmill::Error>(())
/// ```
#[derive(Clone)]
pub struct Device {
    context: Arc<dyn Context>,
}

impl Device {
    /// Waits for everything that was launched, on every stream.
    ///
    /// # Errors
    ///
    /// The first error of a launch on this device that was not reported before.
    pub fn synchronize(&self) -> Result<()> {
        self.context.synchronize()
    }

    /// The name, as the driver has it.
    #[must_use]
    pub fn name(&self) -> &str {
        self.context.name()
    }

    /// The name by which `kernelmill-tuning.toml` knows the device. That of the CPU says the level of its instruction set
    /// too, of which the width of vectors depends: `x86_64 CPU with avx512, 8 threads`. Of others it is
    /// [`name`](Self::name).
    #[must_use]
    pub fn tuning_name(&self) -> &str {
        self.context.tuning_name()
    }

    /// How the device is driven.
    #[must_use]
    pub fn backend(&self) -> Backend {
        self.context.backend()
    }

    /// How the environment variable `KERNELMILL_DEVICE` names it: `cuda:1`, `cpu`.
    ///
    /// ```
    /// assert_eq!(kernelmill::Device::cpu()?.selector(), "cpu");
    /// # Ok::<(), kernelmill::Error>(())
    /// ```
    #[must_use]
    pub fn selector(&self) -> String {
        let (backend, ordinal) = (self.context.backend(), self.context.ordinal());
        DeviceName::numbered(backend, ordinal).to_string()
    }

    /// What can be launched on it at most.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        self.context.limits()
    }

    /// How it has a capability. What it has not at all is an error where a program asks for it.
    #[must_use]
    pub fn support(&self, capability: Capability) -> Support {
        self.context.support(capability)
    }

    /// What decides which embedded binaries it can run.
    #[must_use]
    pub fn architecture(&self) -> &Architecture {
        self.context.architecture()
    }

    pub(crate) fn context(&self) -> &dyn Context {
        &*self.context
    }

    /// The device of an open context.
    pub(crate) fn of(context: Arc<dyn Context>) -> Self {
        Self { context }
    }
}

impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        self.context.id() == other.context.id()
    }
}

impl Eq for Device {}

impl fmt::Debug for Device {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Device")
            .field("name", &self.name())
            .field("backend", &self.backend())
            .field("architecture", self.architecture())
            .finish_non_exhaustive()
    }
}

/// The name, and for a GPU the architecture.
impl fmt::Display for Device {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.architecture() {
            Architecture::Cpu => formatter.write_str(self.name()),
            architecture => write!(formatter, "{} ({architecture})", self.name()),
        }
    }
}
