//! Memory of devices and of the host, as back ends have it, and copies of rows.

use std::{any::Any, fmt};

use super::{guard::Guard, stream::StreamRef};
use crate::error::Result;

/// A copy of rows, in bytes. No row is empty, and none overlaps another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowCopy {
    pub(crate) count: usize,
    pub(crate) width: usize,
    /// From the beginning of one row to that of the next.
    pub(crate) target_pitch: usize,
    pub(crate) source_pitch: usize,
}

impl RowCopy {
    /// Where a row begins in the target and in the source.
    pub(crate) fn offsets(self, row: usize) -> [usize; 2] {
        [row * self.target_pitch, row * self.source_pitch]
    }
}

impl fmt::Display for RowCopy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} rows of {} bytes", self.count, self.width)
    }
}

/// A block of device memory.
pub(crate) trait Memory: Any + Send + Sync {
    /// Copies to the host; the first asynchronous error of a launch that used the memory.
    ///
    /// # Safety
    ///
    /// `offset + bytes` is within the memory; `target` can be written for `bytes` bytes.
    unsafe fn read(&self, offset: usize, target: *mut u8, bytes: usize) -> Result<()>;

    /// Copies from the host.
    ///
    /// # Safety
    ///
    /// `offset + bytes` is within the memory; `source` can be read for `bytes` bytes.
    unsafe fn write(&mut self, offset: usize, source: *const u8, bytes: usize) -> Result<()>;

    /// Copies rows to the host, as [`Memory::read`] does.
    ///
    /// # Safety
    ///
    /// The rows from `offset` on are within the memory; those of `target` can be written.
    unsafe fn read_rows(&self, offset: usize, target: *mut u8, rows: RowCopy) -> Result<()> {
        (0..rows.count).try_for_each(|row| {
            let [to, from] = rows.offsets(row);
            // SAFETY: promised.
            unsafe { self.read(offset + from, target.add(to), rows.width) }
        })
    }

    /// Copies rows from the host, as [`Memory::write`] does.
    ///
    /// # Safety
    ///
    /// The rows from `offset` on are within the memory; those of `source` can be read.
    unsafe fn write_rows(&mut self, offset: usize, source: *const u8, rows: RowCopy) -> Result<()> {
        (0..rows.count).try_for_each(|row| {
            let [to, from] = rows.offsets(row);
            // SAFETY: promised.
            unsafe { self.write(offset + to, source.add(from), rows.width) }
        })
    }

    /// Queues a copy of `bytes` bytes to `target`, a host memory of the same context, on a stream that the context
    /// accepts.
    ///
    /// # Safety
    ///
    /// `offset + bytes` is within the memory, and `target_offset + bytes` within the target.
    unsafe fn copy_to(
        &self,
        offset: usize,
        target: &mut dyn HostMemory,
        target_offset: usize,
        bytes: usize,
        stream: StreamRef<'_>,
    ) -> Result<()>;

    /// Queues a copy of `bytes` bytes from `source`, a host memory of the same context, on a stream that the
    /// context accepts.
    ///
    /// # Safety
    ///
    /// `offset + bytes` is within the memory, and `source_offset + bytes` within the source.
    unsafe fn copy_from(
        &mut self,
        offset: usize,
        source: &dyn HostMemory,
        source_offset: usize,
        bytes: usize,
        stream: StreamRef<'_>,
    ) -> Result<()>;

    /// Copies `bytes` bytes from memory of another context, past the host, and waits for the copy; the first asynchronous
    /// error of a launch that wrote the source. Gives `false` where the two have no such way: then nothing is copied.
    ///
    /// # Safety
    ///
    /// `offset + bytes` is within the memory, and `source_offset + bytes` within the source.
    unsafe fn copy_from_peer(
        &mut self,
        _offset: usize,
        _source: &dyn Memory,
        _source_offset: usize,
        _bytes: usize,
    ) -> Result<bool> {
        Ok(false)
    }

    /// The address, as long as the memory lives. What uses it is held for that.
    fn address(&self) -> u64;

    /// The address, for a kernel on `stream` that reads; the guard, nothing before, is dropped after the launch.
    fn hold_read<'a>(&'a self, stream: &StreamRef<'a>, guard: &mut Guard<'a>) -> Result<u64>;

    /// The address, for a kernel on `stream` that writes; the guard, nothing before, is dropped after the launch.
    fn hold_write<'a>(&'a mut self, stream: &StreamRef<'a>, guard: &mut Guard<'a>) -> Result<u64>;
}

/// A block of the host's memory that queued copies use. It is freed after them.
pub(crate) trait HostMemory: Any + Send + Sync {
    /// The first byte. It is read after [`HostMemory::finish_write`], and written after
    /// [`HostMemory::finish_all`].
    fn pointer(&self) -> *mut u8;

    /// Waits for the copy to this memory; the first asynchronous error, where there was such a copy.
    fn finish_write(&self) -> Result<()>;

    /// Waits for all copies; errors as for [`HostMemory::finish_write`].
    fn finish_all(&mut self) -> Result<()>;
}
