//! Identities of streams, for what is kept of a stream and does not keep it.

use std::{
    sync::{Arc, Weak},
    thread::{self, ThreadId},
};

use cudarc::driver::CudaStream;

/// The handle that stands for the default stream of whatever thread uses it.
const PER_THREAD: usize = 2;

/// The identity of a stream. A handle is none: the driver gives that of a destroyed stream, whose
/// work goes on, to a new one.
pub(super) enum StreamId {
    Default,
    /// The default stream of a thread.
    Thread(ThreadId),
    /// The address of the stream, which no other has while this is kept. The stream is not kept.
    Other(Weak<CudaStream>),
}

impl StreamId {
    pub(super) fn of(stream: &Arc<CudaStream>) -> Self {
        match stream.cu_stream() as usize {
            0 => Self::Default,
            PER_THREAD => Self::Thread(thread::current().id()),
            _ => Self::Other(Arc::downgrade(stream)),
        }
    }

    pub(super) fn is(&self, stream: &Arc<CudaStream>) -> bool {
        match (self, stream.cu_stream() as usize) {
            (Self::Default, 0) => true,
            (Self::Thread(id), PER_THREAD) => *id == thread::current().id(),
            (Self::Other(own), _) => own.as_ptr() == Arc::as_ptr(stream),
            _ => false,
        }
    }

    /// Whether nothing can be launched on it any more. What was launched may still run.
    pub(super) fn is_dropped(&self) -> bool {
        matches!(self, Self::Other(stream) if stream.strong_count() == 0)
    }
}
