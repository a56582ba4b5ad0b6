//! Events: points in the work of a stream, for other streams and the host to wait for.
//!
//! An event can be recorded again. Who waits, waits for what was recorded last when it began to.

use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use super::driver_context::{CpuStream, DriverContext};
use crate::{
    backend::gpu::{
        calls::{EventCalls, EventUse},
        recorded,
    },
    error::Result,
};

/// An event that the program asks for.
pub(super) type RecordedEvent = recorded::RecordedEvent<DriverContext>;

/// A reference to an event that is counted: made by `create_event`, and given up by `destroy_event`.
#[derive(Clone, Copy)]
pub(super) struct Handle(*const Event);

#[derive(Default)]
struct Event {
    points: Mutex<Points>,
    changed: Condvar,
}

/// How often the event was recorded, and how many of these points have been reached.
#[derive(Default)]
struct Points {
    recorded: u64,
    reached: u64,
    /// When the last of them was.
    time: Option<Instant>,
}

impl Event {
    fn lock(&self) -> MutexGuard<'_, Points> {
        self.points.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_for(&self, point: u64) {
        let mut points = self.lock();
        while points.reached < point {
            points = self.changed.wait(points).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn reach(&self, point: u64) {
        let mut points = self.lock();
        // A later point can have been reached on another stream.
        if point > points.reached {
            points.reached = point;
            points.time = Some(Instant::now());
        }
        self.changed.notify_all();
    }

    /// When the last point was reached; `None` where it was not.
    fn time(&self) -> Option<Instant> {
        let points = self.lock();
        points.time.filter(|_| points.reached == points.recorded)
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

    /// The event for a task, which keeps it.
    ///
    /// # Safety
    ///
    /// It is not destroyed.
    unsafe fn share(self) -> Arc<Event> {
        // SAFETY: promised; the pointer is that of `Arc::into_raw`.
        unsafe {
            Arc::increment_strong_count(self.0);
            Arc::from_raw(self.0)
        }
    }
}

impl EventCalls for DriverContext {
    type Event = Handle;

    fn create_event(&self, _how: EventUse) -> Result<Handle> {
        Ok(Handle(Arc::into_raw(Arc::<Event>::default())))
    }

    unsafe fn record_event(event: Handle, stream: &CpuStream, _how: EventUse) -> Result<()> {
        // SAFETY: promised.
        let event = unsafe { event.share() };
        let point = {
            let mut points = event.lock();
            points.recorded += 1;
            points.recorded
        };
        stream.push(Box::new(move || event.reach(point)));
        Ok(())
    }

    unsafe fn wait_event(event: Handle, stream: &CpuStream, _how: EventUse) -> Result<()> {
        // SAFETY: promised.
        let event = unsafe { event.share() };
        let point = event.lock().recorded;
        // The point is on a stream already, so that no two streams wait for each other.
        stream.push(Box::new(move || event.wait_for(point)));
        Ok(())
    }

    unsafe fn query_event(event: Handle, _how: EventUse) -> Result<bool> {
        // SAFETY: promised.
        let points = unsafe { event.event() }.lock();
        Ok(points.reached == points.recorded)
    }

    unsafe fn synchronize_event(event: Handle, _how: EventUse) -> Result<()> {
        // SAFETY: promised.
        let event = unsafe { event.event() };
        let point = event.lock().recorded;
        event.wait_for(point);
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
        // SAFETY: promised: this is the reference of `create_event`.
        drop(unsafe { Arc::from_raw(event.0) });
        Ok(())
    }
}
