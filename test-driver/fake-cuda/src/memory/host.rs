//! Memory of the host that devices can reach: pinned, registered and managed.

use std::{alloc, alloc::Layout};

use cudarc::driver::sys;

use super::allocation::{Allocation, Kind, Owner, add, find, take};
use crate::base::abi::enumerators;
use crate::base::error::{Error, Result};
use crate::device::Device;
use crate::driver;

/// Memory of the host starts at a page.
const PAGE: usize = 4096;

const PINNED_FLAGS: u32 = sys::CU_MEMHOSTALLOC_PORTABLE
    | sys::CU_MEMHOSTALLOC_DEVICEMAP
    | sys::CU_MEMHOSTALLOC_WRITECOMBINED;
const REGISTER_FLAGS: u32 = sys::CU_MEMHOSTREGISTER_PORTABLE
    | sys::CU_MEMHOSTREGISTER_DEVICEMAP
    | sys::CU_MEMHOSTREGISTER_IOMEMORY
    | sys::CU_MEMHOSTREGISTER_READ_ONLY;

enumerators! { u32: CUmemAttach_flags
    ATTACH_GLOBAL = CU_MEM_ATTACH_GLOBAL;
    ATTACH_HOST = CU_MEM_ATTACH_HOST;
}

fn layout(bytes: usize) -> Result<Layout> {
    if bytes == 0 {
        return Err(Error::CUDA_ERROR_INVALID_VALUE);
    }
    Layout::from_size_align(bytes, PAGE).map_err(|_| Error::CUDA_ERROR_OUT_OF_MEMORY)
}

/// Allocates memory of the host, zeroed, and makes it known to all devices.
fn allocate(owner: Owner, bytes: usize, kind: Kind) -> Result<u64> {
    let layout = layout(bytes)?;
    // SAFETY: the layout has more than no bytes.
    let host = unsafe { alloc::alloc_zeroed(layout) };
    if host.is_null() {
        return Err(Error::CUDA_ERROR_OUT_OF_MEMORY);
    }
    let address = host as u64;
    attach(address, bytes);
    add(address, bytes as u64, kind, owner);
    Ok(address)
}

/// Makes memory of the host known to all devices.
pub(super) fn attach(address: u64, bytes: usize) {
    for device in devices() {
        // SAFETY: the memory is there until `give_back` has detached it, which waits for streams;
        // registered memory is promised to be there until it is unregistered.
        unsafe { device.emulator.attach(address as *mut u8, bytes) };
    }
}

fn detach(address: u64) {
    devices().iter().for_each(|device| device.emulator.free(address));
}

fn devices() -> &'static [Device] {
    driver::driver().map_or(&[], |driver| &driver.devices)
}

/// Pinned memory.
pub(crate) fn allocate_pinned(owner: Owner, bytes: usize, flags: u32) -> Result<u64> {
    if flags & !PINNED_FLAGS != 0 {
        return Err(Error::CUDA_ERROR_INVALID_VALUE);
    }
    allocate(owner, bytes, Kind::Pinned(flags))
}

/// Managed memory.
pub(crate) fn allocate_managed(owner: Owner, bytes: usize, flags: u32) -> Result<u64> {
    // To all streams, or to the host first.
    if !matches!(flags, ATTACH_GLOBAL | ATTACH_HOST) {
        return Err(Error::CUDA_ERROR_INVALID_VALUE);
    }
    allocate(owner, bytes, Kind::Managed)
}

/// Frees pinned memory.
pub(crate) fn free_pinned(address: u64) -> Result<()> {
    let allocation = take(address, 0, |found| matches!(found.kind, Kind::Pinned(_)))?;
    give_back(&allocation);
    Ok(())
}

/// Makes memory of the program's known to devices.
pub(crate) fn register(owner: Owner, address: u64, bytes: usize, flags: u32) -> Result<()> {
    if address == 0 || bytes == 0 || flags & !REGISTER_FLAGS != 0 {
        return Err(Error::CUDA_ERROR_INVALID_VALUE);
    }
    let last = address + (bytes as u64 - 1);
    let known = [address, last].map(|address| find(address, 0));
    if known.iter().flatten().any(|found| found.kind.is_of_host()) {
        return Err(Error::CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    }
    attach(address, bytes);
    add(address, bytes as u64, Kind::Registered, owner);
    Ok(())
}

/// Makes memory of the program's unknown again.
pub(crate) fn unregister(address: u64) -> Result<()> {
    let taken = take(address, 0, |found| found.kind == Kind::Registered);
    give_back(&taken.map_err(|_| Error::CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED)?);
    Ok(())
}

/// Gives memory of the host back.
pub(super) fn give_back(allocation: &Allocation) {
    detach(allocation.address);
    if matches!(allocation.kind, Kind::Registered | Kind::External) {
        return;
    }
    let Ok(layout) = layout(allocation.bytes as usize) else { return };
    // SAFETY: `allocate` has allocated it with this layout; it is in the list of allocations no
    // more, so nobody frees it again.
    unsafe { alloc::dealloc(allocation.address as *mut u8, layout) };
}
