//! Streams of a context, over the calls of its driver.
//!
//! CUDA's have a file of their own: a program can capture its streams.

use std::sync::Arc;

use super::{calls::Driver, recorded::RecordedEvent, shared::Shared};
use crate::{
    error::Result,
    hal::{self, ContextId},
};

pub(in crate::backend) struct Stream<D: Driver> {
    context: ContextId,
    stream: Arc<D::Stream>,
    shared: Arc<Shared<D>>,
}

impl<D: Driver> Stream<D> {
    pub(in crate::backend) fn new(
        context: ContextId,
        stream: Arc<D::Stream>,
        shared: &Arc<Shared<D>>,
    ) -> Self {
        Self { context, stream, shared: Arc::clone(shared) }
    }

    /// The driver's stream.
    pub(in crate::backend) fn driver_stream(&self) -> &Arc<D::Stream> {
        &self.stream
    }
}

impl<D: Driver> hal::Stream for Stream<D> {
    fn context(&self) -> Option<ContextId> {
        Some(self.context)
    }

    fn synchronize(&self) -> Result<()> {
        self.shared.bind()?;
        self.shared.wait_for(&self.stream)?;
        self.shared.collect_times();
        // What the stream met while it was waited for.
        self.shared.late_error()?;
        self.shared.panics.report(&self.stream)
    }
}

impl<D: Driver> hal::Queue for Stream<D> {
    fn record(&self) -> Result<Arc<dyn hal::Event>> {
        self.shared.bind()?;
        let event = RecordedEvent::record(self.context, &self.shared.driver, &self.stream)?;
        Ok(Arc::new(event))
    }

    fn report(&self) -> Result<()> {
        self.shared.collect_panics();
        self.shared.panics.report(&self.stream)
    }

    fn wait(&self, event: &dyn hal::Event) -> Result<()> {
        self.shared.bind()?;
        let event = RecordedEvent::<D>::of(event);
        event.expect("contexts accept events of their own back end").wait(&self.stream)
    }
}
