//! Transfers of contexts whose launches are queued: memory of the device, zeros and copies on a stream of the driver's.

use std::sync::Arc;

use super::{
    calls::{Driver, MemoryCalls as _},
    host_memory::HostMemory,
    memory::Memory,
    shared::Shared,
};
use crate::{
    error::Result,
    hal::{self, RowCopy, StreamRef},
};

/// A context whose launches are queued on streams of a driver.
pub(in crate::backend) trait Queued {
    type Driver: Driver;

    fn shared(&self) -> &Arc<Shared<Self::Driver>>;
}

impl<C: Queued> hal::Transfers for C {
    fn zeros(&self, bytes: usize) -> Result<Box<dyn hal::Memory>> {
        Ok(Box::new(Memory::zeros(self.shared(), bytes)?))
    }

    unsafe fn upload(&self, source: *const u8, bytes: usize) -> Result<Box<dyn hal::Memory>> {
        // SAFETY: promised.
        Ok(Box::new(unsafe { Memory::upload(self.shared(), source, bytes)? }))
    }

    fn host_memory(&self, bytes: usize) -> Result<Box<dyn hal::HostMemory>> {
        Ok(Box::new(HostMemory::new(self.shared(), bytes)?))
    }

    unsafe fn zero(&self, target: u64, bytes: usize, stream: StreamRef<'_>) -> Result<()> {
        // SAFETY: promised.
        self.shared().queue(stream, |stream| unsafe { C::Driver::zero(target, bytes, stream) })
    }

    unsafe fn copy(
        &self,
        target: u64,
        source: u64,
        bytes: usize,
        stream: StreamRef<'_>,
    ) -> Result<()> {
        let copy = |stream: &Arc<_>| {
            // SAFETY: promised.
            unsafe { C::Driver::copy(target, source, bytes, stream) }
        };
        self.shared().queue(stream, copy)
    }

    unsafe fn copy_rows(
        &self,
        target: u64,
        source: u64,
        rows: RowCopy,
        stream: StreamRef<'_>,
    ) -> Result<()> {
        let copy = |stream: &Arc<_>| {
            // SAFETY: promised.
            unsafe { C::Driver::copy_rows(target, source, rows, stream) }
        };
        self.shared().queue(stream, copy)
    }
}

impl<D: Driver> Shared<D> {
    /// Puts one call on a stream of the context.
    fn queue(
        &self,
        stream: StreamRef<'_>,
        call: impl FnOnce(&Arc<D::Stream>) -> Result<()>,
    ) -> Result<()> {
        self.bind()?;
        let stream = D::launch_stream(stream)?;
        self.timed(stream, || call(stream))
    }

    /// Waits for all streams; the first error that was not reported yet, of the driver or of a launch.
    pub(in crate::backend) fn wait_for_all(self: &Arc<Self>) -> Result<()> {
        self.bind()?;
        let dropped = self.panics.dropped();
        self.synchronize()?;
        self.collect_times();
        self.panics.reclaim(dropped, self);
        // What was met by a thread of the driver's while this one waited.
        self.library_error()?;
        self.late_error()?;
        self.panics.report_all()
    }
}
