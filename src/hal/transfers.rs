//! Transfers: how a context allocates the memory of its device, fills it and copies within it.

use super::{HostMemory, Memory, RowCopy, StreamRef};
use crate::error::Result;

/// The memory of a device.
pub(crate) trait Transfers {
    /// Memory of `bytes` bytes, more than 0, all zero.
    fn zeros(&self, bytes: usize) -> Result<Box<dyn Memory>>;

    /// Memory of `bytes` bytes, more than 0, copied from `source`.
    ///
    /// # Safety
    ///
    /// `source` can be read for `bytes` bytes.
    unsafe fn upload(&self, source: *const u8, bytes: usize) -> Result<Box<dyn Memory>>;

    /// Memory of the host of `bytes` bytes, more than 0, all zero, which copies use as it is. It is aligned to 128
    /// bytes.
    fn host_memory(&self, bytes: usize) -> Result<Box<dyn HostMemory>>;

    /// Queues zeros for `bytes` bytes of the device's memory, more than 0, on a stream that this accepts.
    ///
    /// # Safety
    ///
    /// They are held for the stream.
    unsafe fn zero(&self, target: u64, bytes: usize, stream: StreamRef<'_>) -> Result<()>;

    /// Queues a copy of `bytes` bytes between two places of the device's memory, on a stream that this accepts.
    ///
    /// # Safety
    ///
    /// Both are held for the stream, have so many bytes, and do not overlap.
    unsafe fn copy(
        &self,
        target: u64,
        source: u64,
        bytes: usize,
        stream: StreamRef<'_>,
    ) -> Result<()>;

    /// Queues a copy of rows as [`Transfers::copy`] does.
    ///
    /// # Safety
    ///
    /// As for it, for each of the rows.
    unsafe fn copy_rows(
        &self,
        target: u64,
        source: u64,
        rows: RowCopy,
        stream: StreamRef<'_>,
    ) -> Result<()> {
        (0..rows.count).try_for_each(|row| {
            let [to, from] = rows.offsets(row).map(|offset| offset as u64);
            // SAFETY: promised.
            unsafe { self.copy(target + to, source + from, rows.width, stream) }
        })
    }
}
