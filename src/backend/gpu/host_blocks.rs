//! Blocks of pinned memory of the host, and those that a context keeps.
//!
//! To free pinned memory the driver waits for the whole device, so some is kept for those who ask next. Needs the context
//! to be current. Guaranteed: a block is given to one user at a time.

use std::{
    ffi::c_void,
    ptr::NonNull,
    sync::{Arc, Mutex, PoisonError},
};

use super::calls::MemoryCalls;
use crate::error::Result;

/// The most bytes that a context keeps of blocks that nobody uses.
const KEPT: usize = 64 << 20;

/// Blocks are of whole pages.
const PAGE: usize = 4096;

/// The blocks of a context that nobody uses.
pub(in crate::backend) struct HostBlocks<D: MemoryCalls> {
    free: Mutex<Vec<Block<D>>>,
}

/// Pinned memory, freed with this.
pub(in crate::backend) struct Block<D: MemoryCalls> {
    memory: NonNull<c_void>,
    bytes: usize,
    driver: Arc<D>,
}

// SAFETY: it owns its memory, which every thread can use.
unsafe impl<D: MemoryCalls> Send for Block<D> {}
// SAFETY: shared, it only gives the address away.
unsafe impl<D: MemoryCalls> Sync for Block<D> {}

impl<D: MemoryCalls> Default for HostBlocks<D> {
    fn default() -> Self {
        Self { free: Mutex::default() }
    }
}

impl<D: MemoryCalls> HostBlocks<D> {
    /// A block of at least so many bytes; the context is current.
    pub(in crate::backend) fn take(&self, driver: &Arc<D>, bytes: usize) -> Result<Block<D>> {
        let bytes = bytes.checked_next_multiple_of(PAGE).unwrap_or(bytes);
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = free.iter().position(|block| block.bytes == bytes) {
            return Ok(free.swap_remove(index));
        }
        drop(free);
        Block::new(driver, bytes)
    }

    /// Keeps a block that nobody uses any more, or frees it.
    pub(in crate::backend) fn give_back(&self, block: Block<D>) {
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

impl<D: MemoryCalls> Block<D> {
    fn new(driver: &Arc<D>, bytes: usize) -> Result<Self> {
        let memory = D::allocate_host(bytes, false, || subject(bytes))?;
        Ok(Self { memory, bytes, driver: Arc::clone(driver) })
    }

    pub(in crate::backend) fn pointer(&self) -> *mut u8 {
        self.memory.as_ptr().cast()
    }
}

impl<D: MemoryCalls> Drop for Block<D> {
    fn drop(&mut self) {
        // SAFETY: allocated once, freed once; no copy uses it any more.
        let free = || unsafe { D::free_host(self.memory, || subject(self.bytes)) };
        self.driver.release(free);
    }
}

/// What the driver's functions are called for here.
fn subject(bytes: usize) -> String {
    format!("{bytes} bytes of pinned memory")
}
