//! The driver's context: what every call of the driver needs, and the errors that no call could return.
//!
//! Needs an open context of cudarc's. It lives as long as anything of the context does.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, Ordering},
};

use cudarc::driver::{
    CudaContext, CudaStream,
    result::{ctx, stream as raw_stream},
};

use super::driver::named;
use crate::{
    error::Result,
    hal::{AsyncError, ErrorSlot},
};

pub(super) struct DriverContext {
    /// The device's name.
    pub(super) name: String,
    pub(super) cuda: Arc<CudaContext>,
    /// The default stream.
    pub(super) stream: Arc<CudaStream>,
    /// Whether a stream beside the default one was ever used.
    has_streams: AtomicBool,
    /// cudarc records events of its slices only while there are streams beside the default one. Were
    /// the last of these dropped with work on it, nothing would wait for that work any more; so from
    /// the first stream that is made here on, this keeps another.
    keeper: OnceLock<Arc<CudaStream>>,
    /// An error that could not be returned where it was met.
    late: ErrorSlot,
}

impl DriverContext {
    pub(super) fn new(name: String, cuda: Arc<CudaContext>) -> Self {
        Self {
            name,
            stream: cuda.default_stream(),
            cuda,
            has_streams: AtomicBool::new(false),
            keeper: OnceLock::new(),
            late: ErrorSlot::default(),
        }
    }

    /// Told before work goes to `stream`: from the first one on that is not the default stream,
    /// accesses of memory are recorded.
    pub(super) fn expect(&self, stream: &CudaStream) {
        if !stream.cu_stream().is_null() && !self.has_streams.load(Ordering::Relaxed) {
            self.has_streams.store(true, Ordering::Relaxed);
        }
    }

    /// Whether accesses on `stream` are not recorded: it is the default stream, and the only one.
    pub(super) fn is_lazy(&self, stream: &CudaStream) -> bool {
        stream.cu_stream().is_null() && !self.has_streams.load(Ordering::Relaxed)
    }

    /// Makes a stream, and the one that is kept.
    pub(super) fn new_stream(&self) -> Result<Arc<CudaStream>> {
        self.bind()?;
        let subject = || self.name.clone();
        if self.keeper.get().is_none() {
            // cudarc waits for the context before its first stream: done here, it has a name.
            self.synchronize()?;
            let stream =
                named(self.cuda.new_stream(), "CudaContext::new_stream (cuStreamCreate)", subject)?;
            // Where somebody else was faster, this one is dropped again.
            let _ = self.keeper.set(stream);
        }
        let stream =
            named(self.cuda.new_stream(), "CudaContext::new_stream (cuStreamCreate)", subject)?;
        self.expect(&stream);
        Ok(stream)
    }

    /// Makes the context current, for calls of the driver on this thread. An error that was met where
    /// it could not be returned, in a `drop`, is returned here, under its own name.
    pub(super) fn bind(&self) -> Result<()> {
        self.report()?;
        self.make_current()
    }

    /// As [`DriverContext::bind`], and no other error is returned.
    pub(super) fn make_current(&self) -> Result<()> {
        let own = self.cuda.cu_ctx();
        // Where the driver cannot say which one is current, this one is made so.
        if ctx::get_current().is_ok_and(|current| current == Some(own)) {
            return Ok(());
        }
        // SAFETY: the context is open as long as its `CudaContext`.
        named(unsafe { ctx::set_current(own) }, "cuCtxSetCurrent", || self.name.clone())
    }

    /// Waits for a stream.
    pub(super) fn wait_for(&self, stream: &CudaStream) -> Result<()> {
        self.make_current()?;
        // SAFETY: the stream is there.
        let waited = unsafe { raw_stream::synchronize(stream.cu_stream()) };
        named(waited, "cuStreamSynchronize", || "a stream".to_owned())
    }

    /// Waits for all streams.
    pub(super) fn synchronize(&self) -> Result<()> {
        self.make_current()?;
        named(ctx::synchronize(), "cuCtxSynchronize", || self.name.clone())
    }

    /// Gives something back to the driver in a `drop`, with the context current. That cannot be done later, so a
    /// context that cannot be made current is tried once more.
    pub(super) fn release(&self, give_back: impl FnOnce() -> Result<()>) {
        let current = self.make_current().or_else(|_| self.make_current());
        self.keep(current.and_then(|()| give_back()));
    }

    /// Keeps the error of what is done in a `drop`, for the next call that can return one.
    pub(super) fn keep(&self, result: Result<()>) {
        if let Err(error) = result {
            self.late.keep(&AsyncError::new(error));
        }
    }

    /// The error that was kept, or one that cudarc has kept.
    fn report(&self) -> Result<()> {
        self.late.report()?;
        named(self.cuda.check_err(), "an earlier call of cudarc's", || self.name.clone())
    }
}
