//! Compiled kernels: what is known of a kernel once its module is loaded, apart from its launches.
//!
//! The one place where a launch is checked: stream, limits of the device and of the kernel, and what
//! its author says of blocks. What passes goes to the back end.

use std::{fmt, time::Duration};

use crate::{
    argument::Argument,
    device::Device,
    embedded::{EmbeddedArtifact, EmbeddedKernel},
    error::{Error, Result},
    hal::{Function, Module, StreamRef},
    launch::Launch,
    limits::{KernelLimits, check_bounds},
    marshal,
};
use kernelmill_artifact::{LaunchLimits, Signature};

/// What is known of a kernel once its module is loaded: who it is, which binary it comes from,
/// what it needs, and the function to launch. Every launch of it shares this, and nothing of a
/// launch is kept in it.
pub(crate) struct CompiledKernel {
    name: &'static str,
    artifact: &'static EmbeddedArtifact,
    limits: KernelLimits,
    /// What stands in its source of the blocks it is launched with.
    bounds: LaunchLimits,
    function: Box<dyn Function>,
    /// The longest that a launch may take, where somebody watches.
    time_limit: Option<Duration>,
}

impl CompiledKernel {
    /// The kernel `kernel` of a loaded `module`.
    pub(crate) fn new(
        signature: &'static Signature,
        artifact: &'static EmbeddedArtifact,
        kernel: &'static EmbeddedKernel,
        module: std::sync::Arc<dyn Module>,
    ) -> Result<Self> {
        let function = module.function(artifact, kernel)?;
        let (name, bounds) = (signature.name(), signature.limits);
        let (limits, time_limit) = (function.limits(), function.time_limit());
        Ok(Self { name, artifact, limits, bounds, function, time_limit })
    }

    /// Launches the kernel on `device`, which it is loaded on.
    ///
    /// # Safety
    ///
    /// The arguments are those of the kernel, in its order.
    pub(crate) unsafe fn launch(
        &self,
        device: &Device,
        stream: StreamRef<'_>,
        launch: &Launch<3>,
        arguments: &[Argument<'_>],
    ) -> Result<()> {
        if !device.context().accepts(stream) {
            return Err(self.wrong_device(device, stream));
        }
        let shape = device.limits().check(launch, &self.limits, self.name, device.name())?;
        let Some(shape) = shape else { return Ok(()) };
        check_bounds(launch, &self.bounds, self.name)?;
        // SAFETY: the stream is of this device, the shape was checked, the arguments are promised.
        let error = unsafe {
            match self.time_limit {
                None => {
                    let mut pointers = marshal::pointers(arguments);
                    self.function.launch(stream, &shape, &mut pointers)?
                }
                Some(limit) => {
                    let owned = marshal::owned(arguments);
                    self.function.launch_within(limit, stream, &shape, owned)?
                }
            }
        };
        if let Some(error) = error {
            arguments.iter().for_each(|argument| argument.keep(&error));
        }
        Ok(())
    }

    #[cold]
    fn wrong_device(&self, device: &Device, stream: StreamRef<'_>) -> Error {
        Error::WrongDevice {
            subject: format!("the kernel `{}`", self.name),
            found: device.to_string(),
            expected: stream.describe().to_owned(),
        }
    }
}

impl fmt::Debug for CompiledKernel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("CompiledKernel")
            .field("name", &self.name)
            .field("target", &self.artifact.target)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
