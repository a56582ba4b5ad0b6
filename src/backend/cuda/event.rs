//! CUDA events: moments of streams that other streams wait for.
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
}

// SAFETY: the driver's handles can be used from every thread, with the context current.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl Event {
    pub(super) fn new(driver: &Arc<DriverContext>) -> Result<Self> {
        let created = raw::create(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING);
        let handle = named(created, "cuEventCreate", subject)?;
        Ok(Self { handle, driver: Arc::clone(driver) })
    }

    /// Records all work that a stream has now. Streams that wait already go on waiting for what was
    /// recorded before.
    pub(super) fn record(&self, stream: &CudaStream) -> Result<()> {
        // SAFETY: the event and the stream are of one context of the driver.
        let recorded = unsafe { raw::record(self.handle, stream.cu_stream()) };
        named(recorded, "cuEventRecord", subject)
    }

    /// Lets a stream wait for what was recorded.
    pub(super) fn wait(&self, stream: &CudaStream) -> Result<()> {
        let flags = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
        // SAFETY: as above.
        let waits = unsafe { raw_stream::wait_event(stream.cu_stream(), self.handle, flags) };
        named(waits, "cuStreamWaitEvent", subject)
    }

    /// Whether what was recorded is done, as far as is known.
    pub(super) fn is_done(&self) -> bool {
        // SAFETY: the event is there.
        unsafe { raw::query(self.handle) }.is_ok()
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: created once, destroyed once. Streams that wait for it go on doing so.
        let destroyed = || named(unsafe { raw::destroy(self.handle) }, "cuEventDestroy", subject);
        self.driver.release(destroyed);
    }
}

/// What the driver's functions are called for here.
fn subject() -> String {
    "the order between streams".to_owned()
}
