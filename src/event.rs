//! Events: points in the work of streams, which the host and other streams wait for and which have a time.
//!
//! As in [CUDA](https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__EVENT.html), but an event is
//! recorded once.

use std::{fmt, sync::Arc, time::Duration};

use crate::{
    device::Device,
    error::{Error, Result},
    hal,
};

/// The examples of the book's page.
#[cfg(doctest)]
#[doc = include_str!("../docs/src/guide/asynchrony.md")]
pub struct Guide;

/// A point in the work of a stream, made by [`Stream::record`](crate::Stream::record): it is complete when
/// everything is done that was launched on the stream before.
///
/// On the CPU launches have run when they return, so an event is complete from the beginning, and its time is that
/// of the call that recorded it.
///
/// Cheap to clone; clones are the same event. In asynchronous code, `event.await` is [`Event::synchronize`] for a
/// task.
///
/// ```
/// let stream = kernelmill::Device::cpu()?.stream();
/// let start = stream.record()?;
/// // ... launches
/// let end = stream.record()?;
/// end.synchronize()?;
/// println!("the launches took {:?}", end.elapsed_since(&start)?);
/// # Ok::<(), kernelmill::Error>(())
/// ```
#[derive(Clone)]
pub struct Event {
    device: Device,
    event: Arc<dyn hal::Event>,
}

impl Event {
    pub(crate) fn new(device: Device, event: Arc<dyn hal::Event>) -> Self {
        Self { device, event }
    }

    /// Whether everything before the event is done. It does not wait.
    ///
    /// # Errors
    ///
    /// As [`Event::synchronize`].
    pub fn is_complete(&self) -> Result<bool> {
        self.event.is_complete()
    }

    /// Waits until everything before the event is done. The thread sleeps meanwhile.
    ///
    /// # Errors
    ///
    /// What the driver reports ([`Error::Cuda`]). Panics of kernels are not reported here: they are kept for
    /// [`Stream::synchronize`](crate::Stream::synchronize) and downloads, because an event can be waited for by
    /// somebody who launched nothing.
    pub fn synchronize(&self) -> Result<()> {
        self.event.synchronize()
    }

    /// The time from `earlier` to this event, as the device measures it; zero where `earlier` came later.
    ///
    /// On CUDA the resolution is about half a microsecond. The driver gives milliseconds as an `f32`, so over
    /// longer times it is six to seven digits. On the CPU it is that of [`Instant`](std::time::Instant).
    ///
    /// # Errors
    ///
    /// [`Error::EventPending`] where one of the two events is not complete, [`Error::WrongDevice`] where they are
    /// of two devices, or what the driver reports.
    pub fn elapsed_since(&self, earlier: &Self) -> Result<Duration> {
        if !self.device.context().accepts_event(earlier.of_hal()) {
            return Err(Error::WrongDevice {
                subject: "an event".to_owned(),
                found: earlier.device.to_string(),
                expected: format!(
                    "{}, and devices have clocks of their own: measure with two events of one device",
                    self.device
                ),
            });
        }
        let elapsed = self.event.elapsed_since(earlier.of_hal())?;
        elapsed.ok_or(Error::EventPending { operation: "elapsed_since" })
    }

    /// The device of the stream that it was recorded on.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    pub(crate) fn into_parts(self) -> (Device, Arc<dyn hal::Event>) {
        (self.device, self.event)
    }

    pub(crate) fn of_hal(&self) -> &dyn hal::Event {
        &*self.event
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Event").field("device", &self.device).finish_non_exhaustive()
    }
}
