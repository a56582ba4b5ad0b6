//! CUDA modules: PTX and cubins that the driver has loaded.

use std::{
    ffi::{CString, c_uint, c_void},
    ptr,
    sync::{Arc, Mutex},
};

use cudarc::driver::{CudaContext, result::module as raw, sys};
use kernelmill_artifact::ArtifactKind;

use super::{
    driver::{bind, named},
    launch::Function,
    panics,
};
use crate::{
    embedded::{EmbeddedArtifact, EmbeddedKernel},
    error::{Error, Result},
    hal,
};

/// The global that kernels which can panic write to.
const RECORD: &std::ffi::CStr = c"__kernelmill_panic_record";

/// Room for what the driver says about PTX that it refuses.
const LOG_BYTES: usize = 4096;

pub(super) struct Module {
    handle: sys::CUmodule,
    context: Arc<CudaContext>,
    pub(super) artifact: &'static EmbeddedArtifact,
    /// The address of the panic record; `None`: no kernel in it can panic.
    pub(super) record: Option<sys::CUdeviceptr>,
    /// Held while the record is read and cleared.
    pub(super) record_lock: Mutex<()>,
}

// SAFETY: the driver's handles can be used from every thread, with the context bound.
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Sync for Module {}

impl Module {
    /// Loads the binary into the context.
    pub(super) fn load(
        context: Arc<CudaContext>,
        artifact: &'static EmbeddedArtifact,
    ) -> Result<Self> {
        bind(&context)?;
        let handle = match artifact.kind {
            // The driver wants text that ends with a zero.
            ArtifactKind::Ptx => {
                let text = artifact.bytes.split(|&byte| byte == 0).next().unwrap_or_default();
                let text = CString::new(text).expect("the bytes before the first zero");
                load_image(text.as_ptr().cast(), artifact)?
            }
            _ => load_image(artifact.bytes.as_ptr().cast(), artifact)?,
        };
        // SAFETY: the module was loaded just now.
        let record = unsafe { raw::get_global(handle, RECORD.into()) };
        let record = match record {
            Ok((address, bytes)) if bytes >= 256 => Some(address),
            _ => None,
        };
        Ok(Self { handle, context, artifact, record, record_lock: Mutex::new(()) })
    }

    pub(super) fn context(&self) -> &Arc<CudaContext> {
        &self.context
    }
}

/// Loads an image; the error has what the driver's compiler says.
fn load_image(image: *const c_void, artifact: &EmbeddedArtifact) -> Result<sys::CUmodule> {
    use sys::CUjit_option_enum as J;
    let mut log = vec![0u8; LOG_BYTES];
    let mut options = [J::CU_JIT_ERROR_LOG_BUFFER, J::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    // The driver takes numbers in the place of pointers.
    let mut values: [*mut c_void; 2] =
        [log.as_mut_ptr().cast(), ptr::without_provenance_mut(LOG_BYTES)];
    let mut handle = ptr::null_mut();
    // SAFETY: the image is a whole cubin, or text that ends with a zero; the options have as many
    // values, and the log outlives the call.
    let loaded = unsafe {
        sys::cuModuleLoadDataEx(
            &mut handle,
            image,
            options.len() as c_uint,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    named(loaded.result(), "cuModuleLoadDataEx", || {
        let text = log.split(|&byte| byte == 0).next().unwrap_or_default();
        match String::from_utf8_lossy(text).trim() {
            "" => artifact.to_string(),
            said => format!("{artifact}: {said}"),
        }
    })?;
    Ok(handle)
}

impl Drop for Module {
    fn drop(&mut self) {
        // What still runs may be of this module. An error here is reported by cudarc's next call.
        match self.context.synchronize() {
            Ok(()) => panics::unload(self),
            Err(error) => self.context.record_err(Err::<(), _>(error)),
        }
        // SAFETY: loaded once, unloaded once, and no function of it is left.
        let unloaded = unsafe { raw::unload(self.handle) };
        self.context.record_err(unloaded);
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
        bind(&self.context)?;
        // SAFETY: the module is loaded.
        match unsafe { raw::get_function(self.handle, name) } {
            Ok(handle) => Ok(Box::new(Function::new(handle, self, kernel)?)),
            Err(error) if error.0 == sys::CUresult::CUDA_ERROR_NOT_FOUND => Err(missing),
            Err(error) => named(Err(error), "cuModuleGetFunction", || kernel.entry.to_owned()),
        }
    }
}
