//! Streams of a device.

use std::sync::Arc;

use super::{
    driver_context::{Shared, WgpuStream},
    event::RecordedEvent,
};
use crate::{
    backend::gpu::calls::ContextCalls as _,
    error::Result,
    hal::{self, ContextId},
};

pub(super) struct Stream {
    context: ContextId,
    queue: Arc<WgpuStream>,
    shared: Arc<Shared>,
}

impl Stream {
    pub(super) fn new(context: ContextId, queue: Arc<WgpuStream>, shared: &Arc<Shared>) -> Self {
        Self { context, queue, shared: Arc::clone(shared) }
    }

    /// The view of the queue.
    pub(super) fn queue(&self) -> &Arc<WgpuStream> {
        &self.queue
    }
}

impl hal::Stream for Stream {
    fn context(&self) -> Option<ContextId> {
        Some(self.context)
    }

    fn synchronize(&self) -> Result<()> {
        self.shared.bind()?;
        self.shared.wait_for(&self.queue)?;
        self.shared.collect_times();
        self.shared.panics.report(&self.queue)
    }
}

impl hal::Queue for Stream {
    fn record(&self) -> Result<Arc<dyn hal::Event>> {
        self.shared.bind()?;
        let event = RecordedEvent::record(self.context, &self.shared.driver, &self.queue)?;
        Ok(Arc::new(event))
    }

    fn report(&self) -> Result<()> {
        self.shared.records.collect();
        self.shared.panics.report(&self.queue)
    }

    fn wait(&self, event: &dyn hal::Event) -> Result<()> {
        self.shared.bind()?;
        let event = RecordedEvent::of(event);
        event.expect("contexts accept events of their own back end").wait(&self.queue)
    }
}
