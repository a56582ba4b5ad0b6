//! Plain memory of the host in the place of pinned memory, for back ends whose copies need none.

use std::{
    collections::HashMap,
    ffi::c_void,
    ptr::NonNull,
    sync::{Mutex, MutexGuard, OnceLock, PoisonError},
};

use super::memory::{HostMemory, Memory};
use crate::{
    error::{Error, Result},
    hal::HostMemory as _,
};

/// The memory that is in use, by its address.
fn in_use() -> MutexGuard<'static, HashMap<usize, HostMemory>> {
    static IN_USE: OnceLock<Mutex<HashMap<usize, HostMemory>>> = OnceLock::new();
    IN_USE.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

/// Memory of `bytes` bytes, more than 0, aligned to 128 bytes.
///
/// # Errors
///
/// [`Error::OutOfMemory`].
pub(in crate::backend) fn allocate(
    bytes: usize,
    subject: impl FnOnce() -> String,
) -> Result<NonNull<c_void>> {
    let lacking = |_: Error| Error::OutOfMemory { device: subject(), bytes };
    let memory = Memory::of_host("the host", bytes).map_err(lacking)?;
    let address = memory.pointer();
    in_use().insert(address.addr(), memory);
    Ok(NonNull::new(address.cast()).expect("memory has an address"))
}

/// Frees what [`allocate`] has given.
pub(in crate::backend) fn free(memory: NonNull<c_void>) {
    in_use().remove(&memory.as_ptr().addr());
}
