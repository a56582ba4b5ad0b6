//! Events: points in the queue, which every stream comes to in its turn.

use std::sync::{Arc, Mutex, PoisonError};

use wgpu::{
    Buffer, BufferDescriptor, BufferUsages, QuerySetDescriptor, QueryType, SubmissionIndex,
};

use super::{
    driver::Gpu,
    driver_context::{DriverContext, WgpuStream},
    staging,
};
use crate::{
    backend::gpu::calls::{EventCalls, EventUse},
    error::Result,
};

/// An event on the heap: made by `create_event`, and freed by `destroy_event`.
#[derive(Clone, Copy)]
pub(super) struct Handle(*const Event);

struct Event {
    gpu: Arc<Gpu>,
    /// Where it was recorded last.
    last: Mutex<Option<Point>>,
}

/// A point in the queue.
#[derive(Clone)]
struct Point {
    submission: SubmissionIndex,
    /// Where the device writes the time, for events with one.
    time: Option<Buffer>,
}

/// The bytes of a time.
const TIME_BYTES: u64 = 8;

impl Handle {
    /// The event.
    ///
    /// # Safety
    ///
    /// It is not destroyed.
    unsafe fn event(&self) -> &Event {
        // SAFETY: promised.
        unsafe { &*self.0 }
    }
}

impl Event {
    fn point(&self) -> Option<Point> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn is_done(&self) -> Result<bool> {
        self.point().map_or(Ok(true), |point| self.gpu.is_done(&point.submission))
    }

    /// Nanoseconds since whenever the device counts from; `None` where it has no time.
    fn nanoseconds(&self) -> Result<Option<f64>> {
        let Some(Point { submission, time: Some(time) }) = self.point() else { return Ok(None) };
        let mut ticks = [0; TIME_BYTES as usize];
        staging::read_mapped(&self.gpu, (&time, Some(submission)), 0, &mut ticks)?;
        let period = f64::from(self.gpu.queue.get_timestamp_period());
        Ok(Some(u64::from_le_bytes(ticks) as f64 * period))
    }
}

/// Has the device write the time at which the queue comes here.
fn record_time(gpu: &Gpu, how: EventUse) -> Result<Point> {
    let subject = || how.subject();
    let (set, resolved, time) = gpu.scoped("create_query_set", subject, || {
        let description = QuerySetDescriptor { label: None, ty: QueryType::Timestamp, count: 1 };
        let buffer = |usage| {
            let size = TIME_BYTES;
            let description =
                BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
            gpu.device.create_buffer(&description)
        };
        let set = gpu.device.create_query_set(&description);
        let resolved = buffer(BufferUsages::QUERY_RESOLVE | BufferUsages::COPY_SRC);
        (set, resolved, buffer(BufferUsages::MAP_READ | BufferUsages::COPY_DST))
    })?;
    let submission = gpu.submit("write_timestamp", subject, |encoder| {
        encoder.write_timestamp(&set, 0);
        encoder.resolve_query_set(&set, 0..1, &resolved, 0);
        encoder.copy_buffer_to_buffer(&resolved, 0, &time, 0, TIME_BYTES);
    })?;
    Ok(Point { submission, time: Some(time) })
}

impl EventCalls for DriverContext {
    type Event = Handle;

    fn has_times(&self) -> bool {
        self.gpu.has_timestamps
    }

    fn create_event(&self, _how: EventUse) -> Result<Handle> {
        let event = Event { gpu: Arc::clone(&self.gpu), last: Mutex::default() };
        Ok(Handle(Box::into_raw(Box::new(event))))
    }

    unsafe fn record_event(event: Handle, stream: &WgpuStream, how: EventUse) -> Result<()> {
        // SAFETY: promised.
        let event = unsafe { event.event() };
        let point = if how == EventUse::Timed && event.gpu.has_timestamps {
            let point = record_time(&event.gpu, how)?;
            stream.note(point.submission.clone());
            Some(point)
        } else {
            stream.last().map(|submission| Point { submission, time: None })
        };
        *event.last.lock().unwrap_or_else(PoisonError::into_inner) = point;
        Ok(())
    }

    /// What a stream is given from now on comes after it in any case.
    unsafe fn wait_event(_event: Handle, _stream: &WgpuStream, _how: EventUse) -> Result<()> {
        Ok(())
    }

    unsafe fn query_event(event: Handle, _how: EventUse) -> Result<bool> {
        // SAFETY: promised.
        unsafe { event.event() }.is_done()
    }

    unsafe fn synchronize_event(event: Handle, _how: EventUse) -> Result<()> {
        // SAFETY: promised.
        let event = unsafe { event.event() };
        event.point().map_or(Ok(()), |point| event.gpu.wait(Some(point.submission)))
    }

    unsafe fn elapsed(earlier: Handle, later: Handle) -> Result<Option<f32>> {
        // SAFETY: promised.
        let (earlier, later) = unsafe { (earlier.event(), later.event()) };
        if !earlier.is_done()? || !later.is_done()? {
            return Ok(None);
        }
        match (earlier.nanoseconds()?, later.nanoseconds()?) {
            (Some(earlier), Some(later)) => Ok(Some(((later - earlier) / 1e6) as f32)),
            _ => {
                let message = "the device does not support timestamp queries".to_owned();
                Err(later.gpu.error("write_timestamp", "the time of an event".to_owned(), message))
            }
        }
    }

    unsafe fn destroy_event(event: Handle, _how: EventUse) -> Result<()> {
        // SAFETY: promised: it is of `create_event`.
        drop(unsafe { Box::from_raw(event.0.cast_mut()) });
        Ok(())
    }
}
