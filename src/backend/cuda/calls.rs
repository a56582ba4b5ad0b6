//! CUDA contexts and streams, as the shared part of the GPU back ends calls them.

use std::sync::{Arc, Weak};

use cudarc::driver::{
    CudaContext, CudaStream, DriverError,
    result::{ctx, stream as raw_stream},
    sys,
};

use super::{
    capture::{BesideCaptures, refuse_capture},
    driver::{loses_context, named},
    driver_context::DriverContext,
    order,
};
use crate::{
    backend::gpu::calls::{ContextCalls, DriverState, StreamKind},
    error::Result,
    hal::StreamRef,
};

/// The handle that stands for the default stream of whatever thread uses it.
const PER_THREAD: usize = 2;

impl ContextCalls for DriverContext {
    type Stream = CudaStream;
    type Anchor = CudaContext;

    fn state(&self) -> &DriverState {
        &self.state
    }

    fn default_stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }

    fn anchor(&self) -> Weak<CudaContext> {
        Arc::downgrade(&self.cuda)
    }

    fn kind(stream: &CudaStream) -> StreamKind {
        match stream.cu_stream() as usize {
            0 => StreamKind::Default,
            PER_THREAD => StreamKind::PerThread,
            _ => StreamKind::Other,
        }
    }

    fn stream_of(stream: StreamRef<'_>) -> Result<&Arc<CudaStream>> {
        order::cuda_stream(stream)
    }

    fn launch_stream(stream: StreamRef<'_>) -> Result<&Arc<CudaStream>> {
        order::launch_stream(stream)
    }

    fn make_current(&self) -> Result<()> {
        let own = self.cuda.cu_ctx();
        // Where the driver cannot say which one is current, this one is made so.
        if ctx::get_current().is_ok_and(|current| current == Some(own)) {
            return Ok(());
        }
        // SAFETY: the context is open as long as its `CudaContext`.
        named(unsafe { ctx::set_current(own) }, "cuCtxSetCurrent", || self.name.clone())
    }

    fn synchronize(&self) -> Result<()> {
        self.make_current()?;
        let _beside = BesideCaptures::begin();
        named(ctx::synchronize(), "cuCtxSynchronize", || self.name.clone())
    }

    fn wait(&self, stream: &CudaStream, subject: impl FnOnce() -> String) -> Result<()> {
        let _beside = BesideCaptures::begin();
        // SAFETY: the stream is there.
        let waited = unsafe { raw_stream::synchronize(stream.cu_stream()) };
        named(waited, "cuStreamSynchronize", subject)
    }

    /// To ask a stream that is captured would end its capture.
    fn has_work(stream: &CudaStream) -> bool {
        if refuse_capture(stream, "the unloading of a module").is_err() {
            return true;
        }
        let _beside = BesideCaptures::begin();
        // SAFETY: the stream is there.
        let status = unsafe { sys::cuStreamQuery(stream.cu_stream()) };
        status == sys::CUresult::CUDA_ERROR_NOT_READY
    }

    /// The context has an error that it keeps. Waits for nothing.
    fn is_lost(&self) -> bool {
        self.lasting_error().is_some()
    }

    fn library_error(&self) -> Result<()> {
        named(self.cuda.check_err(), "an earlier call of cudarc's", || self.name.clone())
    }
}

impl DriverContext {
    /// The error that the context gives from now on, whatever it is asked.
    pub(super) fn lasting_error(&self) -> Option<DriverError> {
        self.make_current().ok()?;
        let _beside = BesideCaptures::begin();
        // SAFETY: the default stream is always there.
        let ask = || unsafe { sys::cuStreamQuery(self.stream.cu_stream()) }.result();
        // A context that is lost says so again.
        let error = ask().err().filter(|error| loses_context(*error))?;
        (ask() == Err(error)).then_some(error)
    }
}
