//! Panic records of launches: in pinned memory of the host, where kernels write them and the host reads
//! them while other launches run.
//!
//! As in the [CUDA C++ Programming Guide, "Mapped Memory"](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#mapped-memory).
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

use kernelmill_artifact::PanicRecord;

use super::calls::MemoryCalls;
use crate::error::Result;

/// Records of a block of memory.
const OF_A_BLOCK: usize = 240;

/// The records of a context: those that are in use, and those that are free.
pub(in crate::backend) struct Records<D: MemoryCalls> {
    blocks: Vec<Block<D>>,
    free: Vec<Record>,
}

/// Pinned memory, freed with this.
struct Block<D: MemoryCalls> {
    memory: NonNull<c_void>,
    /// Whether a kernel may write to it for ever: then it is not freed.
    is_lost: bool,
    driver: Arc<D>,
}

/// A record of [`Records`], which lives as long as they do.
pub(in crate::backend) struct Record {
    host: NonNull<PanicRecord>,
    device: u64,
}

// SAFETY: the memory can be used from every thread.
unsafe impl<D: MemoryCalls> Send for Block<D> {}
// SAFETY: kernels and the host use a record by its protocol, and of the host one thread at a time.
unsafe impl Send for Record {}

impl<D: MemoryCalls> Default for Records<D> {
    fn default() -> Self {
        Self { blocks: Vec::new(), free: Vec::new() }
    }
}

impl<D: MemoryCalls> Records<D> {
    /// A record that nobody uses, of the driver's context, which is current.
    pub(in crate::backend) fn take(&mut self, driver: &Arc<D>) -> Result<Record> {
        if let Some(record) = self.free.pop() {
            return Ok(record);
        }
        let block = Block::new(driver)?;
        self.free = block.records()?;
        self.blocks.push(block);
        Ok(self.free.pop().expect("a block has records"))
    }

    /// Takes a record back that no launch uses any more.
    pub(in crate::backend) fn give_back(&mut self, record: Record) {
        self.free.push(record);
    }

    /// Notes that it is not known whether launches still use records.
    pub(in crate::backend) fn lose(&mut self) {
        self.blocks.iter_mut().for_each(|block| block.is_lost = true);
    }
}

impl<D: MemoryCalls> Block<D> {
    fn new(driver: &Arc<D>) -> Result<Self> {
        let bytes = OF_A_BLOCK * size_of::<PanicRecord>();
        let memory = D::allocate_host(bytes, true, subject)?;
        let block = Self { memory, is_lost: false, driver: Arc::clone(driver) };
        // SAFETY: the memory has that many bytes, and nobody else knows it.
        unsafe { ptr::write_bytes(block.memory.as_ptr().cast::<u8>(), 0, bytes) };
        Ok(block)
    }

    /// All records in it.
    fn records(&self) -> Result<Vec<Record>> {
        // SAFETY: the memory is there, and mapped.
        let device = unsafe { D::device_address(self.memory, subject)? };
        let record = |index: usize| Record {
            // SAFETY: within the memory.
            host: unsafe { self.memory.cast::<PanicRecord>().add(index) },
            device: device + (index * size_of::<PanicRecord>()) as u64,
        };
        Ok((0..OF_A_BLOCK).rev().map(record).collect())
    }
}

impl<D: MemoryCalls> Drop for Block<D> {
    fn drop(&mut self) {
        if self.is_lost {
            return;
        }
        // SAFETY: allocated once, freed once; no launch uses a record of it any more.
        self.driver.release(|| unsafe { D::free_host(self.memory, subject) });
    }
}

impl Record {
    /// Its address for kernels.
    pub(in crate::backend) fn address(&self) -> u64 {
        self.device
    }

    /// The panic that nobody has read yet, if there is one; it has been read then.
    pub(in crate::backend) fn take(&mut self) -> Option<PanicRecord> {
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
