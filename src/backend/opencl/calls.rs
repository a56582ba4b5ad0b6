//! OpenCL devices and streams, as the shared part of the GPU back ends calls them.

use std::sync::{Arc, Weak};

use super::driver_context::{ClStream, DriverContext, Stream};
use crate::{
    backend::gpu::calls::{ContextCalls, DriverState, StreamKind},
    error::{Error, Result},
    hal::StreamRef,
};

impl ContextCalls for DriverContext {
    type Stream = ClStream;
    type Anchor = ClStream;

    fn state(&self) -> &DriverState {
        &self.state
    }

    fn default_stream(&self) -> &Arc<ClStream> {
        &self.stream
    }

    fn anchor(&self) -> Weak<ClStream> {
        Arc::downgrade(&self.stream)
    }

    fn kind(stream: &ClStream) -> StreamKind {
        if stream.is_default() { StreamKind::Default } else { StreamKind::Other }
    }

    fn stream_of(stream: StreamRef<'_>) -> Result<&Arc<ClStream>> {
        stream.downcast::<Stream>().map(Stream::driver_stream).ok_or_else(|| Error::WrongDevice {
            subject: "a buffer".to_owned(),
            found: "OpenCL".to_owned(),
            expected: stream.describe().to_owned(),
        })
    }

    fn launch_stream(stream: StreamRef<'_>) -> Result<&Arc<ClStream>> {
        Self::stream_of(stream)
    }

    /// Every call names its context.
    fn make_current(&self) -> Result<()> {
        Ok(())
    }

    fn synchronize(&self) -> Result<()> {
        self.wait_for_all()
    }

    fn wait(&self, stream: &ClStream, subject: impl FnOnce() -> String) -> Result<()> {
        let subject = subject();
        stream.finish(|| subject.clone())
    }

    fn has_work(stream: &ClStream) -> bool {
        stream.has_work()
    }

    fn is_lost(&self) -> bool {
        self.loss.is_known()
    }

    fn library_error(&self) -> Result<()> {
        self.loss.check()
    }
}
