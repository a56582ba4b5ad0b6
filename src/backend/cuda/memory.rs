//! CUDA memory: blocks of device memory, and the order of what uses them.
//!
//! Allocated and freed in the order of the default stream, where the device has pools of memory. Not a
//! slice of cudarc's, which keeps the last reader only: see [`accesses`](super::accesses).

use std::sync::Arc;

use cudarc::driver::{CudaStream, result as raw, sys};

use super::{
    accesses::{Accesses, Queued},
    driver::named,
    driver_context::DriverContext,
    host_memory::HostMemory,
    order,
    shared::Shared,
};
use crate::{
    error::{Error, Result},
    hal::{self, Guard, StreamRef},
};

pub(super) struct Memory {
    block: Block,
    accesses: Accesses,
    shared: Arc<Shared>,
}

/// Memory that is freed when this is dropped.
struct Block {
    address: sys::CUdeviceptr,
    bytes: usize,
    /// Whether something may use it for ever: then it is not freed.
    is_lost: bool,
    driver: Arc<DriverContext>,
}

impl Block {
    /// Memory whose contents are not defined, for the default stream at first.
    fn new(driver: &Arc<DriverContext>, bytes: usize) -> Result<Self> {
        driver.bind()?;
        // SAFETY: a number of bytes that is not 0, and the context is current.
        let (allocated, function) = unsafe {
            if driver.cuda.has_async_alloc() {
                (raw::malloc_async(driver.stream.cu_stream(), bytes), "cuMemAllocAsync")
            } else {
                (raw::malloc_sync(bytes), "cuMemAlloc")
            }
        };
        match allocated {
            Ok(address) => Ok(Self { address, bytes, is_lost: false, driver: Arc::clone(driver) }),
            Err(error) if error.0 == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
                Err(Error::OutOfMemory { device: driver.name.clone(), bytes })
            }
            Err(error) => named(Err(error), function, || format!("{bytes} bytes")),
        }
    }

    /// Frees the memory, once the default stream comes to it.
    fn free(&self) -> Result<()> {
        let driver = &self.driver;
        driver.make_current()?;
        // SAFETY: allocated once, freed once; nothing but the default stream still uses it.
        let (freed, function) = unsafe {
            if driver.cuda.has_async_alloc() {
                (raw::free_async(self.address, driver.stream.cu_stream()), "cuMemFreeAsync")
            } else {
                driver.wait_for(&driver.stream)?;
                (raw::free_sync(self.address), "cuMemFree")
            }
        };
        named(freed, function, || format!("{} bytes", self.bytes))
    }
}

impl Drop for Block {
    /// A call that fails is not made again: it may have freed the memory, as calls report the errors
    /// of launches too.
    fn drop(&mut self) {
        if !self.is_lost {
            self.driver.keep(self.free());
        }
    }
}

impl Memory {
    /// Memory of `bytes` bytes, more than 0; all zero.
    pub(super) fn zeros(shared: &Arc<Shared>, bytes: usize) -> Result<Self> {
        let mut memory = Self::allocate(shared, bytes)?;
        let queued = memory.accesses.write(&shared.stream)?;
        let (address, stream) = (memory.block.address, shared.stream.cu_stream());
        // SAFETY: the memory has that many bytes.
        let zeroed = unsafe { raw::memset_d8_async(address, 0, bytes, stream) };
        drop(queued);
        named(zeroed, "cuMemsetD8Async", || format!("{bytes} bytes"))?;
        Ok(memory)
    }

    /// Memory of `bytes` bytes, more than 0, copied from `source`.
    ///
    /// # Safety
    ///
    /// `source` can be read for `bytes` bytes.
    pub(super) unsafe fn upload(
        shared: &Arc<Shared>,
        source: *const u8,
        bytes: usize,
    ) -> Result<Self> {
        let mut memory = Self::allocate(shared, bytes)?;
        // SAFETY: the memory has that many bytes; the source is promised.
        unsafe { hal::Memory::write(&mut memory, 0, source, bytes)? };
        Ok(memory)
    }

    /// Memory whose contents are not defined.
    fn allocate(shared: &Arc<Shared>, bytes: usize) -> Result<Self> {
        let block = Block::new(&shared.driver, bytes)?;
        Ok(Self { block, accesses: Accesses::new(&shared.driver), shared: Arc::clone(shared) })
    }

    /// Waits for the copy that the default stream has just been given. Where that fails, the copy
    /// may be going on.
    fn finish(&self, subject: impl FnOnce() -> String) -> Result<()> {
        let stream = self.shared.stream.cu_stream();
        // SAFETY: the default stream is always there.
        let waited = unsafe { raw::stream::synchronize(stream) };
        if waited.is_err() {
            self.accesses.lose();
            // The host's memory is not to change any more either, as far as that can be had.
            let _ = self.shared.synchronize();
        }
        named(waited, "cuStreamSynchronize", subject)
    }

