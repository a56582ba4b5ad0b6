//! Copies of rows: parts of buffers that lie in rows, of which each begins a pitch after the one before.
//!
//! Guaranteed: the rows are within their memory, and no two of them overlap.

use crate::{
    buffer::Buffer,
    buffer_copy::through_host,
    copy::DeviceCopy,
    error::{Error, Result},
    hal::{Guard, RowCopy, StreamRef},
    slice::{BufferSlice, BufferSliceMut},
    stream::Stream,
    trace,
};

/// The shape of a copy of rows.
///
/// ```
/// use kernelmill::Rows;
/// let device = kernelmill::Device::cpu()?;
/// // A picture of three pixels by two, in rows of four.
/// let mut picture = device.upload(&[0_u8; 8])?;
/// picture.copy_rows_from(4, &[1, 2, 3, 4, 5, 6], 3, Rows { count: 2, width: 3 })?;
/// assert_eq!(picture.download()?, [1, 2, 3, 0, 4, 5, 6, 0]);
/// // Its last two columns.
/// let mut columns = [0; 4];
/// picture.slice(1..).copy_rows_to(4, &mut columns, 2, Rows { count: 2, width: 2 })?;
/// assert_eq!(columns, [2, 3, 5, 6]);
/// # Ok::<(), kernelmill::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// The number of rows.
    pub count: usize,
    /// The elements of a row that are copied.
    pub width: usize,
}

/// One side of a copy.
struct Side {
    name: &'static str,
    elements: usize,
    pitch: usize,
}

impl Rows {
    fn is_empty(self) -> bool {
        self.count == 0 || self.width == 0
    }

    /// The copy in bytes; an error for each side where rows overlap, or are not within it.
    fn check<T>(self, operation: &'static str, target: &Side, source: &Side) -> Result<RowCopy> {
        let Self { count, width } = self;
        let mut faults = Vec::new();
        for &Side { name: side, elements, pitch } in [target, source] {
            let all = count.saturating_sub(1).checked_mul(pitch);
            let all = all.and_then(|before| before.checked_add(width));
            let are_apart = pitch >= width && all.is_some_and(|all| all <= elements);
            if !are_apart && !self.is_empty() {
                faults.push(Error::Rows { operation, count, width, pitch, side, elements });
            }
        }
        Error::all(faults)?;
        let size = size_of::<T>();
        let bytes = |elements: usize| elements.saturating_mul(size);
        Ok(RowCopy {
            count,
            width: bytes(width),
            target_pitch: bytes(target.pitch),
            source_pitch: bytes(source.pitch),
        })
    }
}

/// What messages call the sides.
const BUFFER: &str = "the buffer";
const HOST: &str = "the host slice";
const COPIED: &str = "the source buffer";

impl<T: DeviceCopy> Buffer<T> {
    /// Copies rows of `source` into the buffer; see [`BufferSliceMut::copy_rows_from`].
    ///
    /// # Errors
    ///
    /// As [`BufferSliceMut::copy_rows_from`].
    pub fn copy_rows_from(
        &mut self,
        pitch: usize,
        source: &[T],
        source_pitch: usize,
        rows: Rows,
    ) -> Result<()> {
        self.slice_mut(..).copy_rows_from(pitch, source, source_pitch, rows)
    }

    /// Copies rows of the buffer into `target`; see [`BufferSlice::copy_rows_to`].
    ///
    /// # Errors
    ///
    /// As [`BufferSlice::copy_rows_to`].
    pub fn copy_rows_to(
        &self,
        pitch: usize,
        target: &mut [T],
        target_pitch: usize,
        rows: Rows,
    ) -> Result<()> {
        self.slice(..).copy_rows_to(pitch, target, target_pitch, rows)
    }

    /// Queues a copy of rows of another buffer into the buffer on `stream`; see
    /// [`BufferSliceMut::copy_rows_from_buffer`].
    ///
    /// # Errors
    ///
    /// As [`BufferSliceMut::copy_rows_from_buffer`].
    pub fn copy_rows_from_buffer(
        &mut self,
        stream: &Stream,
        pitch: usize,
        source: &BufferSlice<'_, T>,
        source_pitch: usize,
        rows: Rows,
    ) -> Result<()> {
        self.slice_mut(..).copy_rows_from_buffer(stream, pitch, source, source_pitch, rows)
    }
}

impl<T: DeviceCopy> BufferSlice<'_, T> {
    /// Copies rows of the elements into rows of `target`. Row `i` begins at element `i * pitch` of the slice, and at
    /// `i * target_pitch` of the target; what is between rows stays as it is. Waits for the launches that write the
    /// buffer.
    ///
    /// # Errors
    ///
    /// [`Error::Rows`] where the rows are not within the elements or the target, or a pitch is below the width; or as
    /// [`Buffer::copy_to`].
    pub fn copy_rows_to(
        &self,
        pitch: usize,
        target: &mut [T],
        target_pitch: usize,
        rows: Rows,
    ) -> Result<()> {
        let operation = "copy_rows_to";
        let to = Side { name: HOST, elements: target.len(), pitch: target_pitch };
        let from = Side { name: BUFFER, elements: self.len(), pitch };
        let copy = rows.check::<T>(operation, &to, &from)?;
        let Some(memory) = self.memory().filter(|_| !rows.is_empty()) else { return Ok(()) };
        let _span = trace::copy(operation, copy.width * copy.count, self.device());
        // SAFETY: the rows are within the memory and the target.
        unsafe { memory.read_rows(self.offset_bytes(), target.as_mut_ptr().cast(), copy) }
    }
}

