//! GPU modules: a loaded image, and its kernels.

use std::{ffi::CString, sync::Arc};

use kernelmill_artifact::Signature;

use super::{calls::Driver, image::Image, shared::Shared};
use crate::{
    embedded::{EmbeddedArtifact, EmbeddedKernel},
    error::{Error, Result},
    hal,
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

impl<D: Kernels> Drop for Module<D> {
    fn drop(&mut self) {
        // What still runs may be of this module.
        match self.shared.synchronize().or_else(|_| self.shared.synchronize()) {
            Ok(()) => self.shared.panics.unload(&self.image),
            Err(error) => {
                self.image.keep_loaded();
                self.shared.panics.lose();
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

    fn is_busy(&self) -> bool {
        self.image.is_busy()
    }
}
