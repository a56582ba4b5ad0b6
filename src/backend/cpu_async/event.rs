//! Events: points in the work of a stream, for other streams and the host to wait for.
//!
//! An event can be recorded again. Who waits, waits for what was recorded last when it began to, as on a GPU.

use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use super::driver_context::{CpuStream, DriverContext};
use crate::{
    backend::gpu::calls::{EventCalls, EventUse},
    error::Result,
};

/// An event on the heap: made by `create_event`, and freed by `destroy_event`.
#[derive(Clone, Copy)]
pub(super) struct Handle(*const Event);

#[derive(Default)]
struct Event {
    /// Where it was recorded last.
    last: Mutex<Option<Arc<Point>>>,
}

/// A point in the work of a stream. Who waits keeps the point itself, so that it waits for this one, also where
/// the event is recorded again elsewhere.
#[derive(Default)]
struct Point {
    /// When the stream came to it.
    reached: Mutex<Option<Instant>>,
    changed: Condvar,
}

impl Event {
    fn lock(&self) -> MutexGuard<'_, Option<Arc<Point>>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn point(&self) -> Option<Arc<Point>> {
        self.lock().clone()
    }

    /// When the last point was reached; `None` where it was not.
    fn time(&self) -> Option<Instant> {
        *self.point()?.lock()
    }
}

impl Point {
    fn lock(&self) -> MutexGuard<'_, Option<Instant>> {
        self.reached.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait(&self) {
        let mut reached = self.lock();
        while reached.is_none() {
            reached = self.changed.wait(reached).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn reach(&self) {
        *self.lock() = Some(Instant::now());
        self.changed.notify_all();
    }
}

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

impl EventCalls for DriverContext {
    type Event = Handle;

    fn create_event(&self, _how: EventUse) -> Result<Handle> {
        Ok(Handle(Box::into_raw(Box::<Event>::default())))
    }

    unsafe fn record_event(event: Handle, stream: &CpuStream, _how: EventUse) -> Result<()> {
        let point = Arc::<Point>::default();
        // SAFETY: promised.
        let mut last = unsafe { event.event() }.lock();
        *last = Some(Arc::clone(&point));
        // Before anybody sees the point: no two streams wait for each other where those that wait come later.
        stream.push(Box::new(move || point.reach()));
        Ok(())
    }

    unsafe fn wait_event(event: Handle, stream: &CpuStream, _how: EventUse) -> Result<()> {
        // SAFETY: promised.
        if let Some(point) = unsafe { event.event() }.point() {
            stream.push(Box::new(move || point.wait()));
        }
        Ok(())
    }

    unsafe fn query_event(event: Handle, _how: EventUse) -> Result<bool> {
        // SAFETY: promised.
        let point = unsafe { event.event() }.point();
        Ok(point.is_none_or(|point| point.lock().is_some()))
    }

    unsafe fn synchronize_event(event: Handle, _how: EventUse) -> Result<()> {
        // SAFETY: promised.
        if let Some(point) = unsafe { event.event() }.point() {
            point.wait();
        }
        Ok(())
    }

    unsafe fn elapsed(earlier: Handle, later: Handle) -> Result<Option<f32>> {
        // SAFETY: promised.
        let (earlier, later) = unsafe { (earlier.event().time(), later.event().time()) };
        let (Some(earlier), Some(later)) = (earlier, later) else { return Ok(None) };
        let after = later.saturating_duration_since(earlier).as_secs_f32();
        let before = earlier.saturating_duration_since(later).as_secs_f32();
        Ok(Some((after - before) * 1e3))
    }

    unsafe fn destroy_event(event: Handle, _how: EventUse) -> Result<()> {
        // SAFETY: promised: it is of `create_event`, and what waits has the point alone.
        drop(unsafe { Box::from_raw(event.0.cast_mut()) });
        Ok(())
    }
}