impl<T: DeviceCopy> BufferSliceMut<'_, T> {
    /// Copies rows of `source` into rows of the elements. Row `i` begins at element `i * source_pitch` of the source, and
    /// at `i * pitch` of the slice; what is between rows stays as it is. Returns when `source` can be changed again.
    ///
    /// # Errors
    ///
    /// [`Error::Rows`] where the rows are not within the elements or the source, or a pitch is below the width; or what
    /// the driver reports.
    pub fn copy_rows_from(
        &mut self,
        pitch: usize,
        source: &[T],
        source_pitch: usize,
        rows: Rows,
    ) -> Result<()> {
        let operation = "copy_rows_from";
        let to = Side { name: BUFFER, elements: self.len(), pitch };
        let from = Side { name: HOST, elements: source.len(), pitch: source_pitch };
        let copy = rows.check::<T>(operation, &to, &from)?;
        let offset = self.offset_bytes();
        let (device, memory) = self.slice_mut(..).into_parts();
        let Some(memory) = memory.filter(|_| !rows.is_empty()) else { return Ok(()) };
        let _span = trace::copy(operation, copy.width * copy.count, device);
        // SAFETY: the rows are within the memory and the source.
        unsafe { memory.write_rows(offset, source.as_ptr().cast(), copy) }
    }

    /// Queues a copy of rows of `source`, elements of another buffer, on `stream`, in the order of
    /// [`copy_from_buffer`](Self::copy_from_buffer). Row `i` begins at element `i * source_pitch` of the source, and at
    /// `i * pitch` of the slice; what is between rows stays as it is. Between devices the rows go through the host, and
    /// the copy is done when this returns.
    ///
    /// # Errors
    ///
    /// [`Error::Rows`] where the rows are not within one of the two, or a pitch is below the width; otherwise as
    /// [`copy_from_buffer`](Self::copy_from_buffer).
    ///
    /// ```
    /// use kernelmill::Rows;
    /// let device = kernelmill::Device::cpu()?;
    /// let source = device.upload(&[1, 2, 3, 4, 5, 6])?;
    /// let mut target = device.zeros::<i32>(4)?;
    /// // The first two columns of three.
    /// let rows = Rows { count: 2, width: 2 };
    /// target.copy_rows_from_buffer(&device.stream(), 2, &source.slice(..), 3, rows)?;
    /// assert_eq!(target.download()?, [1, 2, 4, 5]);
    /// # Ok::<(), kernelmill::Error>(())
    /// ```
    pub fn copy_rows_from_buffer(
        &mut self,
        stream: &Stream,
        pitch: usize,
        source: &BufferSlice<'_, T>,
        source_pitch: usize,
        rows: Rows,
    ) -> Result<()> {
        let operation = "copy_rows_from_buffer";
        let (len, offset) = (self.len(), self.offset_bytes());
        let to = Side { name: BUFFER, elements: len, pitch };
        let from = Side { name: COPIED, elements: source.len(), pitch: source_pitch };
        let copy = rows.check::<T>(operation, &to, &from)?;
        let (device, memory) = self.slice_mut(..).into_parts();
        let queue = StreamRef::new(stream.queue());
        if !device.context().accepts(&queue) {
            return Err(Error::WrongDevice {
                subject: format!("a buffer of {len} elements"),
                found: device.to_string(),
                expected: format!("a stream of {}", stream.device()),
            });
        }
        let (Some(memory), Some(from)) = (memory, source.memory()) else { return Ok(()) };
        if rows.is_empty() {
            return Ok(());
        }
        let _span = trace::copy(operation, copy.width * copy.count, device);
        let source_offset = source.offset_bytes();
        if device != source.device() {
            return (0..copy.count).try_for_each(|row| {
                let source = (from, source_offset + row * copy.source_pitch);
                through_host(source, (&mut *memory, offset + row * copy.target_pitch), copy.width)
            });
        }
        let (mut read, mut written) = (Guard::Nothing, Guard::Nothing);
        let source_address = from.hold_read(&queue, &mut read)?;
        let target_address = memory.hold_write(&queue, &mut written)?;
        let (target, source) =
            (target_address + offset as u64, source_address + source_offset as u64);
        // SAFETY: the rows are within both memories, which are held, and one of the two is borrowed for writing, so that
        // they do not overlap.
        unsafe { device.context().copy_rows(target, source, copy, queue) }
    }
}
