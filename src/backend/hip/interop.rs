//! Interoperability with programs that call the HIP run time themselves: their streams and memory in launches.
//!
//! HIP has one context for each device of a process, so that a handle which another library has made is good here.
//! What is adopted stays its owner's: it is neither destroyed nor freed. The run time cannot see when the owner does that,
//! so both functions are `unsafe`.

use std::{
    any::Any,
    ffi::{c_int, c_void},
    sync::Arc,
};

use super::{
    context::Context,
    driver::named,
    driver_context::{self, HipStream},
    library::hip,
};
use crate::{
    backend::gpu::{calls::ContextCalls as _, memory::Memory, transfers::Queued as _},
    buffer::Buffer,
    copy::DeviceCopy,
    device::Device,
    error::{Error, Result},
    hal::{Context as _, StreamRef},
    stream::Stream,
};

/// `HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL`.
const DEVICE_ORDINAL: c_int = 9;

impl Device {
    /// A stream of this device that launches on a `hipStream_t` of the program's; null is the default stream. The stream
    /// stays the program's: it is never destroyed here.
    ///
    /// # Safety
    ///
    /// - The handle is null, or a stream that `hipStreamCreate` or one of its kin has made.
    /// - The program does not destroy it before what is returned, and all clones of it, are dropped.
    /// - While the stream is captured into a graph of HIP's, no thread uses what is returned.
    ///
    /// # Errors
    ///
    /// [`Error::WrongDevice`] where this is no device of HIP, or the stream is of another one, as far as the library can
    /// say that (`hipStreamGetDevice`).
    pub unsafe fn adopt_hip_stream(&self, stream: *mut c_void) -> Result<Stream> {
        let context = hip_context(self, "a HIP stream")?;
        if stream.is_null() {
            return Ok(self.stream());
        }
        let shared = context.shared();
        shared.bind()?;
        if let Some(device_of) = hip().stream_device {
            let mut ordinal = -1;
            // SAFETY: the stream is promised; the place is this function's own.
            let code = unsafe { device_of(stream, &raw mut ordinal) };
            named(code, "hipStreamGetDevice", || "a HIP stream".to_owned())?;
            self.check_ordinal("a HIP stream", ordinal)?;
        }
        let stream = Arc::new(HipStream::of_program(stream));
        shared.expect(&stream);
        let stream = driver_context::Stream::new(context.id(), stream, shared);
        Ok(Stream::new(self.clone(), Arc::new(stream)))
    }

    /// A buffer of `len` elements in memory that the program has from `hipMalloc` or one of its kin. The memory stays the
    /// program's: dropping the buffer waits for the launches that use it, and frees nothing.
    ///
    /// ```no_run
    /// # use kernelmill::{Device, Result};
    /// # fn hip_malloc(_: usize) -> *mut f32 { std::ptr::null_mut() }
    /// # fn main() -> Result<()> {
    /// let device = Device::hip(0)?;
    /// let memory = hip_malloc(4000);
    /// // SAFETY: the memory has 1000 floats, which are initialised, and outlives the buffer.
    /// let buffer = unsafe { device.adopt_hip_memory(memory, 1000)? };
    /// println!("{:?}", buffer.download()?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    ///
    /// - From `address` on there are `len` elements in memory of the device, initialised, and values of their type.
    /// - Until the buffer is dropped, the memory is not freed, and is used by this buffer alone, save for reads while no launch or
    ///   copy of this crate writes it.
    /// - What the program has queued on the memory before is done, or on the stream that uses the buffer first, which also
    ///   has to have come to an allocation in the order of a stream.
    ///
    /// # Errors
    ///
    /// [`Error::WrongDevice`] where this is no device of HIP, or the memory is of another one, as far as the library can say that
    /// (`hipPointerGetAttribute`); [`Error::Misaligned`] where the elements are less aligned than their type asks for; and
    /// what the library says of an address that it does not know.
    pub unsafe fn adopt_hip_memory<T: DeviceCopy>(
        &self,
        address: *mut T,
        len: usize,
    ) -> Result<Buffer<T>> {
        let context = hip_context(self, "HIP memory")?;
        let bytes = len.checked_mul(size_of::<T>());
        let bytes = bytes.ok_or(Error::OutOfMemory { device: self.to_string(), bytes: len })?;
        if bytes == 0 {
            return Ok(Buffer::from_parts(self, None, len));
        }
        let alignment = align_of::<T>();
        let (pointer, address) = (address.cast(), address.expose_provenance() as u64);
        if !address.is_multiple_of(alignment as u64) {
            return Err(Error::Misaligned { subject: "HIP memory", address, alignment });
        }
        let shared = context.shared();
        shared.bind()?;
        if let Some(attribute_of) = hip().pointer_attribute {
            let mut ordinal: c_int = -1;
            let place: *mut c_int = &raw mut ordinal;
            // SAFETY: the place is this function's own, and of the attribute's type.
            let code = unsafe { attribute_of(place.cast(), DEVICE_ORDINAL, pointer) };
            named(code, "hipPointerGetAttribute", || format!("{bytes} bytes"))?;
            self.check_ordinal("HIP memory", ordinal)?;
        }
        // SAFETY: promised.
        let memory = unsafe { Memory::adopt(shared, address, bytes) };
        Ok(Buffer::from_parts(self, Some(Box::new(memory)), len))
    }

    /// Refuses what is of another device.
    fn check_ordinal(&self, subject: &str, ordinal: c_int) -> Result<()> {
        if usize::try_from(ordinal) == Ok(self.context().ordinal()) {
            return Ok(());
        }
        Err(Error::WrongDevice {
            subject: subject.to_owned(),
            found: format!("device {ordinal} of HIP"),
            expected: self.to_string(),
        })
    }
}

impl Stream {
    /// The `hipStream_t` behind the stream, null for the default stream; `None` on devices that are not HIP's.
    ///
    /// The handle is good for as long as this stream, or a clone of it, is there. Using it takes `unsafe` functions of the
    /// library, whose callers see to the order of what they queue, and capture it into no graph while it is used here.
    #[must_use]
    pub fn hip_stream(&self) -> Option<*mut c_void> {
        let stream = StreamRef::new(self.queue()).downcast::<driver_context::Stream>()?;
        Some(stream.driver_stream().handle())
    }
}

/// The context of a device of HIP.
fn hip_context<'d>(device: &'d Device, subject: &str) -> Result<&'d Context> {
    let any: &dyn Any = device.context();
    any.downcast_ref().ok_or_else(|| Error::WrongDevice {
        subject: subject.to_owned(),
        found: "HIP".to_owned(),
        expected: device.to_string(),
    })
}
