//! Interoperability with cudarc: its contexts as devices, its streams and slices in launches.
//!
//! cudarc's safe functions can free or write memory that a launch of this crate uses ([`CudarcSlice`]), and can
//! record launches into graphs that own nothing. So what comes from cudarc, or is given to it, needs `unsafe`.

use std::{any::Any, sync::Arc};

use cudarc::driver::{CudaContext, CudaSlice, CudaStream, CudaView, CudaViewMut, DeviceSlice};

use super::{
    context::{self, Context},
    driver::named,
    order::{self, hold_read, hold_write, wrong_device},
    stream as queue,
};
use crate::{
    argument::{Held, ReadSlice, WriteSlice, sealed::Sealed},
    copy::DeviceCopy,
    device::Device,
    error::{Error, Result},
    hal::StreamRef,
    stream::Stream,
};

impl Device {
    /// The device of a context that the program already has. The context stays the program's: it
    /// is kept alive, never reset.
    ///
    /// # Errors
    ///
    /// [`Error::Cuda`] where the driver does not answer.
    pub fn from_cuda_context(context: &Arc<CudaContext>) -> Result<Self> {
        context::adopt(context).map(Self::of)
    }

    /// A stream of this device that launches on a stream that the program already has.
    ///
    /// # Safety
    ///
    /// While the stream is captured into a CUDA graph of cudarc's, no thread uses what is returned, nor a clone
    /// of it. A use in the capture's own thread is refused ([`Error::Capturing`]); one that comes between is not
    /// seen, and the graph then uses memory that it does not own.
    ///
    /// # Errors
    ///
    /// [`Error::WrongDevice`] for a stream of another context.
    pub unsafe fn adopt_stream(&self, stream: Arc<CudaStream>) -> Result<Stream> {
        let any: &dyn Any = self.context();
        let context = any.downcast_ref::<Context>().filter(|context| context.is_of(&stream));
        let Some(context) = context else {
            return Err(Error::WrongDevice {
                subject: "a CudaStream".to_owned(),
                found: stream.context().name().unwrap_or_else(|_| "another context".to_owned()),
                expected: self.to_string(),
            });
        };
        let stream = queue::Stream::new(self.context().id(), stream, context.shared());
        stream.publish();
        Ok(Stream::new(self.clone(), Arc::new(stream)))
    }
}

impl Stream {
    /// cudarc's stream; `None` on devices that are not CUDA's.
    ///
    /// # Safety
    ///
    /// As for [`Device::adopt_stream`]: no thread uses this stream while cudarc's is captured into a graph.
    #[must_use]
    pub unsafe fn cuda_stream(&self) -> Option<&Arc<CudaStream>> {
        let stream = StreamRef::new(self.queue());
        stream.downcast::<queue::Stream>().inspect(|stream| stream.publish());
        order::cuda_stream(stream).ok()
    }
}

/// A slice of cudarc's as an argument of a launch: `&CudaSlice<T>`, `&CudaView<T>` or `&CudaViewMut<T>` where the
/// kernel reads, `&mut CudaSlice<T>` or `&mut CudaViewMut<T>` where it writes.
///
/// A launch with one is put behind what cudarc has queued on the slice, and cudarc's events are recorded for it.
/// cudarc keeps one event for all readers, so that is not enough for everything that cudarc's safe functions do
/// afterwards: [`CudarcSlice::new`] says what is left to the program. A [`Buffer`](crate::Buffer) asks for nothing.
///
/// ```no_run
/// # use kernelmill::{CudarcSlice, Device, Launch, ReadSlice, Result, Stream, WriteSlice};
/// # fn saxpy(_: &Stream, _: f32, _: impl ReadSlice<f32>, _: impl WriteSlice<f32>) -> Result<()> { Ok(()) }
/// # fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
/// let device = Device::cuda(0)?;
/// let cuda = cudarc::driver::CudaContext::new(0)?.default_stream();
/// let x = cuda.clone_htod(&[1.0f32; 8])?;
/// let mut y = device.zeros::<f32>(8)?;
/// // SAFETY: the elements are initialised, and nothing else reads `x`.
/// saxpy(&device.stream(), 2.0, unsafe { CudarcSlice::new(&x) }, &mut y)?;
/// # Ok(())
/// # }
/// ```
///
/// A slice alone is no argument, and a stream of cudarc's takes no launches:
///
/// ```compile_fail,E0277
/// fn read(_: impl kernelmill::ReadSlice<f32>) {}
///
/// fn launch(slice: &cudarc::driver::CudaSlice<f32>) {
///     read(slice);
/// }
/// ```
///
/// ```compile_fail,E0277
/// fn on(_: &impl kernelmill::LaunchStream) {}
///
/// fn launch(stream: &std::sync::Arc<cudarc::driver::CudaStream>) {
///     on(stream);
/// }
/// ```
#[derive(Debug)]
pub struct CudarcSlice<S>(S);

