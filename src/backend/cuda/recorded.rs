//! Recorded events: those that the program asks for, with a time.
//!
//! The context of an event is made current by each call.

use std::{any::Any, sync::Arc, time::Duration};

use cudarc::driver::{CudaContext, CudaStream};

use super::{driver_context::DriverContext, event::Event};
use crate::{
    error::Result,
    hal::{self, ContextId},
};

pub(super) struct RecordedEvent {
    context: ContextId,
    event: Event,
}

impl RecordedEvent {
    /// Records the work that a stream of the driver's context has now.
    pub(super) fn record(
        context: ContextId,
        driver: &Arc<DriverContext>,
        stream: &CudaStream,
    ) -> Result<Self> {
        let event = Event::timed(driver)?;
        event.record(stream)?;
        Ok(Self { context, event })
    }

    /// The event behind the trait; `None` where it is another back end's.
    pub(super) fn of(event: &dyn hal::Event) -> Option<&Self> {
        let event: &dyn Any = event;
        event.downcast_ref()
    }

    /// Whether it is of the driver's context behind `cuda`.
    pub(super) fn is_of(&self, cuda: &CudaContext) -> bool {
        self.event.driver().cuda.cu_ctx() == cuda.cu_ctx()
    }

    /// Lets a stream wait for it. The driver's context of both is current.
    pub(super) fn wait(&self, stream: &CudaStream) -> Result<()> {
        self.event.wait(stream)
    }
}

impl hal::Event for RecordedEvent {
    fn context(&self) -> ContextId {
        self.context
    }

    fn is_complete(&self) -> Result<bool> {
        self.event.driver().bind()?;
        self.event.query()
    }

    fn synchronize(&self) -> Result<()> {
        self.event.driver().bind()?;
        self.event.synchronize()
    }

    fn elapsed_since(&self, earlier: &dyn hal::Event) -> Result<Option<Duration>> {
        let earlier = Self::of(earlier).expect("contexts accept events of their own back end");
        self.event.driver().bind()?;
        let elapsed = self.event.milliseconds_since(&earlier.event)?;
        let duration = |milliseconds: f32| {
            // Less than 0 is no duration.
            Duration::try_from_secs_f64(f64::from(milliseconds) / 1e3).unwrap_or_default()
        };
        Ok(elapsed.map(duration))
    }
}
