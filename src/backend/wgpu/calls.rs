//! The device and its streams, as the shared part of the GPU back ends calls them.

use std::sync::{Arc, Weak};

use super::driver_context::{DriverContext, Stream, WgpuStream};
use crate::{
    backend::gpu::calls::{ContextCalls, DriverState, StreamKind},
    error::{Error, Result},
    hal::StreamRef,
};

impl ContextCalls for DriverContext {
    type Stream = WgpuStream;
    type Anchor = WgpuStream;

    fn state(&self) -> &DriverState {
        &self.state
    }

    fn default_stream(&self) -> &Arc<WgpuStream> {
        &self.stream
    }

    fn anchor(&self) -> Weak<WgpuStream> {
        Arc::downgrade(&self.stream)
    }

    fn kind(stream: &WgpuStream) -> StreamKind {
        if stream.is_default { StreamKind::Default } else { StreamKind::Other }
    }

    fn stream_of(stream: StreamRef<'_>) -> Result<&Arc<WgpuStream>> {
        stream.downcast::<Stream>().map(Stream::driver_stream).ok_or_else(|| Error::WrongDevice {
            subject: "a buffer".to_owned(),
            found: "wgpu".to_owned(),
            expected: stream.describe().to_owned(),
        })
    }

    fn launch_stream(stream: StreamRef<'_>) -> Result<&Arc<WgpuStream>> {
        Self::stream_of(stream)
    }

    /// Every call names its device.
    fn make_current(&self) -> Result<()> {
        Ok(())
    }

    fn synchronize(&self) -> Result<()> {
        self.gpu.wait(None)?;
        self.collect_panics();
        Ok(())
    }

    fn wait(&self, stream: &WgpuStream, _subject: impl FnOnce() -> String) -> Result<()> {
        match stream.last() {
            None => self.gpu.check(),
            last => self.gpu.wait(last),
        }?;
        self.collect_panics();
        Ok(())
    }

    fn collect_panics(&self) {
        self.records.collect();
    }

    fn is_lost(&self) -> bool {
        self.gpu.is_lost()
    }

    fn library_error(&self) -> Result<()> {
        self.gpu.check()
    }

    fn has_work(stream: &WgpuStream) -> bool {
        stream.last().is_some_and(|last| !stream.gpu.is_done(&last).unwrap_or(false))
    }
}
