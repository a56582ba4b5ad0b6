//! OpenCL events: what the library gives for each command, and points in the work of streams.
//!
//! The library makes an event with the command that it is of, while the shared part makes one first and
//! records it as often as it likes. So an event here is the place of the last marker that was recorded in it.

use std::{
    ptr,
    sync::{Arc, Mutex, PoisonError},
};

use cl3::command_queue::{enqueue_barrier_with_wait_list, enqueue_marker_with_wait_list};

use super::{
    driver::named,
    driver_context::{ClStream, DriverContext},
    loss::Loss,
    marker::Marker,
};
use crate::{
    backend::gpu::calls::{EventCalls, EventUse},
    error::Result,
};

/// A reference to an event that is counted: made by `create_event`, and given up by `destroy_event`.
#[derive(Clone, Copy)]
pub(super) struct Handle(*const Event);

/// What was recorded last.
struct Event {
    marker: Mutex<Option<Arc<Marker>>>,
    loss: Arc<Loss>,
}

impl Handle {
    /// What was recorded last.
    ///
    /// # Safety
    ///
    /// The event is not destroyed.
    unsafe fn marker(self) -> Option<Arc<Marker>> {
        // SAFETY: promised.
        let event = unsafe { &*self.0 };
        event.marker.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl EventCalls for DriverContext {
    type Event = Handle;

    fn create_event(&self, _how: EventUse) -> Result<Handle> {
        let event = Event { marker: Mutex::default(), loss: Arc::clone(&self.loss) };
        Ok(Handle(Arc::into_raw(Arc::new(event))))
    }

    unsafe fn record_event(event: Handle, stream: &ClStream, how: EventUse) -> Result<()> {
        // SAFETY: the queue is there, and the list is empty.
        let marker = unsafe { enqueue_marker_with_wait_list(stream.queue(), 0, ptr::null()) };
        let marker = stream.told(marker, "clEnqueueMarkerWithWaitList", || how.subject())?;
        // SAFETY: an event that was just made.
        let marker = unsafe { Marker::new(marker) };
        let shared = named(marker.share(), "clRetainEvent", || how.subject())?;
        // SAFETY: promised.
        let event = unsafe { &*event.0 };
        *event.marker.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(shared));
        // SAFETY: the reference goes to the stream.
        unsafe {
            stream.given(Ok(marker.into_raw()), "clEnqueueMarkerWithWaitList", || how.subject())
        }
    }

    unsafe fn wait_event(event: Handle, stream: &ClStream, how: EventUse) -> Result<()> {
        // SAFETY: promised.
        let Some(marker) = (unsafe { event.marker() }) else { return Ok(()) };
        // SAFETY: the queue and the event are there, and of one context.
        let barrier = unsafe { enqueue_barrier_with_wait_list(stream.queue(), 1, &marker.0) };
        // SAFETY: an event that was just made.
        unsafe { stream.given(barrier, "clEnqueueBarrierWithWaitList", || how.subject()) }
    }

    unsafe fn query_event(event: Handle, how: EventUse) -> Result<bool> {
        // SAFETY: promised.
        let Some(marker) = (unsafe { event.marker() }) else { return Ok(true) };
        marker.is_complete(|| how.subject())
    }

    unsafe fn synchronize_event(event: Handle, how: EventUse) -> Result<()> {
        // SAFETY: promised.
        let (marker, loss) = unsafe { (event.marker(), &(*event.0).loss) };
        marker.map_or(Ok(()), |marker| marker.wait(loss, || how.subject()))
    }

    unsafe fn elapsed(earlier: Handle, later: Handle) -> Result<Option<f32>> {
        // SAFETY: promised.
        let markers = unsafe { (earlier.marker(), later.marker()) };
        let (Some(earlier), Some(later)) = markers else { return Ok(None) };
        let subject = || EventUse::Timed.subject();
        for marker in [&earlier, &later] {
            if !marker.is_complete(subject)? {
                return Ok(None);
            }
        }
        let end = |marker: &Marker| named(marker.end(), "clGetEventProfilingInfo", subject);
        let (earlier, later) = (end(&earlier)?, end(&later)?);
        Ok(Some((later as f64 - earlier as f64) as f32 / 1e6))
    }

    unsafe fn destroy_event(event: Handle, _how: EventUse) -> Result<()> {
        // SAFETY: promised: this is the reference of `create_event`.
        drop(unsafe { Arc::from_raw(event.0) });
        Ok(())
    }
}
