//! CPU events: points in time. What was launched before them has run.

use std::{
    any::Any,
    time::{Duration, Instant},
};

use crate::{
    error::Result,
    hal::{self, ContextId},
};

pub(super) struct Event {
    context: ContextId,
    time: Instant,
}

impl Event {
    /// The event of this moment.
    pub(super) fn now(context: ContextId) -> Self {
        Self { context, time: Instant::now() }
    }
}

impl hal::Event for Event {
    fn context(&self) -> ContextId {
        self.context
    }

    fn is_complete(&self) -> Result<bool> {
        Ok(true)
    }

    fn synchronize(&self) -> Result<()> {
        Ok(())
    }

    fn elapsed_since(&self, earlier: &dyn hal::Event) -> Result<Option<Duration>> {
        let earlier: &dyn Any = earlier;
        let earlier = earlier.downcast_ref::<Self>().expect("contexts accept their own events");
        Ok(Some(self.time.saturating_duration_since(earlier.time)))
    }
}
