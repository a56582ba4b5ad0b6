//! Copies between buffers of a device, queued on a stream.
//!
//! Guaranteed: a copy is ordered as a launch that reads the one buffer and writes the other.

use crate::{
    buffer::Buffer,
    copy::DeviceCopy,
    error::{Error, Result},
    hal::StreamRef,
    slice::{BufferSlice, BufferSliceMut},
    stream::Stream,
    trace,
};

impl<T: DeviceCopy> Buffer<T> {
    /// Queues a copy of `source`, elements of a buffer of the same device, into the buffer on `stream`; see
    /// [`BufferSliceMut::copy_from_buffer`].
    ///
    /// # Errors
    ///
    /// As [`BufferSliceMut::copy_from_buffer`].
    ///
    /// ```
    /// let device = kernelmill::Device::cpu()?;
    /// let source = device.upload(&[1, 2, 3, 4])?;
    /// let mut target = device.zeros::<i32>(2)?;
    /// target.copy_from_buffer(&device.stream(), &source.slice(1..3))?;
    /// assert_eq!(target.download()?, [2, 3]);
    /// # Ok::<(), kernelmill::Error>(())
    /// ```
    pub fn copy_from_buffer(&mut self, stream: &Stream, source: &BufferSlice<'_, T>) -> Result<()> {
        self.slice_mut(..).copy_from_buffer(stream, source)
    }
}

impl<T: DeviceCopy> BufferSliceMut<'_, T> {
    /// Queues a copy of `source`, elements of a buffer of the same device, into the elements on `stream`, after the
    /// launches that the two buffers have to wait for. Returns at once; on the CPU the copy is done then.
    ///
    /// # Errors
    ///
    /// [`Error::BufferMismatch`] where the lengths differ, [`Error::WrongDevice`] where the three are not of one
    /// device, [`Error::Capturing`] for a stream that is captured into a CUDA graph, or what the driver reports.
    pub fn copy_from_buffer(&mut self, stream: &Stream, source: &BufferSlice<'_, T>) -> Result<()> {
        let (len, offset) = (self.len(), self.offset_bytes());
        let (device, memory) = self.slice_mut(..).into_parts();
        if len != source.len() {
            let operation = "copy_from_buffer";
            return Err(Error::BufferMismatch { operation, buffer: len, copied: source.len() });
        }
        let queue = StreamRef::new(stream.queue());
        if device != source.device() || !device.context().accepts(queue) {
            return Err(Error::WrongDevice {
                subject: format!("a buffer of {len} elements"),
                found: source.device().to_string(),
                expected: format!("a buffer of {device}, on a stream of {}", stream.device()),
            });
        }
        let (Some(memory), Some(from)) = (memory, source.memory()) else { return Ok(()) };
        if len == 0 {
            return Ok(());
        }
        let _span = trace::copy("copy_from_buffer", len * size_of::<T>(), device);
        let (source_address, _read) = from.hold_read(queue)?;
        let (target_address, _written) = memory.hold_write(queue)?;
        let (target, source) =
            (target_address + offset as u64, source_address + source.offset_bytes() as u64);
        // SAFETY: both ranges have as many elements, they are held, and one of them is borrowed for writing, so that
        // they do not overlap.
        unsafe { device.context().copy(target, source, len * size_of::<T>(), queue) }
    }
}
