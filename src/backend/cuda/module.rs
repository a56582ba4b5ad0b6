//! CUDA modules: a loaded image, and its kernels.

use std::{ffi::CString, sync::Arc};

use cudarc::driver::{result::module as raw, sys};

use super::{driver::named, image::Image, launch::Function, shared::Shared};
use crate::{
    embedded::{EmbeddedArtifact, EmbeddedKernel},
    error::{Error, Result},
    hal,
};

pub(super) struct Module {
    image: Arc<Image>,
    shared: Arc<Shared>,
}

impl Module {
    /// Loads a binary of these kernels into the context.
    ///
    /// # Safety
    ///
    /// The binary is whole, and has the kernels of `artifact`.
    pub(super) unsafe fn load(
        shared: &Arc<Shared>,
        artifact: &'static EmbeddedArtifact,
        binary: &[u8],
    ) -> Result<Self> {
        // SAFETY: promised.
        let image = unsafe { Image::load(&shared.driver, artifact, binary)? };
        Ok(Self { image: Arc::new(image), shared: Arc::clone(shared) })
    }
}

impl Drop for Module {
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

impl hal::Module for Module {
    fn function(
        self: Arc<Self>,
        artifact: &'static EmbeddedArtifact,
        kernel: &'static EmbeddedKernel,
    ) -> Result<Box<dyn hal::Function>> {
        let missing = Error::MissingKernel {
            source_file: artifact.source,
            target: artifact.target,
            entry: kernel.entry,
        };
        let Ok(name) = CString::new(kernel.entry) else { return Err(missing) };
        self.shared.bind()?;
        // SAFETY: the module is loaded.
        match unsafe { raw::get_function(self.image.handle, name) } {
            Ok(handle) => Ok(Box::new(Function::new(handle, &self.image, &self.shared, kernel)?)),
            Err(error) if error.0 == sys::CUresult::CUDA_ERROR_NOT_FOUND => Err(missing),
            Err(error) => named(Err(error), "cuModuleGetFunction", || kernel.entry.to_owned()),
        }
    }

    fn is_busy(&self) -> bool {
        self.image.is_busy()
    }
}
