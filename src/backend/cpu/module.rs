//! CPU modules: binaries that are linked into the application, so that there is nothing to load.

use std::sync::Arc;

use kernelmill_artifact::Signature;

use super::{
    launch::{Device, Function},
    strategy::strategy,
    variables,
};
use crate::{
    embedded::{CpuEntry, EmbeddedArtifact, EmbeddedKernel, check_version},
    error::{Error, Result},
    hal::{self, VariablePlace},
};

pub(super) struct Module {
    device: Arc<Device>,
}

impl Module {
    pub(super) fn new(device: Arc<Device>) -> Self {
        Self { device }
    }
}

/// The kernel `kernel` of a binary, for a device.
///
/// # Errors
///
/// [`Error::MissingKernel`], and [`Error::FormatVersion`] for one of another version.
pub(in crate::backend) fn function(
    device: &Arc<Device>,
    artifact: &'static EmbeddedArtifact,
    kernel: &'static EmbeddedKernel,
) -> Result<Function> {
    let missing = Error::MissingKernel {
        source_file: artifact.source,
        target: artifact.target,
        entry: kernel.entry,
    };
    let Some((compiled, code)) = kernel.cpu.and_then(CpuEntry::find) else { return Err(missing) };
    // SAFETY: it is a part of the application, or there while `code` is held.
    let compiled = unsafe { &*compiled };
    check_version(|| format!("the kernel `{}`", kernel.entry), compiled.version)?;
    let Some(strategy) = strategy(compiled) else { return Err(missing) };
    Ok(Function::new(strategy, (kernel, compiled, code), artifact, Arc::clone(device)))
}

impl hal::Module for Module {
    fn function(
        self: Arc<Self>,
        artifact: &'static EmbeddedArtifact,
        kernel: &'static EmbeddedKernel,
        _signature: &'static Signature,
    ) -> Result<Box<dyn hal::Function>> {
        Ok(Box::new(function(&self.device, artifact, kernel)?))
    }

    unsafe fn read_variable(
        &self,
        artifact: &'static EmbeddedArtifact,
        place: VariablePlace<'_>,
        target: *mut u8,
        bytes: usize,
    ) -> Result<bool> {
        // SAFETY: promised.
        unsafe { variables::read(artifact, place, target, bytes) }
    }

    unsafe fn write_variable(
        &self,
        artifact: &'static EmbeddedArtifact,
        place: VariablePlace<'_>,
        source: *const u8,
        bytes: usize,
    ) -> Result<bool> {
        // SAFETY: promised.
        unsafe { variables::write(artifact, place, source, bytes) }
    }
}
