//! Pinned buffers: memory of the host that queued copies use, and those copies.
//!
//! Host and device use such memory in turn, as they use a [`Buffer`]: a copy is queued, and whoever touches the memory
//! on the host waits for it. Guaranteed, also where buffers, streams and slices are leaked: a copy never uses memory
//! that is freed or borrowed.

use std::{fmt, marker::PhantomData, ptr, slice};

use crate::{
    buffer::Buffer,
    copy::DeviceCopy,
    device::Device,
    error::{Error, Result},
    hal::{HostMemory, StreamRef},
    slice::{BufferSlice, BufferSliceMut},
    stream::Stream,
    trace,
};

/// What every back end aligns memory to.
const BY_BACK_ENDS: usize = 128;

/// `len` elements of `T` in memory of the host that the driver has pinned, so that copies between it and the device
/// run while the host does something else. On the CPU it is plain memory.
///
/// Made by [`Device::pinned_zeros`] and [`Device::pinned_from`]. Copies are queued on a stream by
/// [`Buffer::copy_from_async`] and [`Buffer::copy_to_async`]. The host sees the elements by
/// [`as_slice`](Self::as_slice) and [`as_mut_slice`](Self::as_mut_slice), which wait for the copies that use them.
/// Dropping the buffer waits for all of them. To free pinned memory the driver waits for the whole device, so up to
/// 64 MiB of it are kept for the next buffers of a device.
///
/// ```
/// let device = kernelmill::Device::cpu()?;
/// let stream = device.new_stream()?;
/// let source = device.pinned_from(&[1, 2, 3])?;
/// let mut target = device.pinned_zeros::<i32>(3)?;
/// let mut buffer = device.zeros::<i32>(3)?;
/// buffer.copy_from_async(&stream, &source)?;
/// // ... launches on `stream`
/// buffer.copy_to_async(&stream, &mut target)?;
/// assert_eq!(target.as_slice()?, [1, 2, 3]);
/// # Ok::<(), kernelmill::Error>(())
/// ```
pub struct PinnedBuffer<T> {
    device: Device,
    /// `None`: no bytes.
    memory: Option<Box<dyn HostMemory>>,
    /// Bytes of the memory before the elements.
    skipped: usize,
    len: usize,
    marker: PhantomData<T>,
}

impl Device {
    /// A new pinned buffer of `n` elements whose bytes are all zero. It does not compile for a generated struct with
    /// private fields, of which zeros may be no value.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], or what the driver reports.
    pub fn pinned_zeros<T: DeviceCopy>(&self, n: usize) -> Result<PinnedBuffer<T>> {
        const {
            assert!(
                T::ZERO_IS_VALUE,
                "zero bytes may not be a valid value of this type in the kernels"
            )
        };
        PinnedBuffer::allocate(self, n)
    }

    /// Copies `data` into a new pinned buffer.
    ///
    /// # Errors
    ///
    /// As [`Device::pinned_zeros`].
    pub fn pinned_from<T: DeviceCopy>(&self, data: &[T]) -> Result<PinnedBuffer<T>> {
        let buffer = PinnedBuffer::allocate(self, data.len())?;
        // Not as a slice: zeros may be no value of `T`.
        // SAFETY: the memory is new and has room for as many elements, where they may lie.
        unsafe { ptr::copy_nonoverlapping(data.as_ptr(), buffer.pointer(), data.len()) };
        Ok(buffer)
    }
}

impl<T: DeviceCopy> PinnedBuffer<T> {
    /// Memory for `len` elements, all zero.
    pub(crate) fn allocate(device: &Device, len: usize) -> Result<Self> {
        let padding = align_of::<T>().saturating_sub(BY_BACK_ENDS);
        let bytes = len.checked_mul(size_of::<T>()).and_then(|bytes| bytes.checked_add(padding));
        let Some(bytes) = bytes else {
            return Err(Error::OutOfMemory { device: device.to_string(), bytes: usize::MAX });
        };
        let memory = match len * size_of::<T>() {
            0 => None,
            _ => Some(device.context().host_memory(bytes)?),
        };
        let address = memory.as_ref().map_or(0, |memory| memory.pointer().addr());
        let skipped = address.next_multiple_of(align_of::<T>()) - address;
        debug_assert!(skipped <= padding, "back ends align to {BY_BACK_ENDS} bytes");
        Ok(Self { device: device.clone(), memory, skipped, len, marker: PhantomData })
    }

    /// The elements, after waiting for the copy to them.
    ///
    /// # Errors
    ///
    /// What the driver reports, and where there was such a copy the first panic of a launch that was not reported
    /// before, as [`Buffer::download`].
    pub fn as_slice(&self) -> Result<&[T]> {
        if let Some(memory) = &self.memory {
            memory.finish_write()?;
        }
        // SAFETY: there are as many elements: zeros that are values, or what was copied there. No copy writes them
        // any more, and none is begun that does while this buffer is borrowed.
        Ok(unsafe { slice::from_raw_parts(self.pointer(), self.len) })
    }

