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
pub struct StreamRef<'a> {
    stream: &'a dyn Stream,
    /// The address of the context that takes launches on it, where that is known; 0 where not. It is there for as long as
    /// this is used.
    taken_by: usize,
    /// How that context takes it.
    taken: Taken,
}

/// What a stream is for a context whose launches may be put on it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    /// Not one that takes launches at once.
    Nothing,
    /// One that does.
    Stream,
    /// The context's own default stream.
    Default,
}

impl<'a> StreamRef<'a> {
    pub(crate) fn new(stream: &'a dyn Stream) -> Self {
        Self { stream, taken_by: 0, taken: Taken::Nothing }
    }

    /// The same stream, which a context at an address takes so, while that lives.
    #[inline]
    pub(super) fn taken(self, by: usize, taken: Taken) -> Self {
        Self { taken_by: if taken == Taken::Nothing { 0 } else { by }, taken, ..self }
    }

    /// The address of the context that it was taken by, or 0.
    #[inline]
    pub(super) fn taken_by(self) -> usize {
        self.taken_by
    }

    /// The same stream, of which nothing is known.
    pub(crate) fn for_others(self) -> Self {
        Self::new(self.stream)
    }

    /// Whether it is the default stream of the context that it is for launches in.
    #[inline]
    #[allow(dead_code, reason = "for drivers, and a build may have none")]
    pub(crate) fn is_default(self) -> bool {
        self.taken == Taken::Default
    }

    /// The context that it was made in, as [`Stream::context`] has it.
    pub(crate) fn context(self) -> Option<ContextId> {
        self.stream.context()
    }

    /// The stream, where it is of this type.
    pub(crate) fn downcast<S: Stream>(self) -> Option<&'a S> {
        let stream: &dyn Any = self.stream;
        stream.downcast_ref()
    }

    /// Whether launches on it are recorded into a graph.
    pub(crate) fn is_recording(self) -> bool {
        self.stream.is_recording()
    }

    /// Whether it is this very stream.
    pub(crate) fn is(self, stream: &dyn Stream) -> bool {
        std::ptr::addr_eq(self.stream, stream)
    }

    /// Keeps the error of a launch on this stream that has run already.
    pub(crate) fn keep(self, error: &Arc<AsyncError>) {
        self.stream.keep(error);
    }

    /// The stream's device, for messages.
    pub(crate) fn describe(self) -> &'static str {
        self.stream.describe()
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
