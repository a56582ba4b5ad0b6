//! OpenCL memory: coarse-grained shared virtual memory of the device, and memory of the host.
//!
//! The host never touches the device's memory: every access of its is a command of a queue. OpenCL has no call that
//! pins memory of the host, so that is plain memory here; copies of it are queued all the same.

use std::{
    ffi::c_void,
    ptr::{self, NonNull},
};

use cl3::{
    command_queue::{enqueue_svm_free, enqueue_svm_mem_cpy, enqueue_svm_mem_fill},
    memory::{CL_MEM_READ_WRITE, CL_MEM_SVM_FINE_GRAIN_BUFFER, svm_alloc, svm_free},
    types::CL_NON_BLOCKING,
};

use super::{
    driver::named,
    driver_context::{ClStream, DriverContext},
};
use crate::{
    backend::{
        cpu::plain,
        gpu::calls::{ContextCalls as _, MemoryCalls},
    },
    capability::Capability,
    error::{Error, Result},
};

/// An address of the device, as the library takes it.
fn pointer(address: u64) -> *mut c_void {
    ptr::with_exposed_provenance_mut(address as usize)
}

/// Queues a copy, of which one place may be the host's.
///
/// # Safety
///
/// As [`MemoryCalls`] asks.
unsafe fn copy(
    target: *mut c_void,
    source: *const c_void,
    bytes: usize,
    stream: &ClStream,
) -> Result<()> {
    let none = ptr::null();
    // SAFETY: promised.
    let copy = unsafe {
        enqueue_svm_mem_cpy(stream.queue(), CL_NON_BLOCKING, target, source, bytes, 0, none)
    };
    // SAFETY: an event that was just made.
    unsafe { stream.given(copy, "clEnqueueSVMMemcpy", || format!("{bytes} bytes")) }
}

impl MemoryCalls for DriverContext {
    fn allocate(&self, bytes: usize) -> Result<u64> {
        // SAFETY: the context is there; the alignment is that of the largest type.
        let memory = unsafe { svm_alloc(self.object(), CL_MEM_READ_WRITE, bytes, 0) };
        // The library says no more than that there is none.
        let lacking = |_| Error::OutOfMemory { device: self.name.clone(), bytes };
        Ok(memory.map_err(lacking)?.expose_provenance() as u64)
    }

    unsafe fn free(&self, address: u64, bytes: usize) -> Result<()> {
        let (stream, memory) = (self.default_stream(), [pointer(address).cast_const()]);
        let (nothing, none) = (ptr::null_mut(), ptr::null());
        let (function, subject) = ("clEnqueueSVMFree", || format!("{bytes} bytes"));
        if !self.loss.is_known() {
            // SAFETY: promised; the library has read the list when the call returns.
            let freed = unsafe {
                enqueue_svm_free(stream.queue(), 1, memory.as_ptr(), None, nothing, 0, none)
            };
            let event = match stream.told(freed, function, subject) {
                Err(error) if !self.loss.is_known() => return Err(error),
                freed => freed.ok(),
            };
            if let Some(event) = event {
                // SAFETY: an event that was just made.
                return unsafe { stream.given(Ok(event), function, subject) };
            }
        }
        // SAFETY: promised; nothing of a lost device runs any more, and its queues take nothing.
        named(unsafe { svm_free(self.object(), pointer(address)) }, "clSVMFree", subject)
    }

    unsafe fn zero(address: u64, bytes: usize, stream: &ClStream) -> Result<()> {
        let (memory, zero) = (pointer(address), ptr::from_ref(&0_u8).cast());
        // SAFETY: promised; the library has read the pattern when the call returns.
        let filled =
            unsafe { enqueue_svm_mem_fill(stream.queue(), memory, zero, 1, bytes, 0, ptr::null()) };
        // SAFETY: an event that was just made.
        unsafe { stream.given(filled, "clEnqueueSVMMemFill", || format!("{bytes} bytes")) }
    }

    unsafe fn download(
        target: *mut u8,
        source: u64,
        bytes: usize,
        stream: &ClStream,
    ) -> Result<()> {
        // SAFETY: promised.
        unsafe { copy(target.cast(), pointer(source), bytes, stream) }
    }

    unsafe fn upload(
        target: u64,
        source: *const u8,
        bytes: usize,
        stream: &ClStream,
    ) -> Result<()> {
        // SAFETY: promised.
        unsafe { copy(pointer(target), source.cast(), bytes, stream) }
    }

    unsafe fn copy(target: u64, source: u64, bytes: usize, stream: &ClStream) -> Result<()> {
        // SAFETY: promised.
        unsafe { copy(pointer(target), pointer(source), bytes, stream) }
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

    /// Fine-grained shared virtual memory, with atomic operations that the host sees.
    fn allocate_shared(
        &self,
        bytes: usize,
        _subject: impl Fn() -> String,
    ) -> Result<(NonNull<c_void>, u64)> {
        if !self.has_fine_grain {
            return Err(Error::Unsupported {
                subject: "a kernel that can panic".to_owned(),
                capability: Capability::Panics,
                device: format!("{} (without fine-grained shared virtual memory)", self.name),
            });
        }
        let how = CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER;
        // SAFETY: the context is there; the alignment is that of the largest type.
        let memory = unsafe { svm_alloc(self.object(), how, bytes, 0) };
        let lacking = || Error::OutOfMemory { device: self.name.clone(), bytes };
        let memory = memory.ok().and_then(NonNull::new).ok_or_else(lacking)?;
        // SAFETY: the memory was just allocated, with that many bytes, and the host may write to it.
        unsafe { memory.cast::<u8>().write_bytes(0, bytes) };
        Ok((memory, memory.as_ptr().expose_provenance() as u64))
    }

    unsafe fn free_shared(
        &self,
        memory: NonNull<c_void>,
        subject: impl FnOnce() -> String,
    ) -> Result<()> {
        // SAFETY: promised.
        let freed = unsafe { svm_free(self.object(), memory.as_ptr()) };
        named(freed, "clSVMFree", subject)
    }
}
