//! HIP memory: that of the device, and pinned memory of the host.
//!
//! Device memory is allocated and freed in the order of the default stream, where the library and the device have
//! [stream-ordered allocation](https://rocm.docs.amd.com/projects/HIP/en/latest/how-to/hip_runtime_api/memory_management/stream_ordered_allocator.html).
//! Elsewhere it is freed by `hipFree`, which waits for the device by itself; the default stream is waited for before it all
//! the same, so that nothing depends on that. Memory with panic records is coherent: a kernel writes it and the host
//! reads it while the kernel runs.

use std::{
    ffi::{c_int, c_uint, c_void},
    ptr::{self, NonNull},
};

use super::{
    driver::{OUT_OF_MEMORY, named},
    driver_context::{DriverContext, HipStream},
    library::hip,
};
use crate::{
    backend::gpu::calls::{ContextCalls as _, MemoryCalls},
    error::{Error, Result},
    hal::RowCopy,
};

/// `hipHostMallocPortable`.
const PORTABLE: c_uint = 1;
/// `hipHostMallocMapped`.
const MAPPED: c_uint = 2;
/// `hipHostMallocCoherent`.
const COHERENT: c_uint = 0x4000_0000;

/// An address of the device, as the library takes it.
pub(super) fn pointer(address: u64) -> *mut c_void {
    ptr::with_exposed_provenance_mut(address as usize)
}

/// `hipMemcpyHostToDevice`.
const HOST_TO_DEVICE: c_int = 1;
/// `hipMemcpyDeviceToHost`.
const DEVICE_TO_HOST: c_int = 2;
/// `hipMemcpyDeviceToDevice`.
const DEVICE_TO_DEVICE: c_int = 3;

/// Queues a copy of rows between two addresses, of memory as `kind` says.
///
/// # Safety
///
/// As [`MemoryCalls`] asks, for each of the rows.
unsafe fn copy_rows(
    target: u64,
    source: u64,
    rows: RowCopy,
    kind: c_int,
    stream: &HipStream,
) -> Result<()> {
    let (target, source, stream) = (pointer(target), pointer(source), stream.handle());
    let RowCopy { count, width, target_pitch, source_pitch } = rows;
    // SAFETY: promised.
    let code = unsafe {
        (hip().hipMemcpy2DAsync)(
            target,
            target_pitch,
            source,
            source_pitch,
            width,
            count,
            kind,
            stream,
        )
    };
    named(code, "hipMemcpy2DAsync", || rows.to_string())
}

/// `hipErrorPeerAccessUnsupported` and `hipErrorNotSupported`: what the library says of two devices that it cannot copy
/// between.
const UNSUPPORTED: [c_int; 2] = [217, 801];

impl MemoryCalls for DriverContext {
    fn allocate(&self, bytes: usize) -> Result<u64> {
        let mut address = ptr::null_mut();
        let place = &raw mut address;
        let (code, function) = match self.stream_ordered {
            // SAFETY: the place is this function's own.
            None => (unsafe { (hip().hipMalloc)(place, bytes) }, "hipMalloc"),
            Some(calls) => {
                // SAFETY: as above; the default stream is there.
                let allocate = || unsafe { (calls.allocate)(place, bytes, self.stream.handle()) };
                let mut code = allocate();
                if code == OUT_OF_MEMORY {
                    // The library does not wait for memory whose release the stream has not come to.
                    self.wait_for(&self.stream)?;
                    code = allocate();
                }
                (code, "hipMallocAsync")
            }
        };
        if code == OUT_OF_MEMORY {
            return Err(Error::OutOfMemory { device: self.name.clone(), bytes });
        }
        named(code, function, || format!("{bytes} bytes"))?;
        Ok(address.expose_provenance() as u64)
    }

    unsafe fn free(&self, address: u64, bytes: usize) -> Result<()> {
        let address = pointer(address);
        let (code, function) = match self.stream_ordered {
            None => {
                // Freed without a wait, the memory could still be in use; never freed, it would leak.
                self.wait_for(&self.stream).or_else(|_| self.synchronize())?;
                // SAFETY: promised.
                (unsafe { (hip().hipFree)(address) }, "hipFree")
            }
            // SAFETY: promised.
            Some(calls) => (unsafe { (calls.free)(address, self.stream.handle()) }, "hipFreeAsync"),
        };
        named(code, function, || format!("{bytes} bytes"))
    }

