//! Streams: queues of launches on a device.

use std::{fmt, sync::Arc};

use crate::{
    argument::{LaunchStream, sealed::Sealed},
    device::Device,
    error::Result,
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
/// Cheap to clone; clones are the same stream.
#[derive(Clone)]
pub struct Stream {
    device: Device,
    queue: Arc<dyn hal::Stream>,
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
    pub(crate) fn new(device: Device, queue: Arc<dyn hal::Stream>) -> Self {
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

    /// The device of this stream.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
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
