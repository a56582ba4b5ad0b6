//! CUDA modules: a loaded image, and its kernels.

use std::{ffi::CString, sync::Arc};

use cudarc::driver::{result::module as raw, sys};

use super::{
    driver::{bind, named},
    image::Image,
    launch::Function,
    shared::Shared,
};
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
    /// Loads the binary into the context.
    pub(super) fn load(shared: &Arc<Shared>, artifact: &'static EmbeddedArtifact) -> Result<Self> {
        let image = Arc::new(Image::load(Arc::clone(&shared.cuda), artifact)?);
        Ok(Self { image, shared: Arc::clone(shared) })
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // What still runs may be of this module. An error here is reported by cudarc's next call.
        match self.shared.cuda.synchronize() {
            Ok(()) => self.shared.panics.unload(&self.image),
            Err(error) => self.shared.cuda.record_err(Err::<(), _>(error)),
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
        bind(&self.shared.cuda)?;
        // SAFETY: the module is loaded.
        match unsafe { raw::get_function(self.image.handle, name) } {
            Ok(handle) => Ok(Box::new(Function::new(handle, &self.image, &self.shared, kernel)?)),
            Err(error) if error.0 == sys::CUresult::CUDA_ERROR_NOT_FOUND => Err(missing),
            Err(error) => named(Err(error), "cuModuleGetFunction", || kernel.entry.to_owned()),
        }
    }
}
