//! Memory of the asynchronous device: that of the CPU back end, and copies that are queued.
//!
//! Everything is memory of the host. Pinned memory is no other, and kernels use it by the same address.

use std::{
    ffi::c_void,
    ptr::{self, NonNull},
};

use super::driver_context::{CpuStream, DriverContext};
use crate::{
    backend::{
        cpu::plain,
        gpu::calls::{ContextCalls as _, MemoryCalls},
    },
    error::Result,
    hal::Memory as _,
};

/// The places of a queued copy.
struct Copy {
    target: *mut u8,
    source: *const u8,
    bytes: usize,
}

// SAFETY: the caller of the copy promises both places until the stream has come to it.
unsafe impl Send for Copy {}

impl Copy {
    /// Queues the copy.
    ///
    /// # Safety
    ///
    /// As [`MemoryCalls`] asks.
    unsafe fn queue(self, stream: &CpuStream) -> Result<()> {
        stream.push(Box::new(move || self.run()));
        Ok(())
    }

    fn run(self) {
        // SAFETY: promised to `queue`; two memories do not overlap.
        unsafe { ptr::copy_nonoverlapping(self.source, self.target, self.bytes) };
    }
}

/// An address of the device, for reading and writing.
fn pointer(address: u64) -> *mut u8 {
    ptr::with_exposed_provenance_mut(address as usize)
}

impl MemoryCalls for DriverContext {
    fn allocate(&self, bytes: usize) -> Result<u64> {
        let memory = self.device.memory(bytes, false)?;
        let address = memory.address();
        self.keep_memory(address, memory);
        Ok(address)
    }

    unsafe fn free(&self, address: u64, _bytes: usize) -> Result<()> {
        if let Some(memory) = self.take(address) {
            self.default_stream().push(Box::new(move || drop(memory)));
        }
        Ok(())
    }

    unsafe fn zero(address: u64, bytes: usize, stream: &CpuStream) -> Result<()> {
        // SAFETY: promised; the address is exposed.
        stream.push(Box::new(move || unsafe { ptr::write_bytes(pointer(address), 0, bytes) }));
        Ok(())
    }

    unsafe fn download(
        target: *mut u8,
        source: u64,
        bytes: usize,
        stream: &CpuStream,
    ) -> Result<()> {
        // SAFETY: promised.
        unsafe { Copy { target, source: pointer(source), bytes }.queue(stream) }
    }

    unsafe fn upload(
        target: u64,
        source: *const u8,
        bytes: usize,
        stream: &CpuStream,
    ) -> Result<()> {
        // SAFETY: promised.
        unsafe { Copy { target: pointer(target), source, bytes }.queue(stream) }
    }

    unsafe fn copy(target: u64, source: u64, bytes: usize, stream: &CpuStream) -> Result<()> {
        // SAFETY: promised.
        unsafe { Copy { target: pointer(target), source: pointer(source), bytes }.queue(stream) }
    }

    fn allocate_host(
        bytes: usize,
        _mapped: bool,
        subject: impl FnOnce() -> String,
    ) -> Result<NonNull<c_void>> {
        plain::allocate(bytes, subject)
    }

    unsafe fn device_address(
        memory: NonNull<c_void>,
        _subject: impl FnOnce() -> String,
    ) -> Result<u64> {
        Ok(memory.as_ptr().expose_provenance() as u64)
    }

    unsafe fn free_host(memory: NonNull<c_void>, _subject: impl FnOnce() -> String) -> Result<()> {
        plain::free(memory);
        Ok(())
    }
}
