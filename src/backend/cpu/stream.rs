//! CPU streams: a launch has run when it returns, and a stream keeps its asynchronous error.

use std::{cell::RefCell, sync::Arc};

use super::event::Event;
use crate::{
    error::Result,
    hal::{self, AsyncError, ContextId, ErrorSlot},
};

pub(super) struct Stream {
    context: ContextId,
    errors: ErrorSlot,
}

thread_local! {
    /// The default streams of this thread, one for each context that it used.
    static DEFAULT: RefCell<Vec<(ContextId, Arc<Stream>)>> = const { RefCell::new(Vec::new()) };
}

impl Stream {
    pub(super) fn new(context: ContextId) -> Self {
        Self { context, errors: ErrorSlot::default() }
    }

    /// The default stream of the calling thread in a context; while the thread ends a new one.
    pub(super) fn of_thread(context: ContextId) -> Arc<Self> {
        let find = |streams: &RefCell<Vec<(ContextId, Arc<Self>)>>| {
            let mut streams = streams.borrow_mut();
            if let Some((_, stream)) = streams.iter().find(|(of, _)| *of == context) {
                return Arc::clone(stream);
            }
            let stream = Arc::new(Self::new(context));
            streams.push((context, Arc::clone(&stream)));
            stream
        };
        DEFAULT.try_with(find).unwrap_or_else(|_| Arc::new(Self::new(context)))
    }
}

impl hal::Stream for Stream {
    fn context(&self) -> Option<ContextId> {
        Some(self.context)
    }

    fn synchronize(&self) -> Result<()> {
        self.errors.report()
    }

    fn keep(&self, error: &Arc<AsyncError>) {
        self.errors.keep(error);
    }
}

impl hal::Queue for Stream {
    fn record(&self) -> Result<Arc<dyn hal::Event>> {
        Ok(Arc::new(Event::now(self.context)))
    }

    fn report(&self) -> Result<()> {
        self.errors.report()
    }

    /// What comes before the event has run.
    fn wait(&self, _event: &dyn hal::Event) -> Result<()> {
        Ok(())
    }
}
