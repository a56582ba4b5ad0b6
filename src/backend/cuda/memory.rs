//! CUDA memory: that of the device, and pinned memory of the host.
//!
//! [CUDA Driver API, "Memory Management"](https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__MEM.html).
//! Device memory is allocated and freed in the order of the default stream, where the device has pools of
//! memory.

use std::{
    ffi::c_void,
    ptr::{self, NonNull},
};

use cudarc::driver::{CudaStream, result as raw, sys};

use super::{capture::BesideCaptures, driver::named, driver_context::DriverContext};
use crate::{
    backend::gpu::calls::{ContextCalls as _, MemoryCalls},
    error::{Error, Result},
    hal::RowCopy,
};

/// Where the rows of a copy are.
#[derive(Clone, Copy)]
enum Place {
    Host(*mut u8),
    Device(u64),
}

impl Place {
    /// As the driver's description of a copy has it.
    fn parts(self) -> (sys::CUmemorytype, *mut c_void, u64) {
        match self {
            Self::Host(memory) => (sys::CUmemorytype::CU_MEMORYTYPE_HOST, memory.cast(), 0),
            Self::Device(address) => {
                (sys::CUmemorytype::CU_MEMORYTYPE_DEVICE, ptr::null_mut(), address)
            }
        }
    }
}

/// Queues a copy of rows.
///
/// # Safety
///
/// As [`MemoryCalls`] asks, for each of the rows.
unsafe fn copy_rows(
    target: Place,
    source: Place,
    rows: RowCopy,
    stream: &CudaStream,
) -> Result<()> {
    let (target_type, target_host, target_device) = target.parts();
    let (source_type, source_host, source_device) = source.parts();
    let copy = sys::CUDA_MEMCPY2D {
        srcXInBytes: 0,
        srcY: 0,
        srcMemoryType: source_type,
        srcHost: source_host,
        srcDevice: source_device,
        srcArray: ptr::null_mut(),
        srcPitch: rows.source_pitch,
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: target_type,
        dstHost: target_host,
        dstDevice: target_device,
        dstArray: ptr::null_mut(),
        dstPitch: rows.target_pitch,
        WidthInBytes: rows.width,
        Height: rows.count,
    };
    // SAFETY: promised; the driver reads the description before it returns.
    let copied = unsafe { sys::cuMemcpy2DAsync_v2(&raw const copy, stream.cu_stream()) };
    named(copied.result(), "cuMemcpy2DAsync", || rows.to_string())
}

/// What the driver says of two devices that it cannot copy between.
const UNSUPPORTED: [sys::CUresult; 2] =
    [sys::CUresult::CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, sys::CUresult::CUDA_ERROR_NOT_SUPPORTED];

