//! Identities of streams, for what is kept of a stream and does not keep it.

use std::{
    sync::{Arc, Weak},
    thread::{self, ThreadId},
};

use super::calls::{ContextCalls, StreamKind};

/// The identity of a stream. A handle is none: the driver gives that of a destroyed stream, whose
/// work goes on, to a new one.
pub(in crate::backend) enum StreamId<C: ContextCalls> {
    Default,
    /// The default stream of a thread.
    Thread(ThreadId),
    /// The address of the stream, which no other has while this is kept. The stream is not kept.
    Other(Weak<C::Stream>),
}

impl<C: ContextCalls> StreamId<C> {
    pub(in crate::backend) fn of(stream: &Arc<C::Stream>) -> Self {
        match C::kind(stream) {
            StreamKind::Default => Self::Default,
            StreamKind::PerThread => Self::Thread(thread::current().id()),
            StreamKind::Other => Self::Other(Arc::downgrade(stream)),
        }
    }

    pub(in crate::backend) fn is(&self, stream: &Arc<C::Stream>) -> bool {
        match (self, C::kind(stream)) {
            (Self::Default, StreamKind::Default) => true,
            (Self::Thread(id), StreamKind::PerThread) => *id == thread::current().id(),
            (Self::Other(own), _) => own.as_ptr() == Arc::as_ptr(stream),
            _ => false,
        }
    }

    /// Whether nothing can be launched on it any more. What was launched may still run.
    pub(in crate::backend) fn is_dropped(&self) -> bool {
        matches!(self, Self::Other(stream) if stream.strong_count() == 0)
    }
}
