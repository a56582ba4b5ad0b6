//! Streams.

mod queue;
#[expect(clippy::module_inception, reason = "the stream itself, beside its queue")]
mod stream;

pub(crate) use queue::Point;
pub(crate) use stream::{Kind, LEGACY, NON_BLOCKING, PER_THREAD, STREAMS, Stream};
