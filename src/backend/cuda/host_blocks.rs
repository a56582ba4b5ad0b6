//! Blocks of pinned memory of the host, and those that a context keeps.
//!
//! To free pinned memory the driver waits for the whole device, so some is kept for those who ask next. Needs the context
//! to be current. Guaranteed: a block is given to one user at a time.

use std::{
    ffi::c_void,
    ptr::NonNull,
    sync::{Arc, Mutex, PoisonError},
};

use cudarc::driver::{result, sys};

use super::{driver::named, driver_context::DriverContext};
use crate::error::Result;

/// The most bytes that a context keeps of blocks that nobody uses.
const KEPT: usize = 64 << 20;

/// Blocks are of whole pages.
const PAGE: usize = 4096;

/// The blocks of a context that nobody uses.
#[derive(Default)]
pub(super) struct HostBlocks {
    free: Mutex<Vec<Block>>,
}

/// Pinned memory, freed with this.
pub(super) struct Block {
    memory: NonNull<c_void>,
    bytes: usize,
    driver: Arc<DriverContext>,
}

// SAFETY: it owns its memory, which every thread can use.
unsafe impl Send for Block {}
// SAFETY: shared, it only gives the address away.
unsafe impl Sync for Block {}

impl HostBlocks {
    /// A block of at least so many bytes; the context is current.
    pub(super) fn take(&self, driver: &Arc<DriverContext>, bytes: usize) -> Result<Block> {
        let bytes = bytes.checked_next_multiple_of(PAGE).unwrap_or(bytes);
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = free.iter().position(|block| block.bytes == bytes) {
            return Ok(free.swap_remove(index));
        }
        drop(free);
        Block::new(driver, bytes)
    }

    /// Keeps a block that nobody uses any more, or frees it.
    pub(super) fn give_back(&self, block: Block) {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let kept: usize = free.iter().map(|block| block.bytes).sum();
        if kept + block.bytes <= KEPT {
            free.push(block);
        } else {
            drop(free);
            drop(block);
        }
    }
}

impl Block {
    fn new(driver: &Arc<DriverContext>, bytes: usize) -> Result<Self> {
        // SAFETY: a number of bytes that is not 0, and the context is current.
        let memory = unsafe { result::malloc_host(bytes, sys::CU_MEMHOSTALLOC_PORTABLE) };
        let memory = named(memory, "cuMemHostAlloc", || subject(bytes))?;
        let memory = NonNull::new(memory).expect("the driver gives an address");
        Ok(Self { memory, bytes, driver: Arc::clone(driver) })
    }

    pub(super) fn pointer(&self) -> *mut u8 {
        self.memory.as_ptr().cast()
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: allocated once, freed once; no copy uses it any more.
        let free = || unsafe { result::free_host(self.memory.as_ptr()) };
        self.driver.release(|| named(free(), "cuMemFreeHost", || subject(self.bytes)));
    }
}

/// What the driver's functions are called for here.
fn subject(bytes: usize) -> String {
    format!("{bytes} bytes of pinned memory")
}
