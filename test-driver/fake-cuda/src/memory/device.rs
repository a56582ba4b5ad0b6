//! Device memory: allocated on the emulator, counted by the device; and the end of all memory.

use super::allocation::{self, Allocation, Kind, Owner};
use super::{host, pool};
use crate::base::error::{Error, Result};
use crate::base::handle::Handle;
use crate::device::Device;
use crate::driver;

/// Memory of a device. Where there is not enough, `drain` waits for what streams have still to free.
pub(crate) fn allocate(
    owner: Owner,
    bytes: usize,
    kind: Kind,
    drain: impl FnOnce(),
) -> Result<u64> {
    let device = driver::device_of(owner.ordinal);
    let address = allocate_now(device, bytes as u64).or_else(|_| {
        drain();
        allocate_now(device, bytes as u64)
    })?;
    allocation::add(address, bytes as u64, kind, owner);
    Ok(address)
}

fn allocate_now(device: &Device, bytes: u64) -> Result<u64> {
    device.take_bytes(bytes)?;
    device.emulator.allocate(bytes).ok_or_else(|| {
        device.give_bytes(bytes);
        Error::CUDA_ERROR_OUT_OF_MEMORY
    })
}

/// Frees memory that streams have done with; what is no allocation is left alone.
pub(crate) fn release(address: u64, ordinal: usize) {
    if let Ok(taken) = allocation::take(address, ordinal, |_| true) {
        give_back(&taken);
    }
}

/// Gives memory back that is no longer in the list.
pub(crate) fn give_back(allocation: &Allocation) {
    match allocation.kind {
        Kind::Managed | Kind::Pinned(_) | Kind::Registered | Kind::External => {
            host::give_back(allocation);
        }
        Kind::Global => {}
        Kind::Device | Kind::Pool(_) | Kind::Graph => {
            if let Some(device) = device_of(allocation) {
                device.emulator.free(allocation.address);
                device.give_bytes(allocation.bytes);
                pool::freed(allocation);
            }
        }
    }
}

fn device_of(allocation: &Allocation) -> Option<&'static Device> {
    driver::driver().ok()?.devices.get(allocation.owner.ordinal)
}

/// Frees all memory of a context, and gives what the program should have freed.
pub(crate) fn release_context(context: Handle) -> Vec<Allocation> {
    let mut freed = allocation::take_all(context);
    freed.iter().for_each(give_back);
    freed.retain(|allocation| allocation.kind.is_owned() && !allocation.retired);
    freed
}
