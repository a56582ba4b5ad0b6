//! Loaded images: binaries that the driver has loaded.
//!
//! Needs a context that is open. An image is unloaded when its last reference is dropped, which is
//! after everything that runs of it was waited for.

use std::{
    ffi::CString,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use kernelmill_artifact::Relocation;

use super::{calls::Driver, launches::Launches};
use crate::{embedded::EmbeddedArtifact, error::Result, symbols};

pub(in crate::backend) struct Image<D: Driver> {
    pub(in crate::backend) handle: D::Module,
    pub(in crate::backend) driver: Arc<D>,
    pub(in crate::backend) artifact: &'static EmbeddedArtifact,
    /// Whether it stays loaded when this is dropped.
    stays: AtomicBool,
    launches: Launches<D>,
}

// SAFETY: the driver's handles can be used from every thread, with the context bound.
unsafe impl<D: Driver> Send for Image<D> {}
// SAFETY: as above.
unsafe impl<D: Driver> Sync for Image<D> {}

impl<D: Driver> Image<D> {
    /// Loads a binary of the artifact's kernels into the context.
    ///
    /// # Safety
    ///
    /// It is whole.
    pub(in crate::backend) unsafe fn load(
        driver: &Arc<D>,
        artifact: &'static EmbeddedArtifact,
        binary: &[u8],
    ) -> Result<Self> {
        let value = |it: &Relocation| symbols::value(*it, artifact).map(|value| (*it, value));
        let values: Vec<_> = artifact.relocations.iter().map(value).collect::<Result<_>>()?;
        driver.bind()?;
        // SAFETY: promised.
        let handle = unsafe { driver.load_module(artifact, binary)? };
        let (stays, launches) = (AtomicBool::new(false), Launches::default());
        let image = Self { handle, driver: Arc::clone(driver), artifact, stays, launches };
        values.iter().try_for_each(|(relocation, value)| image.relocate(relocation, value))?;
        Ok(image)
    }

    /// Gives a variable of it a value. One that a loader's binary does not have is not used there.
    fn relocate(&self, relocation: &Relocation, value: &[u8]) -> Result<()> {
        let Ok(name) = CString::new(relocation.variable()) else { return Ok(()) };
        // SAFETY: it is loaded.
        let Some((address, bytes)) = (unsafe { self.driver.global(self.handle, &name)? }) else {
            return Ok(());
        };
        let bytes = bytes.min(value.len());
        let stream = self.driver.default_stream();
        // SAFETY: the variable has as many bytes, and nothing runs that reads it; the value lives until the stream was
        // waited for.
        unsafe { D::upload(address, value.as_ptr(), bytes, stream)? };
        self.driver.wait_for(stream)
    }

    /// Notes that a kernel of it is about to be launched on a stream.
    pub(in crate::backend) fn note_launch(&self, stream: &Arc<D::Stream>) {
        self.launches.note(stream);
    }

    /// Whether streams that it was launched on have work.
    pub(in crate::backend) fn is_busy(&self) -> bool {
        self.driver.make_current().is_err() || self.launches.are_in_flight()
    }

    /// Keeps it loaded for ever: it is not known whether something of it still runs.
    pub(in crate::backend) fn keep_loaded(&self) {
        self.stays.store(true, Ordering::Relaxed);
    }
}

impl<D: Driver> Drop for Image<D> {
    fn drop(&mut self) {
        if self.stays.load(Ordering::Relaxed) {
            return;
        }
        // SAFETY: loaded once, unloaded once, and no function of it is left.
        let unload = || unsafe { D::unload_module(self.handle, || self.artifact.to_string()) };
        self.driver.release(unload);
    }
}
