//! CUDA host memory: pages that the driver has pinned, between which and the device copies run by themselves.
//!
//! [CUDA C++ Programming Guide, "Page-Locked Host Memory"](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#page-locked-host-memory).
//! The copies that use a block are its accesses, as those of device memory are. Guaranteed: it is freed after them.

use std::{any::Any, ffi::c_void, ptr, ptr::NonNull, sync::Arc};

use cudarc::driver::{CudaStream, result, sys};

use super::{
    accesses::{Accesses, Queued},
    driver::named,
    shared::Shared,
};
use crate::{error::Result, hal};

pub(super) struct HostMemory {
    memory: NonNull<c_void>,
    bytes: usize,
    accesses: Accesses,
    shared: Arc<Shared>,
}

// SAFETY: it owns its memory, which every thread can use.
unsafe impl Send for HostMemory {}
// SAFETY: shared, it only gives the address away; the accesses have a lock.
unsafe impl Sync for HostMemory {}

impl HostMemory {
    /// Memory of `bytes` bytes, more than 0; all zero.
    pub(super) fn new(shared: &Arc<Shared>, bytes: usize) -> Result<Self> {
        shared.bind()?;
        // SAFETY: a number of bytes that is not 0, and the context is current.
        let memory = unsafe { result::malloc_host(bytes, sys::CU_MEMHOSTALLOC_PORTABLE) };
        let memory = named(memory, "cuMemHostAlloc", || subject(bytes))?;
        let memory = NonNull::new(memory).expect("the driver gives an address");
        // SAFETY: the memory has that many bytes, and nobody else knows it.
        unsafe { ptr::write_bytes(memory.as_ptr().cast::<u8>(), 0, bytes) };
        let (accesses, shared) = (Accesses::none(&shared.driver), Arc::clone(shared));
        Ok(Self { memory, bytes, accesses, shared })
    }

    /// The memory behind the trait, which is of this back end.
    pub(super) fn of(memory: &dyn hal::HostMemory) -> &Self {
        let memory: &dyn Any = memory;
        memory.downcast_ref().expect("copies are between memories of one context")
    }

    /// As [`HostMemory::of`].
    pub(super) fn of_mut(memory: &mut dyn hal::HostMemory) -> &mut Self {
        let memory: &mut dyn Any = memory;
        memory.downcast_mut().expect("copies are between memories of one context")
    }

    /// Before a copy from it is queued.
    pub(super) fn read<'a>(&'a self, stream: &'a Arc<CudaStream>) -> Result<Queued<'a>> {
        self.accesses.read(stream)
    }

    pub(super) fn accesses(&mut self) -> &mut Accesses {
        &mut self.accesses
    }

    /// The panics of launches, after a copy that may have brought what they left.
    fn report(&self, was_written: bool) -> Result<()> {
        if was_written { self.shared.panics.report_all() } else { Ok(()) }
    }
}

impl hal::HostMemory for HostMemory {
    fn pointer(&self) -> *mut u8 {
        self.memory.as_ptr().cast()
    }

    fn finish_write(&self) -> Result<()> {
        self.shared.bind()?;
        self.report(self.accesses.finish_write()?)
    }

    fn finish_all(&mut self) -> Result<()> {
        self.shared.bind()?;
        let was_written = self.accesses.finish_all()?;
        self.report(was_written)
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        let Self { memory, bytes, accesses, shared } = self;
        let waited = shared.make_current().and_then(|()| accesses.finish_all());
        if let Err(error) = waited
            && shared.synchronize().is_err()
        {
            // A copy may use it for ever: it is not freed.
            shared.keep(Err(error));
            return;
        }
        // SAFETY: allocated once, freed once; no copy uses it any more.
        let free = || unsafe { result::free_host(memory.as_ptr()) };
        shared.release(|| named(free(), "cuMemFreeHost", || subject(*bytes)));
    }
}

/// What the driver's functions are called for here.
fn subject(bytes: usize) -> String {
    format!("{bytes} bytes of pinned memory")
}
