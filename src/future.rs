//! Futures of events and streams, for any executor.
//!
//! Guaranteed: a future that is dropped or forgotten leaves nothing in use, and what it waited for goes on.

use std::{
    fmt,
    future::{Future, IntoFuture},
    mem,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use crate::{
    error::{Error, Result},
    event::Event,
    hal::{self, Queue},
    properties::Backend,
    stream::Stream,
    waiter::Wait,
};

/// Waits for an [`Event`] in a task: what `event.await` is.
///
/// A future that has to wait takes a thread of a small pool, which sleeps in the driver and then wakes the task;
/// threads without a wait end by themselves. Nothing is polled in between.
///
/// # Errors
///
/// As [`Event::synchronize`], or [`Error::Unavailable`] where no thread can be created to wait.
#[must_use = "a future waits when it is awaited"]
pub struct EventFuture {
    wait: EventWait,
}

/// Waits for what was launched on a [`Stream`] in a task: what `stream.await` is. Launches count that were made
/// before the future was.
///
/// # Errors
///
/// As [`Stream::synchronize`] and [`Stream::record`], or [`Error::Unavailable`] where no thread can be created to
/// wait.
#[must_use = "a future waits when it is awaited"]
pub struct StreamFuture {
    wait: EventWait,
    queue: Arc<dyn Queue>,
}

/// A wait for an event.
struct EventWait {
    backend: Backend,
    state: State,
}

enum State {
    /// The event, which nobody has asked yet, or why there is none.
    Recorded(Result<Arc<dyn hal::Event>>),
    /// A thread waits.
    Waiting(Wait<Result<()>>),
    /// The result was given.
    Done,
}

impl EventWait {
    fn new(event: Result<Event>, backend: Backend) -> Self {
        Self { backend, state: State::Recorded(event.map(|event| event.into_parts().1)) }
    }

    /// # Panics
    ///
    /// Where it was ready before.
    fn poll(&mut self, context: &Context<'_>) -> Poll<Result<()>> {
        let wait = match mem::replace(&mut self.state, State::Done) {
            State::Recorded(event) => {
                let event = event?;
                if event.is_complete()? {
                    return Poll::Ready(Ok(()));
                }
                self.begin(event, context)?
            }
            State::Waiting(wait) => wait,
            State::Done => panic!("a future was polled after it was ready"),
        };
        let result = wait.poll(context);
        if result.is_pending() {
            self.state = State::Waiting(wait);
        }
        result
    }

    /// Lets a thread wait.
    fn begin(&self, event: Arc<dyn hal::Event>, context: &Context<'_>) -> Result<Wait<Result<()>>> {
        let wait = move || {
            let result = event.synchronize();
            // Whoever is woken can end the process, and nothing of the driver's is to be left then.
            drop(event);
            result
        };
        Wait::begin(wait, context).map_err(|error| Error::Unavailable {
            backend: self.backend,
            reason: format!("no thread could be created to wait for an event ({error})"),
        })
    }
}

impl Future for EventFuture {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        self.wait.poll(context)
    }
}

impl Future for StreamFuture {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        match self.wait.poll(context) {
            Poll::Ready(Ok(())) => Poll::Ready(self.queue.report()),
            other => other,
        }
    }
}

impl IntoFuture for Event {
    type Output = Result<()>;
    type IntoFuture = EventFuture;

    fn into_future(self) -> EventFuture {
        let backend = self.device().backend();
        EventFuture { wait: EventWait::new(Ok(self), backend) }
    }
}

impl IntoFuture for &Event {
    type Output = Result<()>;
    type IntoFuture = EventFuture;

    fn into_future(self) -> EventFuture {
        self.clone().into_future()
    }
}

impl IntoFuture for Stream {
    type Output = Result<()>;
    type IntoFuture = StreamFuture;

    fn into_future(self) -> StreamFuture {
        let wait = EventWait::new(self.record(), self.device().backend());
        StreamFuture { wait, queue: self.into_queue() }
    }
}

impl IntoFuture for &Stream {
    type Output = Result<()>;
    type IntoFuture = StreamFuture;

    fn into_future(self) -> StreamFuture {
        self.clone().into_future()
    }
}

impl fmt::Debug for EventFuture {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("EventFuture").finish_non_exhaustive()
    }
}

impl fmt::Debug for StreamFuture {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("StreamFuture").finish_non_exhaustive()
    }
}
