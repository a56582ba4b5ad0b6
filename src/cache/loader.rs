//! Loaders: a program's own way to get the binary of a module.
//!
//! For what a program keeps between its runs: PTX that a driver has compiled, or binaries that are not in
//! the application.

use std::{fmt, sync::Arc};

use crate::{
    embedded::{EmbeddedArtifact, HeldCode},
    error::{Error, Result},
    hal::{Context, Module},
    properties::{Architecture, Backend},
};

/// A program's own loader of modules: see [`ModuleCache::set_loader`](crate::ModuleCache::set_loader).
pub type Loader = Arc<dyn Fn(&LoadRequest<'_>) -> LoaderResult + Send + Sync>;

/// What a [`Loader`] returns: the binary to load, or `None` for the embedded one.
pub type LoaderResult =
    std::result::Result<Option<Vec<u8>>, Box<dyn std::error::Error + Send + Sync>>;

/// A module that is about to be loaded.
#[derive(Clone, Copy)]
pub struct LoadRequest<'a> {
    context: &'a dyn Context,
    artifact: &'static EmbeddedArtifact,
    /// What was compiled at run time; `None` for the embedded binary.
    compiled: Option<&'a [u8]>,
}

impl<'a> LoadRequest<'a> {
    pub(super) fn new(
        context: &'a dyn Context,
        artifact: &'static EmbeddedArtifact,
        code: Option<&'a dyn HeldCode>,
    ) -> Self {
        let compiled = code.map(HeldCode::image).filter(|image| !image.is_empty());
        Self { context, artifact, compiled }
    }

    /// The description of the binary that was chosen for the device. Its fingerprint is that of all that went into it.
    #[must_use]
    pub fn artifact(&self) -> &'static EmbeddedArtifact {
        self.artifact
    }

    /// The bytes that are loaded unless the loader gives others: those of the embedded binary, or what was compiled at run
    /// time.
    #[must_use]
    pub fn binary(&self) -> &'a [u8] {
        self.compiled.unwrap_or(self.artifact.bytes)
    }

    /// How the device is driven.
    #[must_use]
    pub fn backend(&self) -> Backend {
        self.context.backend()
    }

    /// The name of the device.
    #[must_use]
    pub fn device_name(&self) -> &'a str {
        self.context.name()
    }

    /// What the device can run.
    #[must_use]
    pub fn architecture(&self) -> &'a Architecture {
        self.context.architecture()
    }

    /// The module and the bytes of its binary: what `loader` gives, or else what was compiled at run time, or the embedded
    /// binary.
    ///
    /// # Safety
    ///
    /// What the loader returns is as [`ModuleCache::set_loader`](crate::ModuleCache::set_loader) asks for.
    pub(super) unsafe fn load(self, loader: Option<&Loader>) -> Result<(Arc<dyn Module>, u64)> {
        let Self { context, artifact, compiled } = self;
        let image = loader.map_or(Ok(None), |loader| loader(&self));
        let image = image.map_err(|source| self.failure(source))?;
        let Some(image) = image.as_deref().or(compiled) else {
            return Ok((context.load(artifact)?, artifact.bytes.len() as u64));
        };
        // SAFETY: promised of the loader; what was compiled is whole.
        match unsafe { context.load_image(artifact, image)? } {
            Some(module) => Ok((module, image.len() as u64)),
            None => Err(self.failure("this device has no binaries to load".into())),
        }
    }

    fn failure(&self, source: Box<dyn std::error::Error + Send + Sync>) -> Error {
        Error::Loader { artifact: self.artifact.to_string(), source }
    }
}

impl fmt::Debug for LoadRequest<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("LoadRequest")
            .field("device", &self.device_name())
            .field("artifact", &self.artifact.to_string())
            .finish_non_exhaustive()
    }
}