impl MemoryCalls for DriverContext {
    fn allocate(&self, bytes: usize) -> Result<u64> {
        let _beside = BesideCaptures::begin();
        // SAFETY: a number of bytes that is not 0, and the context is current.
        let (allocated, function) = unsafe {
            if self.cuda.has_async_alloc() {
                (raw::malloc_async(self.stream.cu_stream(), bytes), "cuMemAllocAsync")
            } else {
                (raw::malloc_sync(bytes), "cuMemAlloc")
            }
        };
        match allocated {
            Err(error) if error.0 == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
                Err(Error::OutOfMemory { device: self.name.clone(), bytes })
            }
            allocated => named(allocated, function, || format!("{bytes} bytes")),
        }
    }

    unsafe fn free(&self, address: u64, bytes: usize) -> Result<()> {
        let _beside = BesideCaptures::begin();
        // SAFETY: promised.
        let (freed, function) = unsafe {
            if self.cuda.has_async_alloc() {
                (raw::free_async(address, self.stream.cu_stream()), "cuMemFreeAsync")
            } else {
                self.wait_for(&self.stream)?;
                (raw::free_sync(address), "cuMemFree")
            }
        };
        named(freed, function, || format!("{bytes} bytes"))
    }

    unsafe fn zero(address: u64, bytes: usize, stream: &CudaStream) -> Result<()> {
        // SAFETY: promised.
        let zeroed = unsafe { raw::memset_d8_async(address, 0, bytes, stream.cu_stream()) };
        named(zeroed, "cuMemsetD8Async", || format!("{bytes} bytes"))
    }

    unsafe fn download(
        target: *mut u8,
        source: u64,
        bytes: usize,
        stream: &CudaStream,
    ) -> Result<()> {
        let _beside = BesideCaptures::begin();
        // SAFETY: promised.
        let copied =
            unsafe { sys::cuMemcpyDtoHAsync_v2(target.cast(), source, bytes, stream.cu_stream()) };
        named(copied.result(), "cuMemcpyDtoHAsync", || format!("{bytes} bytes"))
    }

    unsafe fn upload(
        target: u64,
        source: *const u8,
        bytes: usize,
        stream: &CudaStream,
    ) -> Result<()> {
        let _beside = BesideCaptures::begin();
        // SAFETY: promised.
        let copied =
            unsafe { sys::cuMemcpyHtoDAsync_v2(target, source.cast(), bytes, stream.cu_stream()) };
        named(copied.result(), "cuMemcpyHtoDAsync", || format!("{bytes} bytes"))
    }

    unsafe fn copy(target: u64, source: u64, bytes: usize, stream: &CudaStream) -> Result<()> {
        // SAFETY: promised.
        let copied =
            unsafe { sys::cuMemcpyDtoDAsync_v2(target, source, bytes, stream.cu_stream()) };
        named(copied.result(), "cuMemcpyDtoDAsync", || format!("{bytes} bytes"))
    }

    unsafe fn copy_peer(
        (target, to): (u64, &Self),
        (source, from): (u64, &Self),
        bytes: usize,
        stream: &CudaStream,
    ) -> Result<bool> {
        let (to, from) = (to.cuda.cu_ctx(), from.cuda.cu_ctx());
        // SAFETY: promised; both contexts are open.
        let copied =
            unsafe { sys::cuMemcpyPeerAsync(target, to, source, from, bytes, stream.cu_stream()) };
        if UNSUPPORTED.contains(&copied) {
            return Ok(false);
        }
        named(copied.result(), "cuMemcpyPeerAsync", || format!("{bytes} bytes"))?;
        Ok(true)
    }

    unsafe fn copy_rows(
        target: u64,
        source: u64,
        rows: RowCopy,
        stream: &CudaStream,
    ) -> Result<()> {
        // SAFETY: promised.
        unsafe { copy_rows(Place::Device(target), Place::Device(source), rows, stream) }
    }

    unsafe fn download_rows(
        target: *mut u8,
        source: u64,
        rows: RowCopy,
        stream: &CudaStream,
    ) -> Result<()> {
        // SAFETY: promised.
        unsafe { copy_rows(Place::Host(target), Place::Device(source), rows, stream) }
    }

    unsafe fn upload_rows(
        target: u64,
        source: *const u8,
        rows: RowCopy,
        stream: &CudaStream,
    ) -> Result<()> {
        // SAFETY: promised.
        unsafe { copy_rows(Place::Device(target), Place::Host(source.cast_mut()), rows, stream) }
    }

    fn allocate_host(
        bytes: usize,
        mapped: bool,
        subject: impl FnOnce() -> String,
    ) -> Result<NonNull<c_void>> {
        let mapped = if mapped { sys::CU_MEMHOSTALLOC_DEVICEMAP } else { 0 };
        let _beside = BesideCaptures::begin();
        // SAFETY: a number of bytes that is not 0, and the context is current.
        let memory = unsafe { raw::malloc_host(bytes, sys::CU_MEMHOSTALLOC_PORTABLE | mapped) };
        let memory = named(memory, "cuMemHostAlloc", subject)?;
        Ok(NonNull::new(memory).expect("the driver gives an address"))
    }

    unsafe fn device_address(
        memory: NonNull<c_void>,
        subject: impl FnOnce() -> String,
    ) -> Result<u64> {
        let mut device = 0;
        // SAFETY: promised.
        let asked = unsafe {
            sys::cuMemHostGetDevicePointer_v2(&raw mut device, memory.as_ptr(), 0).result()
        };
        named(asked, "cuMemHostGetDevicePointer", subject)?;
        Ok(device)
    }

    unsafe fn free_host(memory: NonNull<c_void>, subject: impl FnOnce() -> String) -> Result<()> {
        let _beside = BesideCaptures::begin();
        // SAFETY: promised.
        named(unsafe { raw::free_host(memory.as_ptr()) }, "cuMemFreeHost", subject)
    }
}
