//! GPU memory: blocks of device memory, and the order of what uses them.
//!
//! Allocated and freed in the order of the default stream, where the driver can. What uses a block is among
//! its [`accesses`](super::accesses).

use std::{any::Any, sync::Arc};

use super::{
    accesses::{Accesses, Queued, Recording},
    calls::Driver,
    host_memory::HostMemory,
    shared::Shared,
};
use crate::{
    error::Result,
    hal::{self, Guard, RowCopy, StreamRef},
};

pub(in crate::backend) struct Memory<D: Driver> {
    block: Block<D>,
    accesses: Accesses<D>,
    shared: Arc<Shared<D>>,
}

/// Memory that is freed when this is dropped.
struct Block<D: Driver> {
    address: u64,
    bytes: usize,
    /// Whether something may use it for ever: then it is not freed.
    is_lost: bool,
    /// Whether it is the program's own: then it is not freed either.
    is_adopted: bool,
    driver: Arc<D>,
}

impl<D: Driver> Block<D> {
    /// Memory whose contents are not defined, for the default stream at first.
    fn new(driver: &Arc<D>, bytes: usize) -> Result<Self> {
        driver.bind()?;
        let address = driver.allocate(bytes)?;
        Ok(Self { address, bytes, is_lost: false, is_adopted: false, driver: Arc::clone(driver) })
    }

    /// Frees the memory, once the default stream comes to it.
    fn free(&self) -> Result<()> {
        self.driver.make_current()?;
        // SAFETY: allocated once, freed once; nothing but the default stream still uses it.
        unsafe { self.driver.free(self.address, self.bytes) }
    }
}

impl<D: Driver> Drop for Block<D> {
    /// A call that fails is not made again: it may have freed the memory, as calls report the errors
    /// of launches too.
    fn drop(&mut self) {
        if !self.is_lost && !self.is_adopted {
            self.driver.keep(self.free());
        }
    }
}

impl<D: Driver> Memory<D> {
    /// Memory of `bytes` bytes, more than 0; all zero.
    pub(in crate::backend) fn zeros(shared: &Arc<Shared<D>>, bytes: usize) -> Result<Self> {
        let mut memory = Self::allocate(shared, bytes)?;
        let stream = shared.default_stream();
        let recording = if shared.is_lazy(stream) { Recording::Lazy } else { Recording::Now };
        let queued = memory.accesses.write(stream, recording)?;
        // SAFETY: the memory has that many bytes.
        let zeroed = unsafe { D::zero(memory.block.address, bytes, stream) };
        drop(queued);
        zeroed?;
        Ok(memory)
    }

    /// Memory of `bytes` bytes, more than 0, copied from `source`.
    ///
    /// # Safety
    ///
    /// `source` can be read for `bytes` bytes.
    pub(in crate::backend) unsafe fn upload(
        shared: &Arc<Shared<D>>,
        source: *const u8,
        bytes: usize,
    ) -> Result<Self> {
        let mut memory = Self::allocate(shared, bytes)?;
        // SAFETY: the memory has that many bytes; the source is promised.
        unsafe { hal::Memory::write(&mut memory, 0, source, bytes)? };
        Ok(memory)
    }

    /// Memory that the program has allocated, and frees when this is dropped, which waits for what uses it.
    ///
    /// # Safety
    ///
    /// There are that many bytes, more than 0, and nothing uses them while this does. What was queued on them before is done,
    /// or on the stream that uses them first.
    #[cfg_attr(not(feature = "hip"), allow(dead_code, reason = "only HIP's memory is adopted"))]
    pub(in crate::backend) unsafe fn adopt(
        shared: &Arc<Shared<D>>,
        address: u64,
        bytes: usize,
    ) -> Self {
        let driver = &shared.driver;
        let (is_lost, is_adopted) = (false, true);
        let block = Block { address, bytes, is_lost, is_adopted, driver: Arc::clone(driver) };
        Self { block, accesses: Accesses::of_program(driver), shared: Arc::clone(shared) }
    }

    /// Memory whose contents are not defined.
    fn allocate(shared: &Arc<Shared<D>>, bytes: usize) -> Result<Self> {
        let block = Block::new(&shared.driver, bytes)?;
        Ok(Self { block, accesses: Accesses::new(&shared.driver), shared: Arc::clone(shared) })
    }

