//! Streams as back ends and everything above know them, and the identity of the context that each is of.

use std::{
    any::Any,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use super::async_error::AsyncError;
use crate::error::Result;

/// The identity of a context: each has its own, and none is used twice, so that what is kept for a
/// context that is gone is never taken for that of a new one at the same address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ContextId(u64);

impl ContextId {
    /// An identity that was never given out before.
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// The identity as a number.
    pub(crate) fn number(self) -> u64 {
        self.0
    }
}

/// A queue of launches, run one after the other.
pub(crate) trait Stream: Any + Send + Sync {
    /// The context that it was made in; `None` for a stream of another library, of which
    /// `Context::accepts` decides.
    fn context(&self) -> Option<ContextId>;

    /// Waits for what was launched; the first asynchronous error of this stream that was not reported
    /// yet.
    fn synchronize(&self) -> Result<()>;

    /// Keeps the error of a launch that has run already.
    fn keep(&self, _error: &Arc<AsyncError>) {}

    /// Whether launches on it are recorded into a graph, which has its own buffers.
    fn is_recording(&self) -> bool {
        false
    }

    /// What it is called where it is of another device than it should be.
    fn describe(&self) -> &'static str {
        "a stream of another device"
    }
}

/// A stream to launch on: one of this crate, or one of a library that a back end works with.
#[derive(Clone, Copy)]
pub struct StreamRef<'a>(&'a dyn Stream);

impl<'a> StreamRef<'a> {
    pub(crate) fn new(stream: &'a dyn Stream) -> Self {
        Self(stream)
    }

    /// The context that it was made in, as [`Stream::context`] has it.
    pub(crate) fn context(self) -> Option<ContextId> {
        self.0.context()
    }

    /// The stream, where it is of this type.
    pub(crate) fn downcast<S: Stream>(self) -> Option<&'a S> {
        let stream: &dyn Any = self.0;
        stream.downcast_ref()
    }

    /// Whether launches on it are recorded into a graph.
    pub(crate) fn is_recording(self) -> bool {
        self.0.is_recording()
    }

    /// Whether it is this very stream.
    pub(crate) fn is(self, stream: &dyn Stream) -> bool {
        std::ptr::addr_eq(self.0, stream)
    }

    /// Keeps the error of a launch on this stream that has run already.
    pub(crate) fn keep(self, error: &Arc<AsyncError>) {
        self.0.keep(error);
    }

    /// The stream's device, for messages.
    pub(crate) fn describe(self) -> &'static str {
        self.0.describe()
    }
}

impl fmt::Debug for StreamRef<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("StreamRef").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::ContextId;
    use std::collections::HashSet;

    /// Acceptance: S4.7.
    #[test]
    fn no_context_has_the_identity_of_another() {
        let identities: HashSet<_> = (0..100).map(|_| ContextId::new()).collect();
        assert_eq!(identities.len(), 100);
    }
}
