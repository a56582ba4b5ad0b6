//! CUDA streams: those of a context, and the program's own.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use cudarc::driver::CudaStream;

use super::{capture::refuse_capture, driver_context::Shared, event::RecordedEvent};
use crate::{
    backend::gpu::calls::ContextCalls as _,
    error::Result,
    hal::{self, ContextId},
};

pub(crate) struct Stream {
    context: ContextId,
    cuda: Arc<CudaStream>,
    shared: Arc<Shared>,
    /// Whether others than this crate may use it, and capture it.
    is_public: AtomicBool,
}

impl Stream {
    pub(super) fn new(context: ContextId, cuda: Arc<CudaStream>, shared: &Arc<Shared>) -> Self {
        let is_public = AtomicBool::new(false);
        Self { context, cuda, shared: Arc::clone(shared), is_public }
    }

    /// Notes that others may use the stream from now on.
    pub(super) fn publish(&self) {
        self.is_public.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_public(&self) -> bool {
        self.is_public.load(Ordering::Relaxed)
    }

    pub(super) fn cudarc(&self) -> &Arc<CudaStream> {
        &self.cuda
    }

    /// Makes the context current for `operation`, which a stream that is captured does not take.
    fn prepare(&self, operation: &'static str) -> Result<()> {
        self.shared.bind()?;
        // Nobody but this crate can use a stream that was never given away.
        if self.is_public() { refuse_capture(&self.cuda, operation) } else { Ok(()) }
    }
}

impl hal::Stream for Stream {
    fn context(&self) -> Option<ContextId> {
        Some(self.context)
    }

    fn synchronize(&self) -> Result<()> {
        self.prepare("synchronize")?;
        self.shared.wait_for(&self.cuda)?;
        self.shared.collect_times();
        self.shared.panics.report(&self.cuda)
    }
}

impl hal::Queue for Stream {
    fn record(&self) -> Result<Arc<dyn hal::Event>> {
        self.prepare("record")?;
        let event = RecordedEvent::record(self.context, &self.shared.driver, &self.cuda)?;
        Ok(Arc::new(event))
    }

    fn report(&self) -> Result<()> {
        self.shared.panics.report(&self.cuda)
    }

    fn wait(&self, event: &dyn hal::Event) -> Result<()> {
        self.prepare("wait")?;
        let event = RecordedEvent::of(event);
        event.expect("contexts accept events of their own back end").wait(&self.cuda)
    }
}
