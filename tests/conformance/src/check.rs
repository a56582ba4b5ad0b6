//! A check: one kernel with its inputs, launched on a device, and the result it must give.

use crate::kernels::Kernels;
use kernelmill::{Device, Stream};
use std::error::Error;

/// Nothing, or what was wrong.
pub type Outcome = Result<(), Box<dyn Error + Send + Sync>>;

/// What a check runs on.
pub struct Context {
    pub(crate) device: Device,
    pub(crate) stream: Stream,
    pub(crate) kernels: Kernels,
}

impl Context {
    /// Loads the kernels of this package on a device.
    ///
    /// # Errors
    ///
    /// When none of the embedded binaries runs on the device.
    pub fn new(device: Device) -> kernelmill::Result<Self> {
        let kernels = Kernels::load(&device)?;
        Ok(Self { stream: device.stream(), device, kernels })
    }
}

/// One kernel with its inputs and the result it must give.
#[derive(Clone, Copy)]
pub struct Check {
    /// The kernel's name.
    pub name: &'static str,
    /// Where the kernel means something.
    pub scope: Scope,
    run: fn(&Context) -> Outcome,
}

/// Where a kernel means something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// On every device.
    Everywhere,
    /// On the CPU only: GPUs leave the result undefined.
    Cpu,
}

impl Check {
    pub(crate) const fn new(name: &'static str, run: fn(&Context) -> Outcome) -> Self {
        Self { name, scope: Scope::Everywhere, run }
    }

    /// A check whose kernel means something on the CPU only.
    pub(crate) const fn on_cpu(name: &'static str, run: fn(&Context) -> Outcome) -> Self {
        Self { name, scope: Scope::Cpu, run }
    }

    /// Runs the kernel and compares its result.
    ///
    /// # Errors
    ///
    /// What the device reported, or the first element that differs.
    pub fn run(&self, context: &Context) -> Outcome {
        (self.run)(context)
    }
}
