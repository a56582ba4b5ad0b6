//! Loaded images: PTX and cubins that the driver has loaded, with the record of their panics.
//!
//! Needs a context that is open. An image is unloaded when its last reference is dropped, which is
//! after everything that runs of it was waited for.

use std::{
    ffi::{CString, c_uint, c_void},
    mem::MaybeUninit,
    ptr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use cudarc::driver::{
    CudaStream,
    result::{self, module as raw},
    sys,
};
use kernelmill_artifact::{ArtifactKind, PanicRecord};

use super::{driver::named, driver_context::DriverContext};
use crate::{
    embedded::EmbeddedArtifact,
    error::{KernelPanic, Result},
};

/// The global that kernels which can panic write to.
const RECORD: &std::ffi::CStr = c"__kernelmill_panic_record";

/// Room for what the driver says about PTX that it refuses.
const LOG_BYTES: usize = 4096;

pub(super) struct Image {
    pub(super) handle: sys::CUmodule,
    pub(super) driver: Arc<DriverContext>,
    artifact: &'static EmbeddedArtifact,
    /// The address of the panic record; `None`: no kernel in it can panic.
    record: Option<sys::CUdeviceptr>,
    /// Held while the record is read and cleared.
    record_lock: Mutex<()>,
    /// Whether it stays loaded when this is dropped.
    stays: AtomicBool,
}

// SAFETY: the driver's handles can be used from every thread, with the context bound.
unsafe impl Send for Image {}
// SAFETY: as above.
unsafe impl Sync for Image {}

impl Image {
    /// Loads the binary into the context.
    pub(super) fn load(
        driver: &Arc<DriverContext>,
        artifact: &'static EmbeddedArtifact,
    ) -> Result<Self> {
        driver.bind()?;
        let handle = match artifact.kind {
            // The driver wants text that ends with a zero.
            ArtifactKind::Ptx => {
                let text = artifact.bytes.split(|&byte| byte == 0).next().unwrap_or_default();
                let text = CString::new(text).expect("the bytes before the first zero");
                load_image(text.as_ptr().cast(), artifact)?
            }
            _ => load_image(artifact.bytes.as_ptr().cast(), artifact)?,
        };
        let mut image = Self {
            handle,
            driver: Arc::clone(driver),
            artifact,
            record: None,
            record_lock: Mutex::new(()),
            stays: AtomicBool::new(false),
        };
        image.record = image.find_record()?;
        Ok(image)
    }

    /// The panic record. That there is none is known only where the driver says so.
    fn find_record(&self) -> Result<Option<sys::CUdeviceptr>> {
        // SAFETY: the module is loaded.
        match unsafe { raw::get_global(self.handle, RECORD.into()) } {
            Ok((address, bytes)) if bytes >= size_of::<PanicRecord>() => Ok(Some(address)),
            Ok(_) => Ok(None),
            Err(error) if error.0 == sys::CUresult::CUDA_ERROR_NOT_FOUND => Ok(None),
            Err(error) => named(Err(error), "cuModuleGetGlobal", || {
                format!("the panic record of {}", self.artifact)
            }),
        }
    }

    /// Keeps it loaded for ever: it is not known whether something of it still runs.
    pub(super) fn keep_loaded(&self) {
        self.stays.store(true, Ordering::Relaxed);
    }

    /// Whether a kernel in it can panic.
    pub(super) fn can_panic(&self) -> bool {
        self.record.is_some()
    }

    /// The panic in its record, which is cleared then.
    pub(super) fn take_panic(&self, stream: &CudaStream) -> Result<Option<KernelPanic>> {
        self.driver.bind()?;
        self.read_panic(stream)
    }

    /// As [`Image::take_panic`], where the image's context is current on this thread.
    pub(super) fn read_panic(&self, stream: &CudaStream) -> Result<Option<KernelPanic>> {
        let Some(address) = self.record else { return Ok(None) };
        let _alone = self.record_lock.lock().unwrap_or_else(PoisonError::into_inner);
        let subject = || format!("the panic record of {}", self.artifact);
        let mut record = MaybeUninit::<PanicRecord>::uninit();
        // SAFETY: the record has that many bytes on both sides, and is not used before the wait.
        let copied = unsafe {
            let (target, bytes) = (record.as_mut_ptr().cast(), size_of::<PanicRecord>());
            sys::cuMemcpyDtoHAsync_v2(target, address, bytes, stream.cu_stream())
        };
        named(copied.result(), "cuMemcpyDtoHAsync", subject)?;
        // SAFETY: the stream is there.
        let waited = unsafe { result::stream::synchronize(stream.cu_stream()) };
        named(waited, "cuStreamSynchronize", subject)?;
        // SAFETY: the copy is done, and every bit pattern is a record.
        let record = unsafe { record.assume_init() };
        // 1: a kernel on another stream is writing it, which will be waited for in its turn.
        if record.state != 2 {
            return Ok(None);
        }
        // The panic is known: a failure to clear the record is told later, and the panic then too.
        self.driver.keep(self.clear(address, stream));
        Ok(Some(self.artifact.panic(&record)))
    }

    /// Makes room for the next panic.
    fn clear(&self, address: sys::CUdeviceptr, stream: &CudaStream) -> Result<()> {
        let subject = || format!("the panic record of {}", self.artifact);
        // Only the state: a kernel that claims the record after that may already write the rest.
        // SAFETY: the record has these bytes.
        let cleared = unsafe { result::memset_d8_async(address, 0, 4, stream.cu_stream()) };
        named(cleared, "cuMemsetD8Async", subject)?;
        // SAFETY: the stream is there.
        let waited = unsafe { result::stream::synchronize(stream.cu_stream()) };
        named(waited, "cuStreamSynchronize", subject)
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

impl Drop for Image {
    fn drop(&mut self) {
        if self.stays.load(Ordering::Relaxed) {
            return;
        }
        // SAFETY: loaded once, unloaded once, and no function of it is left.
        let unload = || unsafe { raw::unload(self.handle) };
        let unload = || named(unload(), "cuModuleUnload", || self.artifact.to_string());
        self.driver.keep(self.driver.make_current().and_then(|()| unload()));
    }
}
