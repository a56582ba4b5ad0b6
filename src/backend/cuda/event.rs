//! CUDA events: moments of streams that other streams wait for, and the host.
//!
//! [CUDA Driver API, "Event Management"](https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__EVENT.html).
//! Everything here needs the event's context to be current on the calling thread.

use std::sync::Arc;

use cudarc::driver::{
    CudaStream,
    result::{event as raw, stream as raw_stream},
    sys,
};

use super::{driver::named, driver_context::DriverContext};
use crate::error::Result;

/// An event of a context, destroyed with this.
pub(super) struct Event {
    handle: sys::CUevent,
    driver: Arc<DriverContext>,
    /// What the driver's functions are called for.
    subject: &'static str,
}

// SAFETY: the driver's handles can be used from every thread, with the context current.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl Event {
    /// An event for the order between streams, without a time.
    pub(super) fn new(driver: &Arc<DriverContext>) -> Result<Self> {
        let flags = sys::CUevent_flags::CU_EVENT_DISABLE_TIMING;
        Self::with_flags(driver, flags, "the order between streams")
    }

    /// An event with a time. The host waits for it without using the processor.
    pub(super) fn timed(driver: &Arc<DriverContext>) -> Result<Self> {
        Self::with_flags(driver, sys::CUevent_flags::CU_EVENT_BLOCKING_SYNC, "an event")
    }

    fn with_flags(
        driver: &Arc<DriverContext>,
        flags: sys::CUevent_flags,
        subject: &'static str,
    ) -> Result<Self> {
        let handle = named(raw::create(flags), "cuEventCreate", || subject.to_owned())?;
        Ok(Self { handle, driver: Arc::clone(driver), subject })
    }

    /// Records all work that a stream has now. Streams that wait already go on waiting for what was
    /// recorded before.
    pub(super) fn record(&self, stream: &CudaStream) -> Result<()> {
        // SAFETY: the event and the stream are of one context of the driver.
        let recorded = unsafe { raw::record(self.handle, stream.cu_stream()) };
        named(recorded, "cuEventRecord", || self.subject())
    }

    /// Lets a stream wait for what was recorded.
    pub(super) fn wait(&self, stream: &CudaStream) -> Result<()> {
        let flags = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
        // SAFETY: as above.
        let waits = unsafe { raw_stream::wait_event(stream.cu_stream(), self.handle, flags) };
        named(waits, "cuStreamWaitEvent", || self.subject())
    }

    /// Whether what was recorded is done, as far as is known.
    pub(super) fn is_done(&self) -> bool {
        // SAFETY: the event is there.
        unsafe { raw::query(self.handle) }.is_ok()
    }

    /// Whether what was recorded is done.
    pub(super) fn query(&self) -> Result<bool> {
        // SAFETY: the event is there.
        match unsafe { raw::query(self.handle) } {
            Err(error) if error.0 == sys::CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            asked => named(asked, "cuEventQuery", || self.subject()).map(|()| true),
        }
    }

    /// Waits for what was recorded.
    pub(super) fn synchronize(&self) -> Result<()> {
        // SAFETY: the event is there.
        let waited = unsafe { raw::synchronize(self.handle) };
        named(waited, "cuEventSynchronize", || self.subject())
    }

    /// Milliseconds since `earlier`, less than 0 where that came later; `None` where one of the two, which both
    /// have times, is not done.
    pub(super) fn milliseconds_since(&self, earlier: &Self) -> Result<Option<f32>> {
        // SAFETY: the events are there, recorded, and of one context of the driver.
        match unsafe { raw::elapsed(earlier.handle, self.handle) } {
            Err(error) if error.0 == sys::CUresult::CUDA_ERROR_NOT_READY => Ok(None),
            asked => named(asked, "cuEventElapsedTime", || self.subject()).map(Some),
        }
    }

    pub(super) fn driver(&self) -> &DriverContext {
        &self.driver
    }

    fn subject(&self) -> String {
        self.subject.to_owned()
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: created once, destroyed once. Streams that wait for it go on doing so.
        let destroyed = || unsafe { raw::destroy(self.handle) };
        let destroyed = || named(destroyed(), "cuEventDestroy", || self.subject());
        self.driver.release(destroyed);
    }
}
