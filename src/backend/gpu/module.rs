//! GPU modules: a loaded image, and its kernels.

use std::{ffi::CString, sync::Arc};

use kernelmill_artifact::Signature;

use super::{calls::Driver, image::Image, shared::Shared};
use crate::{
    backend::cpu,
    embedded::{EmbeddedArtifact, EmbeddedKernel},
    error::{Error, Result},
    hal::{self, VariablePlace},
};

/// A driver that finds kernels in its modules.
pub(in crate::backend) trait Kernels: Driver {
    /// The kernel `kernel` of an image, which callers know by `signature`; `None` where the image has none of that name.
    fn function(
        shared: &Arc<Shared<Self>>,
        image: &Arc<Image<Self>>,
        kernel: &'static EmbeddedKernel,
        signature: &'static Signature,
        name: CString,
    ) -> Result<Option<Box<dyn hal::Function>>>;
}

pub(in crate::backend) struct Module<D: Kernels> {
    image: Arc<Image<D>>,
    shared: Arc<Shared<D>>,
}

impl<D: Kernels> Module<D> {
    /// Loads a binary of these kernels into the context.
    ///
    /// # Safety
    ///
    /// The binary is whole, and has the kernels of `artifact`.
    pub(in crate::backend) unsafe fn load(
        shared: &Arc<Shared<D>>,
        artifact: &'static EmbeddedArtifact,
        binary: &[u8],
    ) -> Result<Self> {
        // SAFETY: promised.
        let image = unsafe { Image::load(&shared.driver, artifact, binary)? };
        Ok(Self { image: Arc::new(image), shared: Arc::clone(shared) })
    }
}

impl<D: Kernels> Module<D> {
    /// Waits for all that the device was given, so that nothing uses a variable.
    fn wait(&self) -> Result<()> {
        self.shared.bind()?;
        self.shared.synchronize()
    }

    /// The address of a place in a variable; `None` where the image has no variable of that name and size.
    fn address(&self, place: VariablePlace<'_>) -> Result<Option<u64>> {
        let Ok(name) = CString::new(place.symbol) else { return Ok(None) };
        // SAFETY: it is loaded.
        let found = unsafe { self.shared.driver.global(self.image.handle, &name)? };
        let found = found.filter(|(_, bytes)| *bytes == place.size);
        Ok(found.map(|(address, _)| address + place.offset as u64))
    }
}

impl<D: Kernels> Drop for Module<D> {
    fn drop(&mut self) {
        // What still runs may be of this module.
        match self.shared.synchronize().or_else(|_| self.shared.synchronize()) {
            Ok(()) => self.shared.panics.unload(&self.image),
            Err(error) => {
                if !self.shared.driver.is_lost() {
                    self.image.keep_loaded();
                    self.shared.panics.lose();
                }
                self.shared.keep(Err(error));
            }
        }
    }
}

impl<D: Kernels> hal::Module for Module<D> {
    fn function(
        self: Arc<Self>,
        artifact: &'static EmbeddedArtifact,
        kernel: &'static EmbeddedKernel,
        signature: &'static Signature,
    ) -> Result<Box<dyn hal::Function>> {
        let missing = Error::MissingKernel {
            source_file: artifact.source,
            target: artifact.target,
            entry: kernel.entry,
        };
        let Ok(name) = CString::new(kernel.entry) else { return Err(missing) };
        D::function(&self.shared, &self.image, kernel, signature, name)?.ok_or(missing)
    }

    unsafe fn read_variable(
        &self,
        artifact: &'static EmbeddedArtifact,
        place: VariablePlace<'_>,
        target: *mut u8,
        bytes: usize,
    ) -> Result<bool> {
        self.wait()?;
        if artifact.variable(place.symbol).is_some() {
            // SAFETY: promised.
            return unsafe { cpu::variables::read(artifact, place, target, bytes) };
        }
        let Some(address) = self.address(place)? else { return Ok(false) };
        let stream = self.shared.driver.default_stream();
        // SAFETY: the bytes are within the variable, and the target lives until the stream was waited for.
        unsafe { D::download(target, address, bytes, stream)? };
        self.shared.driver.wait_for(stream)?;
        Ok(true)
    }

    unsafe fn write_variable(
        &self,
        artifact: &'static EmbeddedArtifact,
        place: VariablePlace<'_>,
        source: *const u8,
        bytes: usize,
    ) -> Result<bool> {
        self.wait()?;
        if artifact.variable(place.symbol).is_some() {
            // SAFETY: promised.
            return unsafe { cpu::variables::write(artifact, place, source, bytes) };
        }
        let Some(address) = self.address(place)? else { return Ok(false) };
        let stream = self.shared.driver.default_stream();
        // SAFETY: the bytes are within the variable, and the source lives until the stream was waited for.
        unsafe { D::upload(address, source, bytes, stream)? };
        self.shared.driver.wait_for(stream)?;
        Ok(true)
    }

    fn is_busy(&self) -> bool {
        self.image.is_busy()
    }
}
