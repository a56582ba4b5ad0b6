//! Streams of the processor: a launch has run when it returns, only its fault is kept.

use std::{cell::RefCell, sync::Arc};

use crate::{
    Result,
    backend::{self, Generation},
    fault::{Fault, FaultSlot},
};

pub(super) struct Stream {
    generation: Generation,
    fault: FaultSlot,
}

thread_local! {
    /// The default streams of this thread, one for each context that it used.
    static DEFAULT: RefCell<Vec<(Generation, Arc<Stream>)>> = const { RefCell::new(Vec::new()) };
}

impl Stream {
    pub(super) fn new(generation: Generation) -> Self {
        Self { generation, fault: FaultSlot::default() }
    }

    /// The default stream of the calling thread in a context; while the thread ends a new one.
    pub(super) fn of_thread(generation: Generation) -> Arc<Self> {
        let find = |streams: &RefCell<Vec<(Generation, Arc<Self>)>>| {
            let mut streams = streams.borrow_mut();
            if let Some((_, stream)) = streams.iter().find(|(of, _)| *of == generation) {
                return Arc::clone(stream);
            }
            let stream = Arc::new(Self::new(generation));
            streams.push((generation, Arc::clone(&stream)));
            stream
        };
        DEFAULT.try_with(find).unwrap_or_else(|_| Arc::new(Self::new(generation)))
    }
}

impl backend::Stream for Stream {
    fn generation(&self) -> Generation {
        self.generation
    }

    fn synchronize(&self) -> Result<()> {
        self.fault.report()
    }

    fn keep(&self, fault: &Arc<Fault>) {
        self.fault.keep(fault);
    }
}