    unsafe fn zero(address: u64, bytes: usize, stream: &HipStream) -> Result<()> {
        // SAFETY: promised.
        let code = unsafe { (hip().hipMemsetD8Async)(pointer(address), 0, bytes, stream.handle()) };
        named(code, "hipMemsetD8Async", || format!("{bytes} bytes"))
    }

    unsafe fn download(
        target: *mut u8,
        source: u64,
        bytes: usize,
        stream: &HipStream,
    ) -> Result<()> {
        let (target, source, stream) = (target.cast(), pointer(source), stream.handle());
        // SAFETY: promised.
        let code = unsafe { (hip().hipMemcpyDtoHAsync)(target, source, bytes, stream) };
        named(code, "hipMemcpyDtoHAsync", || format!("{bytes} bytes"))
    }

    unsafe fn upload(
        target: u64,
        source: *const u8,
        bytes: usize,
        stream: &HipStream,
    ) -> Result<()> {
        let (target, source) = (pointer(target), source.cast_mut().cast());
        // SAFETY: promised; the source is only read, which the type in the library does not say.
        let code = unsafe { (hip().hipMemcpyHtoDAsync)(target, source, bytes, stream.handle()) };
        named(code, "hipMemcpyHtoDAsync", || format!("{bytes} bytes"))
    }

    unsafe fn copy(target: u64, source: u64, bytes: usize, stream: &HipStream) -> Result<()> {
        let (target, source) = (pointer(target), pointer(source));
        // SAFETY: promised.
        let code = unsafe { (hip().hipMemcpyDtoDAsync)(target, source, bytes, stream.handle()) };
        named(code, "hipMemcpyDtoDAsync", || format!("{bytes} bytes"))
    }

    unsafe fn copy_peer(
        (target, to): (u64, &Self),
        (source, from): (u64, &Self),
        bytes: usize,
        stream: &HipStream,
    ) -> Result<bool> {
        let (target, source, stream) = (pointer(target), pointer(source), stream.handle());
        let (to, from) = (to.ordinal, from.ordinal);
        // SAFETY: promised.
        let code = unsafe { (hip().hipMemcpyPeerAsync)(target, to, source, from, bytes, stream) };
        if UNSUPPORTED.contains(&code) {
            return Ok(false);
        }
        named(code, "hipMemcpyPeerAsync", || format!("{bytes} bytes"))?;
        Ok(true)
    }

    unsafe fn copy_rows(target: u64, source: u64, rows: RowCopy, stream: &HipStream) -> Result<()> {
        // SAFETY: promised.
        unsafe { copy_rows(target, source, rows, DEVICE_TO_DEVICE, stream) }
    }

    unsafe fn download_rows(
        target: *mut u8,
        source: u64,
        rows: RowCopy,
        stream: &HipStream,
    ) -> Result<()> {
        let target = target.expose_provenance() as u64;
        // SAFETY: promised.
        unsafe { copy_rows(target, source, rows, DEVICE_TO_HOST, stream) }
    }

    unsafe fn upload_rows(
        target: u64,
        source: *const u8,
        rows: RowCopy,
        stream: &HipStream,
    ) -> Result<()> {
        let source = source.expose_provenance() as u64;
        // SAFETY: promised.
        unsafe { copy_rows(target, source, rows, HOST_TO_DEVICE, stream) }
    }

    fn allocate_host(
        bytes: usize,
        mapped: bool,
        subject: impl FnOnce() -> String,
    ) -> Result<NonNull<c_void>> {
        let flags = if mapped { PORTABLE | MAPPED | COHERENT } else { PORTABLE };
        let mut memory = ptr::null_mut();
        // SAFETY: the place is this function's own.
        let code = unsafe { (hip().hipHostMalloc)(&raw mut memory, bytes, flags) };
        named(code, "hipHostMalloc", subject)?;
        Ok(NonNull::new(memory).expect("the library gives an address"))
    }

    unsafe fn device_address(
        memory: NonNull<c_void>,
        subject: impl FnOnce() -> String,
    ) -> Result<u64> {
        let mut address = ptr::null_mut();
        // SAFETY: promised; the place is this function's own.
        let code = unsafe { (hip().hipHostGetDevicePointer)(&raw mut address, memory.as_ptr(), 0) };
        named(code, "hipHostGetDevicePointer", subject)?;
        Ok(address.expose_provenance() as u64)
    }

    unsafe fn free_host(memory: NonNull<c_void>, subject: impl FnOnce() -> String) -> Result<()> {
        // SAFETY: promised.
        named(unsafe { (hip().hipHostFree)(memory.as_ptr()) }, "hipHostFree", subject)
    }
}