    /// The stream of a launch, and the driver ready to be called for it.
    fn expect<'a>(&self, stream: StreamRef<'a>) -> Result<&'a Arc<CudaStream>> {
        let cuda = order::cuda_stream(stream)?;
        self.shared.expect(cuda);
        if self.shared.is_lazy(cuda) {
            return Ok(cuda);
        }
        self.shared.bind()?;
        order::launch_stream(stream)
    }

    /// The stream of a copy, and the driver ready to be called for it.
    fn expect_copy<'a>(&self, stream: StreamRef<'a>) -> Result<&'a Arc<CudaStream>> {
        let stream = self.expect(stream)?;
        self.shared.bind()?;
        Ok(stream)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let Self { block, accesses, shared } = self;
        let waited = shared.make_current().and_then(|()| accesses.wait_for_all(&shared.stream));
        if let Err(error) = waited
            && shared.synchronize().is_err()
        {
            shared.keep(Err(error));
            block.is_lost = true;
        }
    }
}

impl hal::Memory for Memory {
    unsafe fn read(&self, offset: usize, target: *mut u8, bytes: usize) -> Result<()> {
        let stream = &self.shared.stream;
        let subject = || format!("{bytes} bytes");
        self.shared.bind()?;
        self.accesses.wait_for_write(stream)?;
        if bytes > 0 {
            // SAFETY: the caller promises both ranges; the target is not used before the stream
            // is waited for.
            let copied = unsafe {
                let source = self.block.address + offset as u64;
                sys::cuMemcpyDtoHAsync_v2(target.cast(), source, bytes, stream.cu_stream())
            };
            named(copied.result(), "cuMemcpyDtoHAsync", subject)?;
        }
        self.finish(subject)?;
        self.shared.panics.report_all()
    }

    unsafe fn write(&mut self, offset: usize, source: *const u8, bytes: usize) -> Result<()> {
        let subject = || format!("{bytes} bytes");
        self.shared.bind()?;
        self.accesses.wait_for_all(&self.shared.stream)?;
        // SAFETY: the caller promises both ranges, and the stream is waited for before the source
        // can change.
        let copied = unsafe {
            let target = self.block.address + offset as u64;
            sys::cuMemcpyHtoDAsync_v2(target, source.cast(), bytes, self.shared.stream.cu_stream())
        };
        named(copied.result(), "cuMemcpyHtoDAsync", subject)?;
        self.finish(subject)?;
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
        let stream = self.expect_copy(stream)?;
        let target = HostMemory::of_mut(target);
        let source = self.block.address + offset as u64;
        // SAFETY: within the target, as is promised.
        let address = unsafe { hal::HostMemory::pointer(target).add(target_offset) };
        let _written = target.accesses().write(stream)?;
        let _read = self.accesses.read(stream)?;
        // SAFETY: both ranges are promised, and both memories stay until the accesses are done.
        let copied =
            unsafe { sys::cuMemcpyDtoHAsync_v2(address.cast(), source, bytes, stream.cu_stream()) };
        named(copied.result(), "cuMemcpyDtoHAsync", || format!("{bytes} bytes"))
    }

    unsafe fn copy_from(
        &mut self,
        offset: usize,
        source: &dyn hal::HostMemory,
        source_offset: usize,
        bytes: usize,
        stream: StreamRef<'_>,
    ) -> Result<()> {
        let stream = self.expect_copy(stream)?;
        let target = self.block.address + offset as u64;
        // SAFETY: within the source, as is promised.
        let address = unsafe { source.pointer().add(source_offset) };
        let _read = HostMemory::of(source).read(stream)?;
        let _written = self.accesses.write(stream)?;
        // SAFETY: both ranges are promised, and both memories stay until the accesses are done.
        let copied =
            unsafe { sys::cuMemcpyHtoDAsync_v2(target, address.cast(), bytes, stream.cu_stream()) };
        named(copied.result(), "cuMemcpyHtoDAsync", || format!("{bytes} bytes"))
    }

    fn address(&self) -> u64 {
        self.block.address
    }

    fn hold_read<'a>(&'a self, stream: StreamRef<'a>) -> Result<(u64, Guard<'a>)> {
        let stream = self.expect(stream)?;
        let queued: Queued<'a> = self.accesses.read(stream)?;
        Ok((self.block.address, Guard::keeping(queued)))
    }

    fn hold_write<'a>(&'a mut self, stream: StreamRef<'a>) -> Result<(u64, Guard<'a>)> {
        let stream = self.expect(stream)?;
        let queued: Queued<'a> = self.accesses.write(stream)?;
        Ok((self.block.address, Guard::keeping(queued)))
    }
}
