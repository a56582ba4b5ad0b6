//! Memory in use: what the device has given away, and whether a launch may use it for ever.
//!
//! Guaranteed: once a launch is given up, nothing here is freed any more, and streams use none of it
//! ([`CpuStream::push_access`](super::driver_context::CpuStream::push_access)).

use std::{
    collections::HashMap,
    sync::{Mutex, OnceLock, PoisonError},
};

use crate::{
    backend::cpu::memory::Memory,
    error::{LaunchTimeout, Result},
};

/// Memory that a launch may use for ever, of contexts that are gone.
static LOST: Mutex<Vec<Memory>> = Mutex::new(Vec::new());

/// The memory of a device, which its streams and its context share.
#[derive(Default)]
pub(super) struct InUse {
    /// By its address.
    memory: Mutex<HashMap<u64, Memory>>,
    /// A launch that was given up, and may use any memory for ever.
    lost: OnceLock<LaunchTimeout>,
}

impl InUse {
    /// That no launch was given up: nothing may be read, written or freed after that.
    pub(super) fn check_launches(&self) -> Result<()> {
        self.lost.get().map_or(Ok(()), |timeout| Err(timeout.clone().into()))
    }

    /// Notes that a launch was given up and still runs.
    pub(super) fn lose(&self, timeout: LaunchTimeout) {
        // Of several launches the first one is named.
        let _ = self.lost.set(timeout);
    }

    /// Keeps memory until it is [freed](Self::free).
    pub(super) fn keep(&self, address: u64, memory: Memory) {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).insert(address, memory);
    }

    /// Frees the memory at an address, which nothing uses any more, save a launch that was given up.
    pub(super) fn free(&self, address: u64) {
        if self.check_launches().is_ok() {
            let memory =
                self.memory.lock().unwrap_or_else(PoisonError::into_inner).remove(&address);
            drop(memory);
        }
    }

    /// How many blocks of memory are not freed.
    #[cfg(test)]
    pub(super) fn blocks(&self) -> usize {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

impl Drop for InUse {
    /// Memory that a launch may use for ever is not freed.
    fn drop(&mut self) {
        if self.lost.get().is_some() {
            let memory = self.memory.get_mut().unwrap_or_else(PoisonError::into_inner);
            let mut lost = LOST.lock().unwrap_or_else(PoisonError::into_inner);
            lost.extend(memory.drain().map(|(_, memory)| memory));
        }
    }
}