    /// Waits for the copy that the default stream has just been given. Where that fails, the copy
    /// may be going on.
    fn finish(&self, subject: impl FnOnce() -> String) -> Result<()> {
        let waited = self.shared.wait(self.shared.default_stream(), subject);
        if waited.is_err() {
            self.accesses.lose();
            // The host's memory is not to change any more either, as far as that can be had.
            let _ = self.shared.synchronize();
        }
        self.shared.collect_times();
        waited
    }
}

/// The stream of a launch with memory of this context, with the driver ready to be called for it, or nothing to be called for.
#[inline]
fn expect<'a, D: Driver>(
    shared: &'a Shared<D>,
    stream: &StreamRef<'a>,
) -> Result<(&'a Arc<D::Stream>, Recording)> {
    // Whoever asks whether a stream is for launches in a context uses it with memory of that context.
    if stream.is_default() && shared.has_default_alone() {
        return Ok((shared.default_stream(), Recording::Lazy));
    }
    expect_any(shared, stream)
}

/// As [`expect`], for any stream.
fn expect_any<'a, D: Driver>(
    shared: &'a Shared<D>,
    stream: &StreamRef<'a>,
) -> Result<(&'a Arc<D::Stream>, Recording)> {
    let own = D::stream_of(*stream)?;
    if shared.is_lazy(own) {
        return Ok((own, Recording::Lazy));
    }
    shared.expect(own);
    shared.bind()?;
    Ok((D::launch_stream(*stream)?, Recording::Now))
}

/// The stream of a copy, and the driver ready to be called for it.
fn expect_copy<'a, D: Driver>(
    shared: &'a Shared<D>,
    stream: StreamRef<'a>,
) -> Result<(&'a Arc<D::Stream>, Recording)> {
    let expected = expect(shared, &stream)?;
    shared.bind()?;
    Ok(expected)
}

/// Keeps what there is until an access is queued. One that need not be recorded is written down before it, as one of the default
/// stream; while the memory is borrowed nothing takes that away, so that it stands for further launches.
fn keep<'a, D: Driver>(guard: &mut Guard<'a>, queued: Option<Queued<'a, D>>) {
    *guard = queued.map_or(Guard::Lasting, Guard::keeping);
}

impl<D: Driver> Drop for Memory<D> {
    fn drop(&mut self) {
        let Self { block, accesses, shared } = self;
        let mut waited =
            shared.make_current().and_then(|()| accesses.wait_for_all(shared.default_stream()));
        if block.is_adopted && waited.is_ok() {
            // Its owner may free it at once, and in the order of any stream.
            waited = shared.wait_for(shared.default_stream());
        }
        if let Err(error) = waited
            && shared.synchronize().is_err()
        {
            shared.keep(Err(error));
            block.is_lost = !shared.is_lost();
        }
    }
}

impl<D: Driver> hal::Memory for Memory<D> {
    unsafe fn read(&self, offset: usize, target: *mut u8, bytes: usize) -> Result<()> {
        let stream = self.shared.default_stream();
        let subject = || format!("{bytes} bytes");
        self.shared.bind()?;
        self.accesses.wait_for_write(stream)?;
        if bytes > 0 {
            let source = self.block.address + offset as u64;
            // SAFETY: the caller promises both ranges; the target is not used before the stream
            // is waited for.
            let download = || unsafe { D::download(target, source, bytes, stream) };
            self.shared.timed(stream, download)?;
        }
        self.finish(subject)?;
        // Of a launch that has come to it meanwhile.
        self.shared.late_error()?;
        self.shared.panics.report_all()
    }

    unsafe fn write(&mut self, offset: usize, source: *const u8, bytes: usize) -> Result<()> {
        let subject = || format!("{bytes} bytes");
        self.shared.bind()?;
        self.accesses.wait_for_all(self.shared.default_stream())?;
        // SAFETY: the caller promises both ranges, and the stream is waited for before the source
        // can change.
        let (target, stream) = (self.block.address + offset as u64, self.shared.default_stream());
        // SAFETY: as above.
        self.shared.timed(stream, || unsafe { D::upload(target, source, bytes, stream) })?;
        self.finish(subject)?;
        self.accesses.done();
        Ok(())
    }

    unsafe fn read_rows(&self, offset: usize, target: *mut u8, rows: RowCopy) -> Result<()> {
        let (stream, subject) = (self.shared.default_stream(), || rows.to_string());
        self.shared.bind()?;
        self.accesses.wait_for_write(stream)?;
        let source = self.block.address + offset as u64;
        // SAFETY: as for `read`. Rows that were queued before one that fails are waited for too.
        let queued = unsafe { D::download_rows(target, source, rows, stream) };
        let waited = self.finish(subject);
        queued.and(waited)?;
        self.shared.late_error()?;
        self.shared.panics.report_all()
    }

