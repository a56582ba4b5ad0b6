//! The kernels of a package, loaded on a device.

use std::sync::Arc;

use kernelmill_artifact::FORMAT_VERSION;

use crate::{
    Choice, Device, EmbeddedArtifact, Error, NoBinary, Result,
    cache::{ModuleHold, module_cache},
    embedded::KernelSet,
    kernel::CompiledKernel,
};

/// The kernels of a [`KernelSet`], loaded on one device: what a generated `Kernels` is made of.
///
/// Each module stays loaded while this lives; two of them on one device share their modules.
#[derive(Debug)]
pub struct Loaded {
    // Dropped first: functions belong to modules.
    kernels: Vec<Option<CompiledKernel>>,
    _modules: Vec<ModuleHold>,
    choices: Vec<Choice>,
    device: Device,
}

impl Loaded {
    /// Chooses the best binary of every source for `device` and loads it, unless it is loaded.
    ///
    /// # Errors
    ///
    /// [`Error::FormatVersion`] for bindings of another version, [`Error::NoBinary`] for a source
    /// with no binary for this device, and what loading reports.
    pub fn new(device: &Device, set: &'static KernelSet) -> Result<Self> {
        check_version(|| format!("package `{}`", set.package), set.format_version)?;
        let mut kernels: Vec<_> = set.signatures.iter().map(|_| None).collect();
        let (mut modules, mut choices) = (Vec::new(), Vec::new());
        for (source, artifacts) in by_source(set.artifacts) {
            let choice = Choice::make(device, source, &artifacts)?;
            let artifact = choice.artifact;
            let module = module_cache().hold(device, artifact)?;
            for kernel in artifact.kernels {
                let name: &'static str = &set.signatures[kernel.signature].name;
                let loaded = Arc::clone(module.module());
                kernels[kernel.signature] =
                    Some(CompiledKernel::new(name, artifact, kernel, loaded)?);
            }
            modules.push(module);
            choices.push(choice);
        }
        if let Some(missing) = kernels.iter().position(Option::is_none) {
            let source = set.signatures[missing].file.to_string();
            let device = device.to_string();
            return Err(NoBinary { source, device, rejected: Vec::new() }.into());
        }
        Ok(Self { kernels, _modules: modules, choices, device: device.clone() })
    }

    /// The choice for every source, in the order of the set.
    #[must_use]
    pub fn choices(&self) -> &[Choice] {
        &self.choices
    }

    /// The device that the kernels are loaded on.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The kernel with this index among the signatures.
    pub(crate) fn kernel(&self, signature: usize) -> &CompiledKernel {
        self.kernels[signature].as_ref().expect("`new` refuses a set with a kernel missing")
    }
}

/// The artifacts of each source, sources in the order of their first artifact.
fn by_source(
    artifacts: &'static [EmbeddedArtifact],
) -> Vec<(&'static str, Vec<&'static EmbeddedArtifact>)> {
    let mut sources: Vec<(&'static str, Vec<_>)> = Vec::new();
    for artifact in artifacts {
        match sources.iter_mut().find(|(source, _)| *source == artifact.source) {
            Some((_, group)) => group.push(artifact),
            None => sources.push((artifact.source, vec![artifact])),
        }
    }
    sources
}

/// Compares an interface version with this crate's.
pub(crate) fn check_version(subject: impl FnOnce() -> String, found: u32) -> Result<()> {
    if found == FORMAT_VERSION {
        return Ok(());
    }
    Err(Error::FormatVersion { subject: subject(), found, expected: FORMAT_VERSION })
}
