//! Loaded kernels: what is known of a kernel once its module is loaded, apart from its launches.
//!
//! The one place where a launch is checked: stream, limits of the device and of the kernel, and what
//! its author says of blocks. What passes goes to the back end.

use std::{fmt, sync::Arc, time::Duration};

use crate::{
    argument::Argument,
    cache::ModuleHold,
    capability::Capability,
    device::Device,
    embedded::{EmbeddedArtifact, EmbeddedKernel, HeldCode},
    error::{Error, Result},
    hal::{AsyncError, Function, OwnedArguments, StreamRef},
    launch::Launch,
    limits::{Checked, KernelLimits, check_bounds},
    marshal,
    properties::Limits,
    sizes, trace,
};
use kernelmill_artifact::{LaunchLimits, Signature};

/// What is known of a kernel once its module is loaded: who it is, which binary it comes from,
/// what it needs, and the function to launch. Every launch of it shares this, and nothing of a
/// launch is kept in it.
pub(crate) struct LoadedKernel {
    signature: &'static Signature,
    device: Device,
    artifact: &'static EmbeddedArtifact,
    embedded: &'static EmbeddedKernel,
    limits: KernelLimits,
    /// Those of the device.
    device_limits: Limits,
    /// What it is made to be launched with.
    bounds: LaunchLimits,
    /// Whether that is not everything.
    is_bounded: bool,
    function: Box<dyn Function>,
    /// The longest that a launch may take, where somebody watches.
    time_limit: Option<Duration>,
    /// Dropped last: the function is of this module.
    module: Arc<ModuleHold>,
}

impl LoadedKernel {
    /// The kernel `kernel` of a loaded `module`.
    pub(crate) fn new(
        signature: &'static Signature,
        device: &Device,
        artifact: &'static EmbeddedArtifact,
        kernel: &'static EmbeddedKernel,
        module: &Arc<ModuleHold>,
    ) -> Result<Self> {
        let function = Arc::clone(module.module()).function(artifact, kernel, signature)?;
        let module = Arc::clone(module);
        let (limits, time_limit) = (function.limits(), function.time_limit());
        let (device, device_limits) = (device.clone(), *device.limits());
        let bounds = kernel.variant.map_or(signature.limits, |variant| variant.limits);
        Ok(Self {
            signature,
            device,
            artifact,
            embedded: kernel,
            limits,
            device_limits,
            bounds,
            is_bounded: bounds != LaunchLimits::NONE,
            function,
            time_limit,
            module,
        })
    }

