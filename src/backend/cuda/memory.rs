//! CUDA memory: slices of cudarc's, whose events keep the order between streams.

use std::sync::Arc;

use cudarc::driver::{CudaSlice, CudaStream, DevicePtr, DevicePtrMut, sys};

use super::{
    driver::{bind, named},
    order,
    shared::Shared,
};
use crate::{
    error::{Error, Result},
    hal::{self, Guard, StreamRef},
};

pub(super) struct Memory {
    bytes: CudaSlice<u8>,
    shared: Arc<Shared>,
}

impl Memory {
    /// Memory of `bytes` bytes, more than 0; all zero.
    pub(super) fn zeros(shared: &Arc<Shared>, bytes: usize) -> Result<Self> {
        let mut memory = Self::allocate(shared, bytes)?;
        let zeroed = shared.stream.memset_zeros(&mut memory.bytes);
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
        // SAFETY: every caller writes all bytes before they are read.
        match unsafe { shared.stream.alloc::<u8>(bytes) } {
            Ok(bytes) => Ok(Self { bytes, shared: Arc::clone(shared) }),
            Err(error) if error.0 == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
                Err(Error::OutOfMemory { device: shared.name.clone(), bytes })
            }
            Err(error) => named(Err(error), "cuMemAlloc", || format!("{bytes} bytes")),
        }
    }

    /// Makes sure that events are recorded, where `stream` is not the default stream.
    fn expect(&self, stream: &CudaStream) -> Result<()> {
        if stream.cu_stream().is_null() { Ok(()) } else { self.shared.expect_streams() }
    }
}

impl hal::Memory for Memory {
    unsafe fn read(&self, offset: usize, target: *mut u8, bytes: usize) -> Result<()> {
        let stream = self.bytes.stream();
        let subject = || format!("{bytes} bytes");
        bind(&self.shared.cuda)?;
        let (address, recorded) = self.bytes.device_ptr(stream);
        if bytes > 0 {
            // SAFETY: the caller promises both ranges; the target is not used before the stream
            // is waited for.
            let copied = unsafe {
                let source = address + offset as u64;
                sys::cuMemcpyDtoHAsync_v2(target.cast(), source, bytes, stream.cu_stream())
            };
            named(copied.result(), "cuMemcpyDtoHAsync", subject)?;
        }
        drop(recorded);
        named(stream.synchronize(), "cuStreamSynchronize", subject)?;
        self.shared.panics.report_all(stream, false)
    }

    unsafe fn write(&mut self, offset: usize, source: *const u8, bytes: usize) -> Result<()> {
        let stream = Arc::clone(self.bytes.stream());
        let subject = || format!("{bytes} bytes");
        bind(&self.shared.cuda)?;
        let (address, recorded) = self.bytes.device_ptr_mut(&stream);
        // SAFETY: the caller promises both ranges, and the stream is waited for before the source
        // can change.
        let copied = unsafe {
            let target = address + offset as u64;
            sys::cuMemcpyHtoDAsync_v2(target, source.cast(), bytes, stream.cu_stream())
        };
        named(copied.result(), "cuMemcpyHtoDAsync", subject)?;
        drop(recorded);
        named(stream.synchronize(), "cuStreamSynchronize", subject)
    }

    fn address(&self) -> u64 {
        self.bytes.device_ptr(self.bytes.stream()).0
    }

    fn hold_read<'a>(&'a self, stream: StreamRef<'a>) -> Result<(u64, Guard<'a>)> {
        let stream = order::cuda_stream(stream)?;
        self.expect(stream)?;
        order::hold_read(&self.bytes, stream)
    }

    fn hold_write<'a>(&'a mut self, stream: StreamRef<'a>) -> Result<(u64, Guard<'a>)> {
        let stream = order::cuda_stream(stream)?;
        self.expect(stream)?;
        order::hold_write(&mut self.bytes, stream)
    }
}
