//! HIP devices and streams, as the shared part of the GPU back ends calls them.

use std::{
    ffi::c_int,
    sync::{Arc, Weak},
};

use super::{
    driver::{NOT_READY, loses_device, named},
    driver_context::{DriverContext, HipStream, Stream},
    library::{Code, hip},
};
use crate::{
    backend::gpu::calls::{ContextCalls, DriverState, StreamKind},
    error::{Error, Result},
    hal::StreamRef,
};

impl ContextCalls for DriverContext {
    type Stream = HipStream;
    type Anchor = HipStream;

    fn state(&self) -> &DriverState {
        &self.state
    }

    fn default_stream(&self) -> &Arc<HipStream> {
        &self.stream
    }

    fn anchor(&self) -> Weak<HipStream> {
        Arc::downgrade(&self.stream)
    }

    fn kind(stream: &HipStream) -> StreamKind {
        if stream.handle().is_null() { StreamKind::Default } else { StreamKind::Other }
    }

    fn stream_of(stream: StreamRef<'_>) -> Result<&Arc<HipStream>> {
        stream.downcast::<Stream>().map(Stream::driver_stream).ok_or_else(|| Error::WrongDevice {
            subject: "a buffer".to_owned(),
            found: "HIP".to_owned(),
            expected: stream.describe().to_owned(),
        })
    }

    fn launch_stream(stream: StreamRef<'_>) -> Result<&Arc<HipStream>> {
        Self::stream_of(stream)
    }

    fn make_current(&self) -> Result<()> {
        let mut current: c_int = -1;
        // SAFETY: the place is this function's own.
        let asked = unsafe { (hip().hipGetDevice)(&raw mut current) };
        // Where the library cannot say which one is current, this one is made so.
        if asked == 0 && current == self.ordinal {
            return Ok(());
        }
        // SAFETY: the device is there.
        let code = unsafe { (hip().hipSetDevice)(self.ordinal) };
        named(code, "hipSetDevice", || self.name.clone())
    }

    fn synchronize(&self) -> Result<()> {
        self.make_current()?;
        // SAFETY: there is a device.
        let code = unsafe { (hip().hipDeviceSynchronize)() };
        named(code, "hipDeviceSynchronize", || self.name.clone())
    }

    fn wait(&self, stream: &HipStream, subject: impl FnOnce() -> String) -> Result<()> {
        // SAFETY: the stream is there.
        let code = unsafe { (hip().hipStreamSynchronize)(stream.handle()) };
        named(code, "hipStreamSynchronize", subject)
    }

    fn has_work(stream: &HipStream) -> bool {
        // SAFETY: the stream is there.
        unsafe { (hip().hipStreamQuery)(stream.handle()) == NOT_READY }
    }

    fn is_lost(&self) -> bool {
        self.lasting_error().is_some()
    }
}

impl DriverContext {
    /// The error that the device gives from now on, whatever it is asked. Waits for nothing.
    pub(super) fn lasting_error(&self) -> Option<Code> {
        self.make_current().ok()?;
        // SAFETY: the default stream is always there.
        let ask = || unsafe { (hip().hipStreamQuery)(self.stream.handle()) };
        // A device that is lost says so again.
        let code = Some(ask()).filter(|code| loses_device(*code))?;
        (ask() == code).then_some(code)
    }
}
