//! Fills of buffers, queued on a stream.
//!
//! Guaranteed: a fill is ordered as a launch that writes the buffer. Zeros are the driver's own fill. Other values are
//! copied from a pattern in the device's memory, which suits elements of every size and back ends without another fill.

use crate::{
    buffer::Buffer,
    copy::DeviceCopy,
    device::Device,
    error::{Error, Result},
    hal::{Guard, Memory, StreamRef},
    slice::BufferSliceMut,
    stream::Stream,
    trace,
};

/// How long a pattern is at most, in bytes. Miri takes a second for a hundred thousand.
const PATTERN: usize = if cfg!(miri) { 64 } else { 1 << 20 };

impl<T: DeviceCopy> Buffer<T> {
    /// Queues a fill of the buffer on `stream`, every element a copy of `value`; see [`BufferSliceMut::fill`].
    ///
    /// # Errors
    ///
    /// As [`BufferSliceMut::fill`].
    ///
    /// ```
    /// let device = kernelmill::Device::cpu()?;
    /// let mut scores = device.upload(&[1, 2, 3, 4])?;
    /// scores.fill(&device.stream(), 9)?;
    /// scores.slice_mut(1..3).fill_zeros(&device.stream())?;
    /// assert_eq!(scores.download()?, [9, 0, 0, 9]);
    /// # Ok::<(), kernelmill::Error>(())
    /// ```
    pub fn fill(&mut self, stream: &Stream, value: T) -> Result<()> {
        self.slice_mut(..).fill(stream, value)
    }

    /// Queues a fill of the buffer with zeros on `stream`; see [`BufferSliceMut::fill_zeros`].
    ///
    /// # Errors
    ///
    /// As [`BufferSliceMut::fill`].
    pub fn fill_zeros(&mut self, stream: &Stream) -> Result<()> {
        self.slice_mut(..).fill_zeros(stream)
    }
}

impl<T: DeviceCopy> BufferSliceMut<'_, T> {
    /// Queues a fill of the elements on `stream`, each with a copy of `value`, after the launches that use the buffer.
    /// Returns at once; on the CPU the elements are written then.
    ///
    /// # Errors
    ///
    /// [`Error::WrongDevice`] where the stream is of another device than the buffer, [`Error::Capturing`] for a stream that
    /// is captured into a CUDA graph, [`Error::OutOfMemory`] where there is no memory for the pattern, of at most 1 MiB or one
    /// element, or what the driver reports.
    pub fn fill(&mut self, stream: &Stream, value: T) -> Result<()> {
        let (len, offset) = (self.len(), self.offset_bytes());
        let (device, memory) = self.slice_mut(..).into_parts();
        let Some((memory, queue)) = target(device, memory, len, stream)? else { return Ok(()) };
        let bytes = len * size_of::<T>();
        let _span = trace::copy("fill", bytes, device);
        let mut written = Guard::Nothing;
        let address = memory.hold_write(&queue, &mut written)?;
        let pattern =
            Buffer::upload(device, &vec![value; len.min((PATTERN / size_of::<T>()).max(1))])?;
        let part = pattern.len() * size_of::<T>();
        let Some(source) = pattern.slice(..).memory() else { return Ok(()) };
        let mut read = Guard::Nothing;
        let source = source.hold_read(&queue, &mut read)?;
        let address = address + offset as u64;
        (0..bytes).step_by(part).try_for_each(|done| {
            // SAFETY: the range is within the memory, both are held, and the pattern is memory of its own.
            unsafe {
                device.context().copy(address + done as u64, source, part.min(bytes - done), queue)
            }
        })
    }

    /// Queues a fill of the elements on `stream`, all of whose bytes are zero then, after the launches that use the buffer. It
    /// does not compile for types of kernels of which zeros may be no value, as [`Device::zeros`].
    ///
    /// # Errors
    ///
    /// As [`BufferSliceMut::fill`]; no memory is allocated.
    pub fn fill_zeros(&mut self, stream: &Stream) -> Result<()> {
        const {
            assert!(
                T::ZERO_IS_VALUE,
                "zero bytes may not be a valid value of this type in the kernels: fill with a value"
            )
        };
        let (len, offset) = (self.len(), self.offset_bytes());
        let (device, memory) = self.slice_mut(..).into_parts();
        let Some((memory, queue)) = target(device, memory, len, stream)? else { return Ok(()) };
        let bytes = len * size_of::<T>();
        let _span = trace::copy("fill_zeros", bytes, device);
        let mut written = Guard::Nothing;
        let address = memory.hold_write(&queue, &mut written)?;
        // SAFETY: the range is within the memory, which is held.
        unsafe { device.context().zero(address + offset as u64, bytes, queue) }
    }
}

/// The memory of a slice of `len` elements and the stream to fill it on; `None` where there is nothing to fill.
fn target<'m, 's>(
    device: &Device,
    memory: Option<&'m mut dyn Memory>,
    len: usize,
    stream: &'s Stream,
) -> Result<Option<(&'m mut dyn Memory, StreamRef<'s>)>> {
    let queue = StreamRef::new(stream.queue());
    if !device.context().accepts(&queue) {
        return Err(Error::WrongDevice {
            subject: format!("a buffer of {len} elements"),
            found: device.to_string(),
            expected: format!("a stream of {}", stream.device()),
        });
    }
    Ok(memory.filter(|_| len > 0).map(|memory| (memory, queue)))
}
