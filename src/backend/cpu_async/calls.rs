//! The device and its streams, as the part that queued back ends share calls them.

use std::sync::{Arc, Weak};

use super::driver_context::{CpuStream, DriverContext, Stream};
use crate::{
    backend::gpu::calls::{ContextCalls, DriverState, StreamKind},
    error::{Error, Result},
    hal::StreamRef,
};

impl ContextCalls for DriverContext {
    type Stream = CpuStream;
    type Anchor = CpuStream;

    fn state(&self) -> &DriverState {
        &self.state
    }

    fn default_stream(&self) -> &Arc<CpuStream> {
        &self.stream
    }

    fn anchor(&self) -> Weak<CpuStream> {
        Arc::downgrade(&self.stream)
    }

    fn kind(stream: &CpuStream) -> StreamKind {
        if stream.is_default { StreamKind::Default } else { StreamKind::Other }
    }

    fn stream_of(stream: StreamRef<'_>) -> Result<&Arc<CpuStream>> {
        stream.downcast::<Stream>().map(Stream::driver_stream).ok_or_else(|| Error::WrongDevice {
            subject: "a buffer".to_owned(),
            found: "the asynchronous CPU".to_owned(),
            expected: stream.describe().to_owned(),
        })
    }

    fn launch_stream(stream: StreamRef<'_>) -> Result<&Arc<CpuStream>> {
        Self::stream_of(stream)
    }

    fn make_current(&self) -> Result<()> {
        self.check_process()
    }

    fn synchronize(&self) -> Result<()> {
        self.check_process()?;
        self.wait_for_all();
        self.in_use.check_launches()
    }

    fn wait(&self, stream: &CpuStream, _subject: impl FnOnce() -> String) -> Result<()> {
        stream.wait();
        self.in_use.check_launches()
    }

    fn library_error(&self) -> Result<()> {
        self.in_use.check_launches()
    }

    fn has_work(stream: &CpuStream) -> bool {
        stream.has_work()
    }
}
