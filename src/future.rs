//! Futures of events, streams and downloads, for any executor.
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
    buffer::Buffer,
    copy::DeviceCopy,
    error::{Error, Result},
    event::Event,
    hal::{self, Queue},
    pinned::PinnedBuffer,
    properties::Backend,
    slice::BufferSlice,
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

/// A download that is queued, made by [`Buffer::download_async`]; `await` gives the elements.
///
/// It borrows nothing: it has memory of the host of its own. Dropping it waits for the copy, on the thread that does so;
/// one that is leaked leaks that memory.
///
/// # Errors
///
/// As [`Buffer::download`], or [`Error::Unavailable`] where no thread can be created to wait.
#[must_use = "a future waits when it is awaited"]
pub struct DownloadFuture<T> {
    wait: EventWait,
    target: PinnedBuffer<T>,
}

impl<T: DeviceCopy> Buffer<T> {
    /// Queues a copy of all elements to the host on `stream`; see [`BufferSlice::download_async`].
    ///
    /// # Errors
    ///
    /// As [`BufferSlice::download_async`].
    ///
    /// ```
    /// # use std::{future::Future, pin::pin, task::{Context, Poll, Waker}};
    /// # async fn run() -> kernelmill::Result<()> {
    /// let device = kernelmill::Device::cpu()?;
    /// let buffer = device.upload(&[1, 2, 3])?;
    /// let elements = buffer.download_async(&device.stream())?.await?;
    /// assert_eq!(elements, [1, 2, 3]);
    /// # Ok(()) }
    /// # let future = pin!(run());
    /// # assert!(matches!(future.poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(Ok(()))));
    /// ```
    pub fn download_async(&self, stream: &Stream) -> Result<DownloadFuture<T>> {
        self.slice(..).download_async(stream)
    }
}

impl<T: DeviceCopy> BufferSlice<'_, T> {
    /// Queues a copy of the elements to new memory of the host on `stream`, as
    /// [`BufferSlice::copy_to_async`] does, and gives a future of them.
    ///
    /// The memory is pinned, which takes time where no earlier one of the same size is kept, and the elements are
    /// copied once more on the host: for large downloads that are made again and again, use one [`PinnedBuffer`] and
    /// await the stream.
    ///
    /// # Errors
    ///
    /// As [`BufferSlice::copy_to_async`], and where there is no memory. The future reports what happens later.
    pub fn download_async(&self, stream: &Stream) -> Result<DownloadFuture<T>> {
        let mut target = PinnedBuffer::allocate(self.device(), self.len())?;
        self.copy_to_async(stream, &mut target)?;
        let wait = EventWait::new(stream.record(), self.device().backend());
        Ok(DownloadFuture { wait, target })
    }
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

impl<T: DeviceCopy> Future for DownloadFuture<T> {
    type Output = Result<Vec<T>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<Vec<T>>> {
        let result = self.wait.poll(context);
        result.map(|waited| waited.and_then(|()| Ok(self.target.as_slice()?.to_vec())))
    }
}

/// The elements are on the heap, and nothing refers to them.
impl<T> Unpin for DownloadFuture<T> {}

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

impl<T> fmt::Debug for DownloadFuture<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("DownloadFuture")
            .field("len", &self.target.len())
            .finish_non_exhaustive()
    }
}