    /// The elements to write, after waiting for all copies that use them.
    ///
    /// # Errors
    ///
    /// As [`PinnedBuffer::as_slice`].
    pub fn as_mut_slice(&mut self) -> Result<&mut [T]> {
        if let Some(memory) = &mut self.memory {
            memory.finish_all()?;
        }
        // SAFETY: as above, and no copy reads them any more.
        Ok(unsafe { slice::from_raw_parts_mut(self.pointer(), self.len) })
    }

    /// The first element.
    fn pointer(&self) -> *mut T {
        match &self.memory {
            // SAFETY: the elements come behind so many bytes.
            Some(memory) => unsafe { memory.pointer().add(self.skipped).cast() },
            None => ptr::dangling_mut(),
        }
    }
}

impl<T> PinnedBuffer<T> {
    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The device that copies between it and its own memory.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Checks a copy between this buffer and `len` elements of a buffer of `device` on `stream`.
    fn check(&self, copy: &Copy<'_>) -> Result<()> {
        let Copy { operation, device, len, stream } = *copy;
        if self.len != len {
            return Err(Error::LengthMismatch { operation, buffer: len, host: self.len });
        }
        let wrong = |subject: String, found: &Device, expected: String| Error::WrongDevice {
            subject,
            found: found.to_string(),
            expected,
        };
        if self.device != *device {
            let subject = format!("a pinned buffer of {len} elements");
            return Err(wrong(subject, &self.device, format!("a buffer of {device}")));
        }
        if !device.context().accepts(&StreamRef::new(stream.queue())) {
            let subject = format!("a buffer of {len} elements");
            return Err(wrong(subject, device, format!("a stream of {}", stream.device())));
        }
        Ok(())
    }
}

/// A copy between a pinned buffer and a buffer.
struct Copy<'a> {
    operation: &'static str,
    /// Of the buffer.
    device: &'a Device,
    len: usize,
    stream: &'a Stream,
}

impl<T: DeviceCopy> Buffer<T> {
    /// Queues a copy of all elements to `target` on `stream`; see [`BufferSlice::copy_to_async`].
    ///
    /// # Errors
    ///
    /// As [`BufferSlice::copy_to_async`].
    pub fn copy_to_async(&self, stream: &Stream, target: &mut PinnedBuffer<T>) -> Result<()> {
        self.slice(..).copy_to_async(stream, target)
    }

    /// Queues a copy of `source` into the buffer on `stream`; see [`BufferSliceMut::copy_from_async`].
    ///
    /// # Errors
    ///
    /// As [`BufferSliceMut::copy_from_async`].
    pub fn copy_from_async(&mut self, stream: &Stream, source: &PinnedBuffer<T>) -> Result<()> {
        self.slice_mut(..).copy_from_async(stream, source)
    }
}

impl<T: DeviceCopy> BufferSlice<'_, T> {
    /// Queues a copy of the elements to `target` on `stream`, after the launches before it on the stream and those
    /// on others that write the buffer. Returns at once; on the CPU the copy is done then.
    ///
    /// # Errors
    ///
    /// [`Error::LengthMismatch`] where the lengths differ, [`Error::WrongDevice`] where the three are not of one
    /// device, [`Error::Capturing`] for a stream that is captured into a CUDA graph, or what the driver reports. The
    /// panic of a launch before it is reported by [`PinnedBuffer::as_slice`] or by the stream, whichever is asked
    /// first, and on the CPU here.
    pub fn copy_to_async(&self, stream: &Stream, target: &mut PinnedBuffer<T>) -> Result<()> {
        let (device, len) = (self.device(), self.len());
        target.check(&Copy { operation: "copy_to_async", device, len, stream })?;
        let (Some(memory), Some(host)) = (self.memory(), &mut target.memory) else { return Ok(()) };
        let (stream, bytes) = (StreamRef::new(stream.queue()), len * size_of::<T>());
        let _span = trace::copy("copy_to_async", bytes, device);
        // SAFETY: the range is within the buffer, and the target has as many elements.
        unsafe { memory.copy_to(self.offset_bytes(), &mut **host, target.skipped, bytes, stream) }
    }
}

impl<T: DeviceCopy> BufferSliceMut<'_, T> {
    /// Queues a copy of `source` into the elements on `stream`, after the launches before it on the stream and those
    /// on others that use the buffer. Returns at once; on the CPU the copy is done then.
    ///
    /// # Errors
    ///
    /// As [`BufferSlice::copy_to_async`], but for panics.
    pub fn copy_from_async(&mut self, stream: &Stream, source: &PinnedBuffer<T>) -> Result<()> {
        let (len, offset) = (self.len(), self.offset_bytes());
        let (device, memory) = self.slice_mut(..).into_parts();
        source.check(&Copy { operation: "copy_from_async", device, len, stream })?;
        let (Some(memory), Some(host)) = (memory, &source.memory) else { return Ok(()) };
        let (stream, bytes) = (StreamRef::new(stream.queue()), len * size_of::<T>());
        let _span = trace::copy("copy_from_async", bytes, device);
        // SAFETY: the range is within the buffer, and the source has as many elements.
        unsafe { memory.copy_from(offset, &**host, source.skipped, bytes, stream) }
    }
}

impl<T> fmt::Debug for PinnedBuffer<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PinnedBuffer")
            .field("element", &std::any::type_name::<T>())
            .field("len", &self.len)
            .field("device", &self.device.name())
            .finish_non_exhaustive()
    }
}