    unsafe fn write_rows(&mut self, offset: usize, source: *const u8, rows: RowCopy) -> Result<()> {
        let subject = || rows.to_string();
        self.shared.bind()?;
        self.accesses.wait_for_all(self.shared.default_stream())?;
        let (target, stream) = (self.block.address + offset as u64, self.shared.default_stream());
        // SAFETY: as for `write`; see also `read_rows`.
        let queued = unsafe { D::upload_rows(target, source, rows, stream) };
        let waited = self.finish(subject);
        queued.and(waited)?;
        self.accesses.done();
        Ok(())
    }

    unsafe fn copy_to(
        &self,
        offset: usize,
        target: &mut dyn hal::HostMemory,
        target_offset: usize,
        bytes: usize,
        stream: StreamRef<'_>,
    ) -> Result<()> {
        let (stream, recording) = expect_copy(&self.shared, stream)?;
        let target = HostMemory::<D>::of_mut(target);
        let source = self.block.address + offset as u64;
        // SAFETY: within the target, as is promised.
        let address = unsafe { hal::HostMemory::pointer(target).add(target_offset) };
        let _written = target.write(stream)?;
        let _read = self.accesses.read(stream, recording)?;
        // SAFETY: both ranges are promised, and both memories stay until the accesses are done.
        self.shared.timed(stream, || unsafe { D::download(address, source, bytes, stream) })
    }

    unsafe fn copy_from(
        &mut self,
        offset: usize,
        source: &dyn hal::HostMemory,
        source_offset: usize,
        bytes: usize,
        stream: StreamRef<'_>,
    ) -> Result<()> {
        let (stream, recording) = expect_copy(&self.shared, stream)?;
        let target = self.block.address + offset as u64;
        // SAFETY: within the source, as is promised.
        let address = unsafe { source.pointer().add(source_offset) };
        let _read = HostMemory::<D>::of(source).read(stream)?;
        let _written = self.accesses.write(stream, recording)?;
        // SAFETY: both ranges are promised, and both memories stay until the accesses are done.
        self.shared.timed(stream, || unsafe { D::upload(target, address, bytes, stream) })
    }

    /// On the source's default stream. What the target still has in flight is waited for by the host, as streams of one
    /// context do not know the order of those of another.
    unsafe fn copy_from_peer(
        &mut self,
        offset: usize,
        source: &dyn hal::Memory,
        source_offset: usize,
        bytes: usize,
    ) -> Result<bool> {
        let source: &dyn Any = source;
        let Some(source) = source.downcast_ref::<Self>() else { return Ok(false) };
        let subject = || format!("{bytes} bytes");
        self.shared.bind()?;
        self.accesses.wait_for_all(self.shared.default_stream())?;
        self.finish(subject)?;
        self.accesses.done();
        source.shared.bind()?;
        let stream = source.shared.default_stream();
        source.accesses.wait_for_write(stream)?;
        let target = (self.block.address + offset as u64, &*self.shared.driver);
        let from = (source.block.address + source_offset as u64, &*source.shared.driver);
        // SAFETY: the caller promises both ranges; the stream is waited for before either can change.
        let copy = || unsafe { D::copy_peer(target, from, bytes, stream) };
        let is_copied = source.shared.timed(stream, copy)?;
        if let Err(error) = source.finish(subject) {
            self.accesses.lose();
            return Err(error);
        }
        source.shared.late_error()?;
        source.shared.panics.report_all()?;
        Ok(is_copied)
    }

    fn address(&self) -> u64 {
        self.block.address
    }

    fn hold_read<'a>(&'a self, stream: &StreamRef<'a>, guard: &mut Guard<'a>) -> Result<u64> {
        let (stream, recording) = expect(&self.shared, stream)?;
        keep(guard, self.accesses.read(stream, recording)?);
        Ok(self.block.address)
    }

    fn hold_write<'a>(&'a mut self, stream: &StreamRef<'a>, guard: &mut Guard<'a>) -> Result<u64> {
        let (stream, recording) = expect(&self.shared, stream)?;
        keep(guard, self.accesses.write(stream, recording)?);
        Ok(self.block.address)
    }
}
