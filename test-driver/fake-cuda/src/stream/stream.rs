//! Streams: queues of work in order.
//!
//! CUDA Driver API, "Stream Management" and "Stream synchronization behavior".

use std::sync::Arc;

use cudarc::driver::sys::CUstream_flags;

use super::queue::Queue;
use crate::base::error::{Error, Result};
use crate::base::handle::{Handle, Registry};
use crate::graph::{Capture, CaptureSlot};

/// Streams that were created, not the default ones.
pub(crate) static STREAMS: Registry<Stream> = Registry::new(0x51);

pub(crate) const NON_BLOCKING: u32 = CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
/// Handle of the default stream that waits for all blocking streams.
pub(crate) const LEGACY: usize = 1;
/// Handle of the default stream that each thread has of its own.
pub(crate) const PER_THREAD: usize = 2;

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
    /// Handle of its context.
    pub(crate) context: Handle,
    pub(crate) kind: Kind,
    pub(crate) priority: i32,
    pub(crate) queue: Arc<Queue>,
    pub(crate) slot: Arc<CaptureSlot>,
}

impl Stream {
    pub(crate) fn new(handle: Handle, context: Handle, kind: Kind, priority: i32) -> Self {
        let slot = CaptureSlot::new(kind == Kind::Legacy);
        Self { handle, context, kind, priority, queue: Queue::new(), slot }
    }

    /// The capture that the stream takes part in.
    pub(crate) fn capture(&self) -> Option<Arc<Capture>> {
        self.slot.get()
    }

    /// Refuses what cannot be captured; the capture is spoiled then.
    pub(crate) fn refuse_capture(&self) -> Result<()> {
        match self.capture() {
            None => Ok(()),
            Some(capture) => {
                capture.invalidate();
                Err(Error::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)
            }
        }
    }
}
