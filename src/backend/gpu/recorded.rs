//! Recorded events: those that the program asks for, with a time.
//!
//! The context of an event is made current by each call.

use std::{any::Any, sync::Arc, time::Duration};

use super::{calls::Driver, event::Event};
use crate::{
    error::Result,
    hal::{self, ContextId},
};

pub(in crate::backend) struct RecordedEvent<D: Driver> {
    context: ContextId,
    event: Event<D>,
}

impl<D: Driver> RecordedEvent<D> {
    /// Records the work that a stream of the driver's context has now.
    pub(in crate::backend) fn record(
        context: ContextId,
        driver: &Arc<D>,
        stream: &D::Stream,
    ) -> Result<Self> {
        let event = Event::timed(driver)?;
        event.record(stream)?;
        Ok(Self { context, event })
    }

    /// The event behind the trait; `None` where it is another back end's.
    pub(in crate::backend) fn of(event: &dyn hal::Event) -> Option<&Self> {
        let event: &dyn Any = event;
        event.downcast_ref()
    }

    /// The context of the driver that it is of.
    #[cfg_attr(
        not(feature = "cuda"),
        allow(dead_code, reason = "only there two contexts can be one")
    )]
    pub(in crate::backend) fn driver(&self) -> &D {
        self.event.driver()
    }

    /// Lets a stream wait for it. The driver's context of both is current.
    pub(in crate::backend) fn wait(&self, stream: &D::Stream) -> Result<()> {
        self.event.wait(stream)
    }
}

impl<D: Driver> hal::Event for RecordedEvent<D> {
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
