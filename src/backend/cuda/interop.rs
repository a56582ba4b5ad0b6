//! Interoperability with cudarc: its contexts as devices, its streams and slices in launches.

use std::{any::Any, sync::Arc};

use cudarc::driver::{CudaContext, CudaSlice, CudaStream, CudaView, CudaViewMut, DeviceSlice};

use super::{
    context::{self, Context},
    driver::named,
    order::{self, hold_read, hold_write, wrong_device},
    stream as queue,
};
use crate::{
    argument::{Held, LaunchStream, ReadSlice, WriteSlice, sealed::Sealed},
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
    /// Wrappers take an `Arc<CudaStream>` as it is; this is for [`Stream::synchronize`], which
    /// reports kernel panics too.
    ///
    /// # Errors
    ///
    /// [`Error::WrongDevice`] for a stream of another context.
    pub fn adopt_stream(&self, stream: Arc<CudaStream>) -> Result<Stream> {
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
    #[must_use]
    pub fn cuda_stream(&self) -> Option<&Arc<CudaStream>> {
        let stream = StreamRef::new(self.queue());
        stream.downcast::<queue::Stream>().inspect(|stream| stream.publish());
        order::cuda_stream(stream).ok()
    }
}

impl Sealed for Arc<CudaStream> {}

impl LaunchStream for Arc<CudaStream> {
    fn stream(&self) -> StreamRef<'_> {
        StreamRef::new(self)
    }
}

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
        impl<T> Sealed for &$slice {}

        impl<T: DeviceCopy> ReadSlice<T> for &$slice {
            fn hold<'s>(self, stream: StreamRef<'s>) -> Result<Held<'s, T>>
            where
                Self: 's,
            {
                let cuda = check(DeviceSlice::stream(self), stream)?;
                let (address, guard) = hold_read(self, cuda)?;
                check_alignment::<T>(address, self.len())?;
                Ok(Held::new(address, self.len(), guard))
            }
        }
    )*};
}

macro_rules! writes {
    ($($slice:ty),*) => {$(
        impl<T> Sealed for &mut $slice {}

        impl<T: DeviceCopy> WriteSlice<T> for &mut $slice {
            fn hold<'s>(self, stream: StreamRef<'s>) -> Result<Held<'s, T>>
            where
                Self: 's,
            {
                let cuda = check(DeviceSlice::stream(self), stream)?;
                let len = self.len();
                let (address, guard) = hold_write(self, cuda)?;
                check_alignment::<T>(address, len)?;
                Ok(Held::new(address, len, guard))
            }
        }
    )*};
}

reads!(CudaSlice<T>, CudaView<'_, T>, CudaViewMut<'_, T>);
writes!(CudaSlice<T>, CudaViewMut<'_, T>);
