//! Streams, and the order between them.

mod queue;

use std::sync::{Arc, Mutex, Weak};

pub(crate) use queue::{Point, Queue};

use crate::{
    context::{self, Context},
    error::{Error, Result},
    graph::Capture,
    handle::{Handle, Registry, lock},
    work::Work,
};

/// Streams that were created, not the default ones.
pub(crate) static STREAMS: Registry<Stream> = Registry::new(0x51);

/// `CU_STREAM_NON_BLOCKING`.
pub(crate) const NON_BLOCKING: u32 = 1;
/// Handle of the default stream that waits for all blocking streams.
const LEGACY: usize = 1;
/// Handle of the default stream that each thread has of its own.
const PER_THREAD: usize = 2;

/// How a stream stands to the legacy default stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The legacy default stream itself.
    Legacy,
    /// Waits for the legacy stream, which waits for it.
    Blocking,
    NonBlocking,
}

/// A stream of a context.
pub(crate) struct Stream {
    pub(crate) handle: Handle,
    pub(crate) context: Weak<Context>,
    pub(crate) kind: Kind,
    pub(crate) priority: i32,
    pub(crate) queue: Arc<Queue>,
    pub(crate) capture: Mutex<Option<Arc<Capture>>>,
}

impl Stream {
    pub(crate) fn new(handle: Handle, context: Weak<Context>, kind: Kind, priority: i32) -> Self {
        let queue = Queue::new();
        Self { handle, context, kind, priority, queue, capture: Mutex::new(None) }
    }

    /// The stream's context; an error where that is destroyed.
    pub(crate) fn context(&self) -> Result<Arc<Context>> {
        self.context.upgrade().ok_or(Error::ContextIsDestroyed)
    }

    /// The capture that the stream takes part in.
    pub(crate) fn capture(&self) -> Option<Arc<Capture>> {
        lock(&self.capture).clone()
    }

    /// Refuses what cannot be captured; the capture is spoiled then.
    pub(crate) fn refuse_capture(&self) -> Result<()> {
        match self.capture() {
            None => Ok(()),
            Some(capture) => {
                capture.invalidate();
                Err(Error::StreamCaptureUnsupported)
            }
        }
    }

    /// Adds work to the stream, or to the graph that it is captured into.
    pub(crate) fn submit(self: &Arc<Self>, work: Work) -> Result<()> {
        if let Some(capture) = self.capture() {
            return capture.add(self, work);
        }
        let context = self.context()?;
        context.refuse_legacy_capture(self)?;
        self.push(&context, Vec::new(), work);
        Ok(())
    }

    /// Queues work, whatever is captured.
    pub(crate) fn push(&self, context: &Arc<Context>, after: Vec<Point>, work: Work) -> Point {
        let running = Arc::clone(context);
        let job = Box::new(move || running.run(&work));
        context.in_order(|order| {
            let after = after.into_iter().chain(order.before(self)).collect();
            self.queue.push(after, job)
        })
    }

    /// Lets the stream wait for a moment of another one.
    pub(crate) fn wait_for(self: &Arc<Self>, point: Point) -> Result<()> {
        let context = self.context()?;
        self.push(&context, vec![point], Work::Nothing);
        Ok(())
    }

    /// The moment when all is done that the stream has now, and all it waits for.
    pub(crate) fn now(&self, context: &Arc<Context>) -> Point {
        match self.kind {
            Kind::Legacy => self.push(context, Vec::new(), Work::Nothing),
            _ => self.queue.now(),
        }
    }

    /// Waits until the stream has done what it has; reports a fault.
    pub(crate) fn synchronize(&self) -> Result<()> {
        self.refuse_capture()?;
        let context = self.context()?;
        context.refuse_legacy_capture(self)?;
        self.now(&context).wait();
        context.report()
    }
}

/// The stream that a handle means, and its context, which has reported no fault so far.
pub(crate) fn resolve(handle: Handle) -> Result<(Arc<Context>, Arc<Stream>)> {
    let stream = find(handle)?;
    let context = stream.context()?;
    context.usable()?;
    Ok((context, stream))
}

/// The stream that a handle means, whatever has happened to its context.
pub(crate) fn find(handle: Handle) -> Result<Arc<Stream>> {
    match handle.0 {
        0 | LEGACY => Ok(Arc::clone(context::current()?.legacy())),
        PER_THREAD => Ok(context::current()?.per_thread()),
        _ => STREAMS.get(handle),
    }
}

/// A new stream of the current context.
pub(crate) fn create(flags: u32, priority: i32) -> Result<Handle> {
    let kind = match flags {
        0 => Kind::Blocking,
        NON_BLOCKING => Kind::NonBlocking,
        _ => return Err(Error::InvalidValue),
    };
    let context = context::usable()?;
    let owner = Arc::downgrade(&context);
    let stream = STREAMS.add(|handle| Stream::new(handle, owner, kind, priority.clamp(-5, 0)));
    context.add_stream(&stream);
    Ok(stream.handle)
}

/// Destroys a stream; what it still has is done all the same.
pub(crate) fn destroy(handle: Handle) -> Result<()> {
    if handle.0 <= PER_THREAD {
        return Err(Error::InvalidHandle);
    }
    let stream = STREAMS.get(handle)?;
    if let Some(capture) = stream.capture() {
        capture.leave(&stream);
    }
    STREAMS.remove(handle)?;
    stream.queue.close();
    stream.context().map_or(Ok(()), |context| context.usable())
}