impl<S> CudarcSlice<S> {
    /// Vouches for a slice in one launch.
    ///
    /// # Safety
    ///
    /// - The elements are initialised, and values of their type.
    /// - Where the kernel reads the slice: until the launch has run, no stream but the launch's own reads the
    ///   slice by a function of cudarc's. Such a read makes cudarc forget this one, and the next write, or the free
    ///   when the slice is dropped, then waits for that read alone. Launches of this crate may read it.
    /// - The slice's events are recorded: `CudaContext::disable_event_tracking` is not called; or the program waits
    ///   for the launch before it uses or drops the slice on any other stream.
    /// - No graph of cudarc's uses the slice's memory beside the launch.
    pub const unsafe fn new(slice: S) -> Self {
        Self(slice)
    }
}

impl<S> Sealed for CudarcSlice<S> {}

/// Checks that a slice of cudarc's can be used on `stream`.
fn check<'s>(owner: &Arc<CudaStream>, stream: StreamRef<'s>) -> Result<&'s Arc<CudaStream>> {
    let cuda = order::cuda_stream(stream)?;
    if cuda.context().cu_ctx() != owner.context().cu_ctx() {
        return Err(wrong_device(stream));
    }
    // Events of cudarc's can take the stream into a capture.
    if let Some(own) = stream.downcast::<queue::Stream>() {
        own.publish();
    }
    let (context, subject) = (cuda.context(), || "a stream".to_owned());
    named(context.check_err(), "an earlier call of cudarc's", subject)?;
    named(context.bind_to_thread(), "CudaContext::bind_to_thread", subject)?;
    order::launch_stream(stream)
}

/// Refuses elements that are less aligned than their type asks for: cudarc allocates without it.
fn check_alignment<T>(address: u64, len: usize) -> Result<()> {
    let alignment = align_of::<T>();
    if len == 0 || address.is_multiple_of(alignment as u64) {
        return Ok(());
    }
    Err(Error::Misaligned { subject: "a CudaSlice", address, alignment })
}

macro_rules! reads {
    ($($slice:ty),*) => {$(
        impl<T: DeviceCopy> ReadSlice<T> for CudarcSlice<&$slice> {
            fn hold<'s>(self, stream: &StreamRef<'s>, held: &mut Held<'s, T>) -> Result<()>
            where
                Self: 's,
            {
                let cuda = check(DeviceSlice::stream(self.0), *stream)?;
                let (address, guard) = hold_read(self.0, cuda)?;
                *held.guard() = guard;
                check_alignment::<T>(address, self.0.len())?;
                held.set(Some(address), self.0.len());
                Ok(())
            }
        }
    )*};
}

macro_rules! writes {
    ($($slice:ty),*) => {$(
        impl<T: DeviceCopy> WriteSlice<T> for CudarcSlice<&mut $slice> {
            fn hold<'s>(self, stream: &StreamRef<'s>, held: &mut Held<'s, T>) -> Result<()>
            where
                Self: 's,
            {
                let cuda = check(DeviceSlice::stream(self.0), *stream)?;
                let len = self.0.len();
                let (address, guard) = hold_write(self.0, cuda)?;
                *held.guard() = guard;
                check_alignment::<T>(address, len)?;
                held.set(Some(address), len);
                Ok(())
            }
        }
    )*};
}

reads!(CudaSlice<T>, CudaView<'_, T>, CudaViewMut<'_, T>);
writes!(CudaSlice<T>, CudaViewMut<'_, T>);
