//! Streams: queues of launches on a device.

use std::{fmt, sync::Arc, time::Duration};

use crate::{
    argument::{LaunchStream, sealed::Sealed},
    device::Device,
    error::{Error, Result},
    event::Event,
    hal::{self, StreamRef},
};

/// A queue of launches on a device, which run one after the other.
///
/// Launches are asynchronous: they return when the work is queued, and errors on the device, panics
/// among them, are kept until [`Stream::synchronize`] or the download of a buffer that the launch used,
/// whichever comes first. Of several launches that fail before anybody asks, the first one's error is
/// kept. On the CPU a launch has run when it returns, and errors are kept all the same, so that a
/// program behaves alike.
///
/// Cheap to clone; clones are the same stream. In asynchronous code, `stream.await` (or `(&stream).await`) is
/// [`Stream::synchronize`] for a task: see [`StreamFuture`](crate::StreamFuture).
#[derive(Clone)]
pub struct Stream {
    device: Device,
    queue: Arc<dyn hal::Queue>,
}

impl Device {
    /// The device's default stream: the same one every time. On the CPU each thread has its own,
    /// so that threads that know nothing of each other do not get each other's errors.
    #[must_use]
    pub fn stream(&self) -> Stream {
        Stream::new(self.clone(), self.context().default_stream())
    }

    /// A new stream: launches on it run beside those on other streams, save where they use the
    /// same buffers.
    ///
    /// # Errors
    ///
    /// What the driver reports.
    pub fn new_stream(&self) -> Result<Stream> {
        Ok(Stream::new(self.clone(), self.context().new_stream()?))
    }
}

impl Stream {
    pub(crate) fn new(device: Device, queue: Arc<dyn hal::Queue>) -> Self {
        Self { device, queue }
    }

    /// Waits until everything that was launched on this stream is done.
    ///
    /// # Errors
    ///
    /// The first error of a launch on this stream that was not reported before: the panic of a
    /// kernel ([`Error::KernelPanic`]) or what the driver reports ([`Error::Cuda`]). Each is
    /// reported once.
    ///
    /// [`Error::KernelPanic`]: crate::Error::KernelPanic
    /// [`Error::Cuda`]: crate::Error::Cuda
    ///
    /// ```
    /// let stream = kernelmill::Device::cpu()?.stream();
    /// stream.synchronize()?;
    /// # Ok::<(), kernelmill::Error>(())
    /// ```
    pub fn synchronize(&self) -> Result<()> {
        self.queue.synchronize()
    }

    /// Records an event, which is complete when everything is done that was launched on this stream before. It
    /// does not wait.
    ///
    /// # Errors
    ///
    /// [`Error::Capturing`] for a stream that is captured into a CUDA graph, or what the driver reports.
    pub fn record(&self) -> Result<Event> {
        Ok(Event::new(self.device.clone(), self.queue.record()?))
    }

    /// Runs `work`, and measures how long what it launches on this stream takes on the device, by two
    /// [events](Event). It waits for that to be done. What else is on the stream meanwhile is measured too.
    ///
    /// On the CPU it is the time that `work` takes.
    ///
    /// # Errors
    ///
    /// What `work` returns, and as [`Stream::record`]. Panics of kernels are kept for [`Stream::synchronize`] and
    /// downloads.
    ///
    /// ```
    /// let device = kernelmill::Device::cpu()?;
    /// let stream = device.stream();
    /// let source = device.upload(&[1.0f32; 1000])?;
    /// let mut target = device.zeros::<f32>(1000)?;
    /// let ((), took) =
    ///     stream.time(|| target.copy_from_buffer(&stream, &source.slice(..)))?;
    /// println!("the copy took {took:?}");
    /// # Ok::<(), kernelmill::Error>(())
    /// ```
    pub fn time<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<(T, Duration)> {
        let start = self.record()?;
        let done = work()?;
        let end = self.record()?;
        end.synchronize()?;
        Ok((done, end.elapsed_since(&start)?))
    }

    /// Lets what is launched on this stream from now on wait for `event`. The call itself does not wait.
    ///
    /// Launches and copies that use the same buffer have their order without events. An event orders what the
    /// run time cannot see: memory behind addresses in buffers, and the program's own work on the device.
    ///
    /// # Errors
    ///
    /// [`Error::WrongDevice`] for an event of another device, [`Error::Capturing`] for a stream that is captured
    /// into a CUDA graph, or what the driver reports.
    ///
    /// ```
    /// let device = kernelmill::Device::cpu()?;
    /// let (first, second) = (device.new_stream()?, device.new_stream()?);
    /// // ... launches on `first`, then
    /// second.wait(&first.record()?)?;
    /// // ... launches on `second` that need what those on `first` have done.
    /// # Ok::<(), kernelmill::Error>(())
    /// ```
    pub fn wait(&self, event: &Event) -> Result<()> {
        if !self.device.context().accepts_event(event.of_hal()) {
            return Err(Error::WrongDevice {
                subject: "an event".to_owned(),
                found: event.device().to_string(),
                expected: format!("a stream of {}", self.device),
            });
        }
        self.queue.wait(event.of_hal())
    }

    /// The device of this stream.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    pub(crate) fn into_queue(self) -> Arc<dyn hal::Queue> {
        self.queue
    }

    pub(crate) fn queue(&self) -> &dyn hal::Stream {
        &*self.queue
    }
}

impl Sealed for Stream {}

impl LaunchStream for Stream {
    fn stream(&self) -> StreamRef<'_> {
        StreamRef::new(self.queue())
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Stream").field("device", &self.device).finish_non_exhaustive()
    }
}
