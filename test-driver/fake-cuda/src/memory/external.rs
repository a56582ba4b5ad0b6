//! Memory that comes as a file: it is mapped, and parts of it are made known to devices.

use std::{
    ffi::{c_int, c_void},
    fs::File,
    os::fd::FromRawFd,
    ptr,
};

use super::allocation::{Kind, Owner, add, find};
use super::host;
use crate::base::error::{Error, Result};
use crate::base::handle::{Handle, Registry};

/// The memory that was imported.
pub(crate) static IMPORTED: Registry<Mapping> = Registry::new(0xe1);

/// A file that is mapped as long as this lives.
pub(crate) struct Mapping {
    handle: Handle,
    address: *mut c_void,
    bytes: usize,
}

// SAFETY: the mapping can be used and ended by any thread.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped by `import` with this length; its buffers are unknown to devices by now.
        unsafe { libc::munmap(self.address, self.bytes) };
    }
}

/// Maps a file, which is closed: the driver owns it.
pub(crate) fn import(file: c_int, bytes: u64) -> Result<Handle> {
    if file < 0 || bytes == 0 {
        return Err(Error::CUDA_ERROR_INVALID_VALUE);
    }
    let (protection, null) = (libc::PROT_READ | libc::PROT_WRITE, ptr::null_mut());
    // SAFETY: a new mapping takes no memory from anybody.
    let address =
        unsafe { libc::mmap(null, bytes as usize, protection, libc::MAP_SHARED, file, 0) };
    if address == libc::MAP_FAILED {
        return Err(Error::CUDA_ERROR_INVALID_VALUE);
    }
    // SAFETY: the caller has given the open file away; one that cannot be mapped stays theirs.
    drop(unsafe { File::from_raw_fd(file) });
    Ok(IMPORTED.add(|handle| Mapping { handle, address, bytes: bytes as usize }).handle)
}

/// Makes a part of the memory known to devices.
pub(crate) fn map(owner: Owner, memory: Handle, offset: u64, bytes: u64) -> Result<u64> {
    let mapping = IMPORTED.get(memory)?;
    let end = offset.checked_add(bytes).ok_or(Error::CUDA_ERROR_INVALID_VALUE)?;
    let address = mapping.address as u64 + offset;
    if bytes == 0 || end > mapping.bytes as u64 {
        return Err(Error::CUDA_ERROR_INVALID_VALUE);
    }
    if find(address, owner.ordinal).is_some() {
        return Err(Error::CUDA_ERROR_NOT_SUPPORTED);
    }
    host::attach(address, bytes as usize);
    add(address, bytes, Kind::External, owner);
    Ok(address)
}

/// Ends the mapping; its buffers have to be freed first.
pub(crate) fn destroy(memory: Handle) -> Result<()> {
    IMPORTED.remove(memory).map(drop)
}
