//! Loaded images: PTX and cubins that the driver has loaded.
//!
//! Needs a context that is open. An image is unloaded when its last reference is dropped, which is
//! after everything that runs of it was waited for.

use std::{
    ffi::{CString, c_uint, c_void},
    ptr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use cudarc::driver::{CudaStream, result::module as raw, sys};

use super::{driver::named, driver_context::DriverContext, launches::Launches};
use crate::{embedded::EmbeddedArtifact, error::Result};

/// Room for what the driver says about PTX that it refuses.
const LOG_BYTES: usize = 4096;

/// How cubins and fat binaries begin. What begins in another way is PTX.
const BINARY_FORMATS: [&[u8]; 2] = [b"\x7fELF", &0xba55_ed50_u32.to_le_bytes()];

pub(super) struct Image {
    pub(super) handle: sys::CUmodule,
    pub(super) driver: Arc<DriverContext>,
    pub(super) artifact: &'static EmbeddedArtifact,
    /// Whether it stays loaded when this is dropped.
    stays: AtomicBool,
    launches: Launches,
}

// SAFETY: the driver's handles can be used from every thread, with the context bound.
unsafe impl Send for Image {}
// SAFETY: as above.
unsafe impl Sync for Image {}

impl Image {
    /// Loads a binary of the artifact's kernels into the context.
    ///
    /// # Safety
    ///
    /// It is whole.
    pub(super) unsafe fn load(
        driver: &Arc<DriverContext>,
        artifact: &'static EmbeddedArtifact,
        binary: &[u8],
    ) -> Result<Self> {
        driver.bind()?;
        let handle = if BINARY_FORMATS.iter().any(|first| binary.starts_with(first)) {
            load_image(binary.as_ptr().cast(), artifact)?
        } else {
            // PTX. The driver wants text that ends with a zero.
            let text = binary.split(|&byte| byte == 0).next().unwrap_or_default();
            let text = CString::new(text).expect("the bytes before the first zero");
            load_image(text.as_ptr().cast(), artifact)?
        };
        let (stays, launches) = (AtomicBool::new(false), Launches::default());
        Ok(Self { handle, driver: Arc::clone(driver), artifact, stays, launches })
    }

    /// Notes that a kernel of it is about to be launched on a stream.
    pub(super) fn note_launch(&self, stream: &Arc<CudaStream>) {
        self.launches.note(stream);
    }

    /// Whether streams that it was launched on have work.
    pub(super) fn is_busy(&self) -> bool {
        self.driver.make_current().is_err() || self.launches.are_in_flight()
    }

    /// Keeps it loaded for ever: it is not known whether something of it still runs.
    pub(super) fn keep_loaded(&self) {
        self.stays.store(true, Ordering::Relaxed);
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
        self.driver.release(unload);
    }
}
