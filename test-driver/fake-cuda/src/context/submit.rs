//! Submission: work of streams, in the order of their context, or into the graph they are captured into.

use std::sync::Arc;

use super::context::{CONTEXTS, Context};
use super::current::{current, usable};
use crate::base::error::{Error, Result};
use crate::base::handle::Handle;
use crate::stream::{Kind, LEGACY, NON_BLOCKING, PER_THREAD, Point, STREAMS, Stream};
use crate::work::Work;

impl Context {
    /// Queues work of a stream, whatever is captured.
    pub(crate) fn push(
        self: &Arc<Self>,
        stream: &Stream,
        after: Vec<Point>,
        work: Work,
    ) -> Result<Point> {
        let running = Arc::clone(self);
        let job = Box::new(move || running.run(&work));
        self.in_order(|order| {
            let after = after.into_iter().chain(order.before(stream)).collect();
            stream.queue.push(after, job)
        })
    }

    /// The moment when all is done that a stream has now, and all it waits for.
    pub(crate) fn now(self: &Arc<Self>, stream: &Stream) -> Result<Point> {
        match stream.kind {
            Kind::Legacy => self.push(stream, Vec::new(), Work::Nothing),
            _ => Ok(stream.queue.now()),
        }
    }
}

impl Stream {
    /// The stream's context; an error where that is destroyed.
    pub(crate) fn context(&self) -> Result<Arc<Context>> {
        CONTEXTS.get(self.context).map_err(|_| Error::CUDA_ERROR_CONTEXT_IS_DESTROYED)
    }

    /// Adds work to the stream, or to the graph that it is captured into.
    pub(crate) fn submit(&self, work: Work) -> Result<()> {
        if let Some(capture) = self.capture() {
            return capture.add(&self.slot, work);
        }
        let context = self.context()?;
        context.refuse_legacy_capture(self)?;
        context.push(self, Vec::new(), work)?;
        Ok(())
    }

    /// Lets the stream wait for a moment of another one.
    pub(crate) fn wait_for(&self, point: Point) -> Result<()> {
        self.context()?.push(self, vec![point], Work::Nothing)?;
        Ok(())
    }

    /// Waits until the stream has done what it has; reports an asynchronous error.
    pub(crate) fn synchronize(&self) -> Result<()> {
        self.refuse_capture()?;
        let context = self.context()?;
        context.refuse_legacy_capture(self)?;
        context.now(self)?.wait();
        context.report()
    }
}

/// The stream that a handle means, and its context, which has reported no error so far.
pub(crate) fn resolve(handle: Handle) -> Result<(Arc<Context>, Arc<Stream>)> {
    let stream = find_stream(handle)?;
    let context = stream.context()?;
    context.usable()?;
    Ok((context, stream))
}

/// The stream that a handle means, whatever has happened to its context.
pub(crate) fn find_stream(handle: Handle) -> Result<Arc<Stream>> {
    match handle.0 {
        0 | LEGACY => Ok(Arc::clone(current()?.legacy())),
        PER_THREAD => Ok(current()?.per_thread()),
        _ => STREAMS.get(handle),
    }
}

/// A new stream of the current context.
pub(crate) fn create_stream(flags: u32, priority: i32) -> Result<Handle> {
    let kind = match flags {
        0 => Kind::Blocking,
        NON_BLOCKING => Kind::NonBlocking,
        _ => return Err(Error::CUDA_ERROR_INVALID_VALUE),
    };
    let context = usable()?;
    let owner = context.handle;
    let stream = STREAMS.add(|handle| Stream::new(handle, owner, kind, priority.clamp(-5, 0)));
    context.add_stream(&stream);
    Ok(stream.handle)
}

/// Destroys a stream; what it still has is done all the same.
pub(crate) fn destroy_stream(handle: Handle) -> Result<()> {
    if handle.0 <= PER_THREAD {
        return Err(Error::CUDA_ERROR_INVALID_HANDLE);
    }
    let stream = STREAMS.get(handle)?;
    if let Some(capture) = stream.capture() {
        capture.leave(&stream.slot);
    }
    STREAMS.remove(handle)?;
    let context = stream.context();
    if let Ok(context) = &context {
        context.leave(&stream);
    }
    stream.queue.close();
    context.map_or(Ok(()), |context| context.usable())
}