    /// Its name.
    pub(crate) fn name(&self) -> &'static str {
        self.signature.name()
    }

    /// What it is for callers.
    pub(crate) fn signature(&self) -> &'static Signature {
        self.signature
    }

    /// The device that it is loaded on.
    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    /// The binary that it comes from.
    pub(crate) fn artifact(&self) -> &'static EmbeddedArtifact {
        self.artifact
    }

    /// The bytes of that binary.
    pub(crate) fn binary(&self) -> &[u8] {
        self.module.code().map_or(self.artifact.bytes, HeldCode::image)
    }

    /// What the build knows of it.
    pub(crate) fn embedded(&self) -> &'static EmbeddedKernel {
        self.embedded
    }

    /// What the device lets it be launched with.
    pub(crate) fn limits(&self) -> &KernelLimits {
        &self.limits
    }

    /// What it is made to be launched with.
    pub(crate) fn bounds(&self) -> &LaunchLimits {
        &self.bounds
    }

    /// The name of the variant that it is; `None` for the kernel as its source and the settings have it.
    pub(crate) fn variant_name(&self) -> Option<&'static str> {
        self.embedded.variant.map(|variant| variant.name)
    }

    /// The macros that it is compiled with besides those of the kernel, `NAME=value` each.
    pub(crate) fn defines(&self) -> &'static [&'static str] {
        self.embedded.variant.map_or(&[], |variant| variant.defines)
    }

    /// The function that is launched.
    pub(crate) fn function(&self) -> &dyn Function {
        &*self.function
    }

    /// Checks that a launch is within the limits; whether it has threads.
    pub(crate) fn check(
        &self,
        device: &Device,
        launch: &Launch<3>,
        arguments: &[Argument<'_>],
    ) -> Result<bool> {
        let limits = &self.device_limits;
        if !limits.check(launch, &self.limits, self.name(), || device.name())? {
            return Ok(false);
        }
        if self.is_bounded {
            check_bounds(launch, &self.bounds, self.name())?;
            if self.bounds.has_narrow_indices() {
                self.check_sizes(launch, arguments)?;
            }
        }
        if self.embedded.cooperative {
            self.check_residence(&Checked::of(launch))?;
        }
        Ok(true)
    }

    /// Checks a launch whose blocks wait for each other: all of them have to be on the device at once.
    fn check_residence(&self, shape: &Checked) -> Result<()> {
        let most = self.function.cooperative_blocks(shape.block, shape.dynamic_shared_bytes)?;
        let limit = most.ok_or_else(|| self.not_cooperative())?;
        let requested = shape.grid.iter().map(|&blocks| u64::from(blocks)).product();
        if requested <= limit {
            return Ok(());
        }
        Err(Error::Limit {
            kernel: self.name().to_owned(),
            quantity: "blocks of a cooperative launch",
            requested,
            limit,
            device: self.device.name().to_owned(),
        })
    }

    #[cold]
    fn not_cooperative(&self) -> Error {
        Error::Unsupported {
            subject: format!("the kernel `{}`, whose blocks wait for each other,", self.name()),
            capability: Capability::CooperativeLaunches,
            device: self.device.to_string(),
        }
    }

    /// Checks a launch of a kernel whose indices have 32 bits.
    fn check_sizes(&self, launch: &Launch<3>, arguments: &[Argument<'_>]) -> Result<()> {
        match sizes::first_wide(launch, self.signature.parameters(), arguments) {
            None => Ok(()),
            Some((quantity, requested)) => Err(Error::Limit {
                kernel: self.name().to_owned(),
                quantity,
                requested,
                limit: sizes::MOST_NARROW,
                device: "its 32-bit indices".to_owned(),
            }),
        }
    }

    /// Launches the kernel with arguments that can be used again; the asynchronous error, where the launch
    /// has run already.
    ///
    /// # Safety
    ///
    /// The arguments are those of the kernel, in its order, the shape is one that was checked, and the
    /// stream is of the device that the kernel is loaded on.
    pub(crate) unsafe fn run_owned(
        &self,
        stream: StreamRef<'_>,
        shape: &Checked,
        arguments: &OwnedArguments,
    ) -> Result<Option<Arc<AsyncError>>> {
        let _span = self.span(shape);
        // SAFETY: promised.
        unsafe {
            match self.time_limit {
                None => arguments
                    .with_pointers(|pointers| self.function.launch(stream, shape, pointers)),
                Some(limit) => self.function.launch_within(limit, stream, shape, arguments.clone()),
            }
        }
    }

    /// Launches the kernel on `device`, which it is loaded on.
    ///
    /// # Safety
    ///
    /// The arguments are those of the kernel, in its order.
    pub(crate) unsafe fn launch(
        &self,
        device: &Device,
        stream: &StreamRef<'_>,
        launch: &Launch<3>,
        arguments: &[Argument<'_>],
    ) -> Result<()> {
        let context = device.context();
        if !stream.is_for_launches_in(context) && !context.accepts(stream) {
            return Err(self.wrong_device(device, *stream));
        }
        if !self.check(device, launch, arguments)? {
            return Ok(());
        }
        // Made here, and not moved: it is too large to be in registers.
        let shape = Checked::of(launch);
        let _span = self.span(&shape);
        // SAFETY: the stream is of this device, the shape was checked, the arguments are promised.
        let error = unsafe {
            match self.time_limit {
                None => marshal::with_pointers(arguments, |pointers| {
                    self.function.launch(*stream, &shape, pointers)
                })?,
                Some(limit) => {
                    let owned = marshal::owned(arguments);
                    self.function.launch_within(limit, *stream, &shape, owned)?
                }
            }
        };
        if let Some(error) = error {
            arguments.iter().for_each(|argument| argument.keep(&error));
        }
        Ok(())
    }

    /// The span of a launch, where launches are traced.
    fn span(&self, shape: &Checked) -> Option<trace::Span> {
        trace::span(|| {
            let mut arguments = vec![
                ("device", self.device.to_string()),
                ("target", self.artifact.target.to_owned()),
                ("grid", format!("{:?}", shape.grid)),
                ("block", format!("{:?}", shape.block)),
            ];
            if let Some(variant) = self.variant_name() {
                arguments.push(("variant", variant.to_owned()));
            }
            trace::About { category: "launch", name: self.name().into(), arguments }
        })
    }

    #[cold]
    fn wrong_device(&self, device: &Device, stream: StreamRef<'_>) -> Error {
        Error::WrongDevice {
            subject: format!("the kernel `{}`", self.name()),
            found: device.to_string(),
            expected: stream.describe().to_owned(),
        }
    }
}

impl fmt::Debug for LoadedKernel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("LoadedKernel")
            .field("name", &self.name())
            .field("target", &self.artifact.target)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
