//! GPU events: moments of streams that other streams wait for, and the host.
//!
//! Everything here needs the event's context to be current on the calling thread.

use std::sync::Arc;

use super::calls::{Driver, EventUse};
use crate::error::Result;

/// An event of a context, destroyed with this.
pub(in crate::backend) struct Event<D: Driver> {
    handle: D::Event,
    driver: Arc<D>,
    how: EventUse,
}

// SAFETY: the driver's handles can be used from every thread, with the context current.
unsafe impl<D: Driver> Send for Event<D> {}
// SAFETY: as above.
unsafe impl<D: Driver> Sync for Event<D> {}

impl<D: Driver> Event<D> {
    /// An event for the order between streams, without a time.
    pub(super) fn new(driver: &Arc<D>) -> Result<Self> {
        Self::for_use(driver, EventUse::Order)
    }

    /// An event with a time. The host waits for it without using the processor.
    pub(super) fn timed(driver: &Arc<D>) -> Result<Self> {
        Self::for_use(driver, EventUse::Timed)
    }

    fn for_use(driver: &Arc<D>, how: EventUse) -> Result<Self> {
        Ok(Self { handle: driver.create_event(how)?, driver: Arc::clone(driver), how })
    }

    /// Records all work that a stream has now. Streams that wait already go on waiting for what was
    /// recorded before.
    pub(super) fn record(&self, stream: &D::Stream) -> Result<()> {
        // SAFETY: the event is there; the stream is of its context.
        unsafe { D::record_event(self.handle, stream, self.how) }
    }

    /// Lets a stream wait for what was recorded.
    pub(super) fn wait(&self, stream: &D::Stream) -> Result<()> {
        // SAFETY: as above.
        unsafe { D::wait_event(self.handle, stream, self.how) }
    }

    /// Whether what was recorded is done, as far as is known.
    pub(super) fn is_done(&self) -> bool {
        self.query().is_ok_and(|is_done| is_done)
    }

    /// Whether what was recorded is done.
    pub(super) fn query(&self) -> Result<bool> {
        // SAFETY: the event is there.
        unsafe { D::query_event(self.handle, self.how) }
    }

    /// Waits for what was recorded.
    pub(super) fn synchronize(&self) -> Result<()> {
        // SAFETY: the event is there.
        unsafe { D::synchronize_event(self.handle, self.how) }
    }

    /// Milliseconds since `earlier`, less than 0 where that came later; `None` where one of the two, which both
    /// have times, is not done.
    pub(super) fn milliseconds_since(&self, earlier: &Self) -> Result<Option<f32>> {
        // SAFETY: the events are there, recorded, and of one context of the driver.
        unsafe { D::elapsed(earlier.handle, self.handle) }
    }

    pub(super) fn driver(&self) -> &D {
        &self.driver
    }
}

impl<D: Driver> Drop for Event<D> {
    fn drop(&mut self) {
        // SAFETY: created once, destroyed once. Streams that wait for it go on doing so.
        self.driver.release(|| unsafe { D::destroy_event(self.handle, self.how) });
    }
}
