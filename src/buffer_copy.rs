//! Copies between buffers: of one device queued on a stream, of two devices by their driver or through the host.
//!
//! Guaranteed: a copy is ordered as a launch that reads the one buffer and writes the other.

use crate::{
    buffer::Buffer,
    copy::DeviceCopy,
    error::{Error, Result},
    hal::{Guard, Memory, StreamRef},
    slice::{BufferSlice, BufferSliceMut},
    stream::Stream,
    trace,
};

/// How much of a copy between devices is on the host at once, in bytes. Miri takes a second for a hundred thousand.
const STAGE: usize = if cfg!(miri) { 64 } else { 8 << 20 };

impl<T: DeviceCopy> Buffer<T> {
    /// Queues a copy of `source`, elements of another buffer, into the buffer on `stream`; see
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
    /// Queues a copy of `source`, elements of another buffer, into the elements on `stream`, after the launches that the
    /// two buffers have to wait for. Returns at once; on the CPU the copy is done then.
    ///
    /// Where the source is on another device, whatever drives it, the copy is done when this returns. Between two devices of
    /// CUDA, or two of HIP, the driver copies, past the host where it can; otherwise the copy goes through the host.
    ///
    /// # Errors
    ///
    /// [`Error::BufferMismatch`] where the lengths differ, [`Error::WrongDevice`] where the stream is not of the device
    /// whose memory is written, [`Error::Capturing`] for a stream that is captured into a CUDA graph, or what the driver reports.
    pub fn copy_from_buffer(&mut self, stream: &Stream, source: &BufferSlice<'_, T>) -> Result<()> {
        let (len, offset) = (self.len(), self.offset_bytes());
        let (device, memory) = self.slice_mut(..).into_parts();
        if len != source.len() {
            let operation = "copy_from_buffer";
            return Err(Error::BufferMismatch { operation, buffer: len, copied: source.len() });
        }
        let queue = StreamRef::new(stream.queue());
        if !device.context().accepts(&queue) {
            return Err(Error::WrongDevice {
                subject: format!("a buffer of {len} elements"),
                found: device.to_string(),
                expected: format!("a stream of {}", stream.device()),
            });
        }
        let (Some(memory), Some(from)) = (memory, source.memory()) else { return Ok(()) };
        if len == 0 {
            return Ok(());
        }
        let bytes = len * size_of::<T>();
        let _span = trace::copy("copy_from_buffer", bytes, device);
        if device != source.device() {
            let source = source.offset_bytes();
            // SAFETY: both ranges have as many elements.
            let is_copied = unsafe { memory.copy_from_peer(offset, from, source, bytes)? };
            if is_copied {
                return Ok(());
            }
            return through_host((from, source), (memory, offset), bytes);
        }
        let (mut read, mut written) = (Guard::Nothing, Guard::Nothing);
        let source_address = from.hold_read(&queue, &mut read)?;
        let target_address = memory.hold_write(&queue, &mut written)?;
        let (target, source) =
            (target_address + offset as u64, source_address + source.offset_bytes() as u64);
        // SAFETY: both ranges have as many elements, they are held, and one of them is borrowed for writing, so that
        // they do not overlap.
        unsafe { device.context().copy(target, source, bytes, queue) }
    }
}

/// Copies bytes from an offset of memory of one device to an offset of memory of another. Each part waits for what the
/// memory has to wait for.
pub(crate) fn through_host(
    (source, from): (&dyn Memory, usize),
    (target, to): (&mut dyn Memory, usize),
    bytes: usize,
) -> Result<()> {
    let mut stage: Vec<u8> = Vec::with_capacity(bytes.min(STAGE));
    for done in (0..bytes).step_by(STAGE) {
        let part = (bytes - done).min(STAGE);
        // SAFETY: both ranges are within their memory, and the stage has room for the part, which is read before it is
        // written.
        unsafe {
            source.read(from + done, stage.as_mut_ptr(), part)?;
            target.write(to + done, stage.as_ptr(), part)?;
        }
    }
    Ok(())
}
