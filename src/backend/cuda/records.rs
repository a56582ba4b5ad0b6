//! Panic records of launches: in pinned memory of the host, where kernels write them and the host reads
//! them while other launches run.
//!
//! [CUDA C++ Programming Guide, "Mapped Memory"](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#mapped-memory).
//! A record orders the two sides by itself: a kernel releases the state of a complete panic, the host
//! acquires it, and releases `acknowledged` when it has read the panic. No copy is queued, so that asking
//! for a panic that there is not costs a load.

use std::{
    ffi::c_void,
    ptr::{self, NonNull},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use cudarc::driver::{result, sys};
use kernelmill_artifact::PanicRecord;

use super::{driver::named, driver_context::DriverContext};
use crate::error::Result;

/// Records of a block of memory.
const OF_A_BLOCK: usize = 240;

/// The records of a context: those that are in use, and those that are free.
#[derive(Default)]
pub(super) struct Records {
    blocks: Vec<Block>,
    free: Vec<Record>,
}

/// Pinned memory, freed with this.
struct Block {
    memory: NonNull<c_void>,
    /// Whether a kernel may write to it for ever: then it is not freed.
    is_lost: bool,
    driver: Arc<DriverContext>,
}

/// A record of [`Records`], which lives as long as they do.
pub(super) struct Record {
    host: NonNull<PanicRecord>,
    device: u64,
}

// SAFETY: the memory can be used from every thread.
unsafe impl Send for Block {}
// SAFETY: kernels and the host use a record by its protocol, and of the host one thread at a time.
unsafe impl Send for Record {}

impl Records {
    /// A record that nobody uses, of the driver's context, which is current.
    pub(super) fn take(&mut self, driver: &Arc<DriverContext>) -> Result<Record> {
        if let Some(record) = self.free.pop() {
            return Ok(record);
        }
        let block = Block::new(driver)?;
        self.free = block.records()?;
        self.blocks.push(block);
        Ok(self.free.pop().expect("a block has records"))
    }

    /// Takes a record back that no launch uses any more.
    pub(super) fn give_back(&mut self, record: Record) {
        self.free.push(record);
    }

    /// Notes that it is not known whether launches still use records.
    pub(super) fn lose(&mut self) {
        self.blocks.iter_mut().for_each(|block| block.is_lost = true);
    }
}

impl Block {
    fn new(driver: &Arc<DriverContext>) -> Result<Self> {
        let bytes = OF_A_BLOCK * size_of::<PanicRecord>();
        let flags = sys::CU_MEMHOSTALLOC_PORTABLE | sys::CU_MEMHOSTALLOC_DEVICEMAP;
        // SAFETY: a number of bytes that is not 0, and the context is current.
        let memory = unsafe { result::malloc_host(bytes, flags) };
        let memory = named(memory, "cuMemHostAlloc", subject)?;
        let memory = NonNull::new(memory).expect("the driver gives an address");
        let block = Self { memory, is_lost: false, driver: Arc::clone(driver) };
        // SAFETY: the memory has that many bytes, and nobody else knows it.
        unsafe { ptr::write_bytes(block.memory.as_ptr().cast::<u8>(), 0, bytes) };
        Ok(block)
    }

    /// All records in it.
    fn records(&self) -> Result<Vec<Record>> {
        let mut device = 0;
        // SAFETY: the memory is there, and mapped.
        let asked = unsafe {
            sys::cuMemHostGetDevicePointer_v2(&raw mut device, self.memory.as_ptr(), 0).result()
        };
        named(asked, "cuMemHostGetDevicePointer", subject)?;
        let record = |index: usize| Record {
            // SAFETY: within the memory.
            host: unsafe { self.memory.cast::<PanicRecord>().add(index) },
            device: device + (index * size_of::<PanicRecord>()) as u64,
        };
        Ok((0..OF_A_BLOCK).rev().map(record).collect())
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if self.is_lost {
            return;
        }
        // SAFETY: allocated once, freed once; no launch uses a record of it any more.
        let free = || unsafe { result::free_host(self.memory.as_ptr()) };
        let free = || named(free(), "cuMemFreeHost", subject);
        self.driver.release(free);
    }
}

impl Record {
    /// Its address for kernels.
    pub(super) fn address(&self) -> u64 {
        self.device
    }

    /// The panic that nobody has read yet, if there is one; it has been read then.
    pub(super) fn take(&mut self) -> Option<PanicRecord> {
        let record = self.host.as_ptr();
        // SAFETY: the record is there; these two fields are only used atomically.
        let (state, acknowledged) = unsafe {
            (
                AtomicU32::from_ptr(&raw mut (*record).state),
                AtomicU32::from_ptr(&raw mut (*record).acknowledged),
            )
        };
        let found = state.load(Ordering::Acquire);
        // An odd one is of a panic that is being written: its launch still runs.
        if found % 2 == 1 || found == acknowledged.load(Ordering::Relaxed) {
            return None;
        }
        // SAFETY: kernels write nothing to it until the panic is acknowledged.
        let panic = unsafe { record.read() };
        acknowledged.store(found, Ordering::Release);
        Some(panic)
    }
}

/// What the driver's functions are called for here.
fn subject() -> String {
    "the records of panics".to_owned()
}
