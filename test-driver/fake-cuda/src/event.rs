//! Events: moments in a stream.
//!
//! CUDA Driver API, "Event Management".

use std::{
    sync::{Arc, Mutex, OnceLock},
    time::Instant,
};

use crate::base::abi::enumerators;
use crate::base::error::{Error, Result};
use crate::base::handle::{Handle, Registry, lock};
use crate::context::{self, CONTEXTS, Context};
use crate::graph::Captured;
use crate::stream::Point;
use crate::work::Work;

/// The events that exist.
pub(crate) static EVENTS: Registry<Event> = Registry::new(0x61);

enumerators! { u32: CUevent_flags
    BLOCKING_SYNC = CU_EVENT_BLOCKING_SYNC;
    DISABLE_TIMING = CU_EVENT_DISABLE_TIMING;
    INTERPROCESS = CU_EVENT_INTERPROCESS;
}
/// All flags that there are.
const FLAGS: u32 = BLOCKING_SYNC | DISABLE_TIMING | INTERPROCESS;

/// An event of a context.
pub(crate) struct Event {
    handle: Handle,
    /// Handle of its context.
    pub(crate) context: Handle,
    flags: u32,
    last: Mutex<Recorded>,
}

/// What an event was recorded as last.
#[derive(Clone, Default)]
enum Recorded {
    #[default]
    Never,
    InStream {
        point: Point,
        time: Arc<OnceLock<Instant>>,
    },
    InCapture(Captured),
}

impl Event {
    fn recorded(&self) -> Recorded {
        lock(&self.last).clone()
    }

    fn context(&self) -> Result<Arc<Context>> {
        CONTEXTS.get(self.context).map_err(|_| Error::CUDA_ERROR_CONTEXT_IS_DESTROYED)
    }

    /// When the event was reached.
    fn time(&self) -> Result<Instant> {
        match self.recorded() {
            _ if self.flags & DISABLE_TIMING != 0 => Err(Error::CUDA_ERROR_INVALID_HANDLE),
            Recorded::Never => Err(Error::CUDA_ERROR_INVALID_HANDLE),
            Recorded::InCapture(_) => Err(Error::CUDA_ERROR_CAPTURED_EVENT),
            Recorded::InStream { time, .. } => {
                time.get().copied().ok_or(Error::CUDA_ERROR_NOT_READY)
            }
        }
    }
}

/// A new event of the current context.
pub(crate) fn create(flags: u32) -> Result<Handle> {
    if flags & !FLAGS != 0 || flags & (INTERPROCESS | DISABLE_TIMING) == INTERPROCESS {
        return Err(Error::CUDA_ERROR_INVALID_VALUE);
    }
    let context = context::usable()?.handle;
    Ok(EVENTS.add(|handle| Event { handle, context, flags, last: Mutex::default() }).handle)
}

/// Destroys an event. Whoever waits for it still does.
pub(crate) fn destroy(handle: Handle) -> Result<()> {
    let event = EVENTS.remove(handle)?;
    event.context().map_or(Ok(()), |context| context.usable())
}

/// Records the moment that a stream is at.
pub(crate) fn record(handle: Handle, stream: Handle) -> Result<()> {
    let event = EVENTS.get(handle)?;
    let (context, stream) = context::resolve(stream)?;
    if event.context != context.handle {
        return Err(Error::CUDA_ERROR_INVALID_HANDLE);
    }
    if let Some(capture) = stream.capture() {
        *lock(&event.last) = Recorded::InCapture(capture.mark(&stream.slot)?);
        return Ok(());
    }
    context.refuse_legacy_capture(&stream)?;
    let time = Arc::new(OnceLock::new());
    // Locked first: who waits for the event sees this record or the one before.
    let mut last = lock(&event.last);
    let point = context.push(&stream, Vec::new(), Work::Stamp(Arc::clone(&time)))?;
    *last = Recorded::InStream { point, time };
    Ok(())
}

/// Lets a stream wait for what an event was recorded after.
pub(crate) fn wait(stream: Handle, handle: Handle) -> Result<()> {
    let (context, stream) = context::resolve(stream)?;
    let event = EVENTS.get(handle)?;
    match (event.recorded(), stream.capture()) {
        (Recorded::Never, _) => Ok(()),
        (Recorded::InCapture(captured), _) => captured.join(&stream.slot),
        (Recorded::InStream { .. }, Some(capture)) => {
            capture.invalidate();
            Err(Error::CUDA_ERROR_STREAM_CAPTURE_ISOLATION)
        }
        (Recorded::InStream { point, .. }, None) => {
            context.refuse_legacy_capture(&stream)?;
            stream.wait_for(point)
        }
    }
}

/// Whether an event was reached, and no error is known. A capture forbids to ask, whatever the event is of.
pub(crate) fn query(handle: Handle) -> Result<()> {
    let event = EVENTS.get(handle)?;
    let context = event.context()?;
    context::refuse_during_capture()?;
    match event.recorded() {
        Recorded::Never => context.usable(),
        Recorded::InCapture(_) => Err(Error::CUDA_ERROR_CAPTURED_EVENT),
        Recorded::InStream { point, .. } if point.query() => context.report(),
        Recorded::InStream { .. } => Err(Error::CUDA_ERROR_NOT_READY),
    }
}

/// Waits for an event.
pub(crate) fn synchronize(handle: Handle) -> Result<()> {
    let event = EVENTS.get(handle)?;
    let context = event.context()?;
    match event.recorded() {
        Recorded::Never => context.usable(),
        Recorded::InCapture(_) => Err(Error::CUDA_ERROR_CAPTURED_EVENT),
        Recorded::InStream { point, .. } => {
            point.wait();
            context.report()
        }
    }
}

/// Milliseconds from one event to another.
pub(crate) fn elapsed(start: Handle, end: Handle) -> Result<f32> {
    let (start, end) = (EVENTS.get(start)?, EVENTS.get(end)?);
    if start.context != end.context {
        return Err(Error::CUDA_ERROR_INVALID_HANDLE);
    }
    start.context()?.usable()?;
    let (start, end) = (start.time()?, end.time()?);
    let forward = end.saturating_duration_since(start).as_secs_f32();
    let backward = start.saturating_duration_since(end).as_secs_f32();
    Ok((forward - backward) * 1e3)
}
