//! Panic records of launches: in pinned memory of the host, where kernels write them and the host reads
//! them while other launches run.
//!
//! As in the [CUDA C++ Programming Guide, "Mapped Memory"](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#mapped-memory).
//! A record orders the two sides by itself: a kernel releases the state of a complete panic, the host
//! acquires it, and releases `acknowledged` when it has read the panic. No copy is queued, so that asking
//! for a panic that there is not costs a load.

use std::{
    ffi::c_void,
    mem::offset_of,
    ptr::NonNull,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use kernelmill_artifact::{GridWorkspace, PRINT_BUFFER_BYTES, PanicRecord};

use super::{calls::MemoryCalls, print_buffer::PrintBuffer};
use crate::{embedded::EmbeddedArtifact, error::Result};

/// Records of a block of memory.
const OF_A_BLOCK: usize = 240;

/// The records of a context: those that are in use, and those that are free.
pub(in crate::backend) struct Records<D: MemoryCalls> {
    blocks: Vec<Block<D>>,
    free: Vec<Record>,
    print_buffers: Vec<Block<D>>,
    workspaces: Vec<Workspace<D>>,
}

/// Pinned memory, which is zero at first, freed with this.
struct Block<D: MemoryCalls> {
    memory: NonNull<c_void>,
    /// Its address for kernels.
    device: u64,
    /// Whether a kernel may write to it for ever: then it is not freed.
    is_lost: bool,
    driver: Arc<D>,
}

/// A [`GridWorkspace`] in the device's memory, freed with this.
struct Workspace<D: MemoryCalls> {
    address: u64,
    /// Whether a launch may use it for ever: then it is not freed.
    is_lost: bool,
    driver: Arc<D>,
}

/// A record of [`Records`], which lives as long as they do.
pub(in crate::backend) struct Record {
    host: NonNull<PanicRecord>,
    device: u64,
    /// The address of its workspace; 0 where it has none yet.
    workspace: u64,
    /// What launches print to that use it, where they print.
    printed: Option<PrintBuffer>,
    /// Whether a panic of it was read, so that the launch with the number that it has then is not told again.
    was_read: bool,
}

// SAFETY: the memory can be used from every thread.
unsafe impl<D: MemoryCalls> Send for Block<D> {}
// SAFETY: kernels and the host use a record by its protocol, and of the host one thread at a time.
unsafe impl Send for Record {}

impl<D: MemoryCalls> Default for Records<D> {
    fn default() -> Self {
        let (blocks, print_buffers) = (Vec::new(), Vec::new());
        Self { blocks, free: Vec::new(), print_buffers, workspaces: Vec::new() }
    }
}

impl<D: MemoryCalls> Records<D> {
    /// A record that nobody uses, of the driver's context, which is current.
    pub(in crate::backend) fn take(&mut self, driver: &Arc<D>) -> Result<Record> {
        if let Some(record) = self.free.pop() {
            return Ok(record);
        }
        let block = Block::new(driver, OF_A_BLOCK * size_of::<PanicRecord>())?;
        self.free = block.records();
        self.blocks.push(block);
        Ok(self.free.pop().expect("a block has records"))
    }

    /// Takes a record back that no launch uses any more.
    pub(in crate::backend) fn give_back(&mut self, record: Record) {
        self.free.push(record);
    }

    /// The address of the workspace of cooperative launches that use a record. The context is current.
    pub(in crate::backend) fn workspace(
        &mut self,
        record: &mut Record,
        driver: &Arc<D>,
    ) -> Result<u64> {
        if record.workspace == 0 {
            let workspace = Workspace::new(driver, record.device)?;
            record.set_workspace(workspace.address);
            self.workspaces.push(workspace);
        }
        Ok(record.workspace)
    }

    /// Gives a record memory that the launches which use it print to. The context is current.
    pub(in crate::backend) fn add_print_buffer(
        &mut self,
        record: &mut Record,
        driver: &Arc<D>,
    ) -> Result<()> {
        if record.printed.is_none() {
            let block = Block::new(driver, PRINT_BUFFER_BYTES)?;
            record.set_print_buffer(block.memory, block.device);
            self.print_buffers.push(block);
        }
        Ok(())
    }

    /// Notes that it is not known whether launches still use records.
    pub(in crate::backend) fn lose(&mut self) {
        self.print_buffers.iter_mut().for_each(|block| block.is_lost = true);
        self.blocks.iter_mut().for_each(|block| block.is_lost = true);
        self.workspaces.iter_mut().for_each(|workspace| workspace.is_lost = true);
    }
}

impl<D: MemoryCalls> Block<D> {
    fn new(driver: &Arc<D>, bytes: usize) -> Result<Self> {
        let (memory, device) = driver.allocate_shared(bytes, subject)?;
        Ok(Self { memory, device, is_lost: false, driver: Arc::clone(driver) })
    }

    /// All records in it, of which nobody knows yet.
    fn records(&self) -> Vec<Record> {
        let record = |index: usize| {
            // SAFETY: within the memory.
            let host = unsafe { self.memory.cast::<PanicRecord>().add(index) };
            // A driver may count launches from zero, and what has the number of the last one that panicked is not told.
            // SAFETY: as above; no kernel has its address.
            unsafe { (&raw mut (*host.as_ptr()).launch).write(u64::MAX) };
            let device = self.device + (index * size_of::<PanicRecord>()) as u64;
            Record { host, device, workspace: 0, printed: None, was_read: false }
        };
        (0..OF_A_BLOCK).rev().map(record).collect()
    }
}

impl<D: MemoryCalls> Drop for Block<D> {
    fn drop(&mut self) {
        if self.is_lost {
            return;
        }
        // SAFETY: allocated once, freed once; no launch uses a record of it any more.
        self.driver.release(|| unsafe { self.driver.free_shared(self.memory, subject) });
    }
}

impl<D: MemoryCalls> Workspace<D> {
    /// One that names a record.
    fn new(driver: &Arc<D>, record: u64) -> Result<Self> {
        let bytes = size_of::<GridWorkspace>();
        let address = driver.allocate(bytes)?;
        let workspace = Self { address, is_lost: false, driver: Arc::clone(driver) };
        let place = address + offset_of!(GridWorkspace, record) as u64;
        let stream = driver.default_stream();
        // SAFETY: the memory has that many bytes, and nobody else knows it; the value lives until the stream was waited
        // for.
        unsafe { D::upload(place, (&raw const record).cast(), size_of::<u64>(), stream)? };
        driver.wait_for(stream)?;
        Ok(workspace)
    }
}

impl<D: MemoryCalls> Drop for Workspace<D> {
    fn drop(&mut self) {
        if self.is_lost {
            return;
        }
        let bytes = size_of::<GridWorkspace>();
        // SAFETY: allocated once, freed once; no launch uses it any more.
        self.driver.release(|| unsafe { self.driver.free(self.address, bytes) });
    }
}

/// Makes a workspace ready for the next launch on a stream.
pub(in crate::backend) fn reset_workspace<D: MemoryCalls>(
    address: u64,
    stream: &D::Stream,
) -> Result<()> {
    // What comes before the address of the record.
    let bytes = offset_of!(GridWorkspace, record);
    // SAFETY: the workspace is there, and the launches before on the stream are over when the stream comes to this.
    unsafe { D::zero(address, bytes, stream) }
}

impl Record {
    /// Tells kernels where its workspace is.
    fn set_workspace(&mut self, address: u64) {
        self.workspace = address;
        // SAFETY: the record is there; kernels only read the field, and those before this had no workspace.
        unsafe { (&raw mut (*self.host.as_ptr()).workspace).write_volatile(address) };
    }

    /// Tells kernels where they print to.
    fn set_print_buffer(&mut self, memory: NonNull<c_void>, device: u64) {
        // SAFETY: the memory is there as long as records, and launches that use this record are told of it alone.
        self.printed = Some(unsafe { PrintBuffer::new(memory.cast()) });
        // SAFETY: the record is there; kernels only read the field, and those before this print nothing.
        unsafe { (&raw mut (*self.host.as_ptr()).printed).write_volatile(device) };
    }

    /// Prints the lines that kernels of a binary have sent since the last time.
    pub(in crate::backend) fn print(&mut self, artifact: &EmbeddedArtifact) {
        if let Some(printed) = &mut self.printed {
            printed.print(artifact);
        }
    }

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
        self.was_read = true;
        Some(panic)
    }

    /// Lets `forget`, which is given the address of the number, make a stream forget which launch panicked last, where a
    /// panic was read.
    #[cfg_attr(
        not(any(feature = "cuda", feature = "hip")),
        allow(dead_code, reason = "only there graphs are launched")
    )]
    pub(in crate::backend) fn forget_launch(
        &mut self,
        forget: impl FnOnce(u64) -> Result<()>,
    ) -> Result<()> {
        if self.was_read {
            forget(self.device + offset_of!(PanicRecord, launch) as u64)?;
            self.was_read = false;
        }
        Ok(())
    }
}

/// What the driver's functions are called for here.
fn subject() -> String {
    "the records of panics".to_owned()
}
