//! Allocations: what is allocated, for whom, and where it is.

use std::{collections::BTreeMap, sync::Mutex};

use crate::base::error::{Error, Result};
use crate::base::handle::{Handle, lock};

/// What kind of memory an allocation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Device,
    /// Of a pool, allocated and freed in the order of a stream.
    Pool(Handle),
    /// Of a graph, which frees it.
    Graph,
    /// A global of a module, which frees it.
    Global,
    Managed,
    /// Pinned memory that this driver has allocated, with the flags it was asked for with.
    Pinned(u32),
    /// Memory of the program's that is registered.
    Registered,
    /// A part of memory that was imported.
    External,
}

/// The context that memory or a module belongs to, and its device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) ordinal: usize,
    pub(crate) context: Handle,
}

/// An allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Allocation {
    pub(crate) address: u64,
    pub(crate) bytes: u64,
    pub(crate) kind: Kind,
    pub(crate) owner: Owner,
    /// Never the same for two allocations.
    pub(crate) id: u64,
    /// A stream will free it.
    pub(crate) retired: bool,
}

impl Kind {
    /// Whether the memory is the host's, at its own address on every device.
    pub(crate) fn is_of_host(self) -> bool {
        matches!(self, Self::Managed | Self::Pinned(_) | Self::Registered | Self::External)
    }

    /// Whether a program has to free it.
    pub(super) fn is_owned(self) -> bool {
        !matches!(self, Self::Graph | Self::Global)
    }
}

impl Allocation {
    pub(super) fn contains(&self, address: u64, bytes: u64) -> bool {
        let offset = address.wrapping_sub(self.address);
        offset <= self.bytes && bytes <= self.bytes - offset
    }
}

/// All allocations. Memory of the host has the key of device [`HOST`]: it is on all of them.
static ALLOCATIONS: Mutex<Allocations> = Mutex::new(Allocations::new());

const HOST: usize = usize::MAX;

struct Allocations {
    spaces: BTreeMap<usize, BTreeMap<u64, Allocation>>,
    next_id: u64,
}

impl Allocations {
    const fn new() -> Self {
        Self { spaces: BTreeMap::new(), next_id: 1 }
    }

    fn add(&mut self, mut allocation: Allocation) {
        allocation.id = self.next_id;
        self.next_id += 1;
        let space = space(allocation.kind, allocation.owner.ordinal);
        self.spaces.entry(space).or_default().insert(allocation.address, allocation);
    }

    /// The allocation of a device that an address lies in.
    fn at(&self, space: usize, address: u64) -> Option<Allocation> {
        let (_, &allocation) = self.spaces.get(&space)?.range(..=address).next_back()?;
        (allocation.contains(address, 1) || allocation.address == address).then_some(allocation)
    }

    /// The allocation that an address lies in: of the host, of this device, of another one.
    fn find(&self, address: u64, ordinal: usize) -> Option<Allocation> {
        let spaces = [HOST, ordinal].into_iter().chain(self.spaces.keys().copied());
        spaces.into_iter().find_map(|space| self.at(space, address))
    }
}

fn space(kind: Kind, ordinal: usize) -> usize {
    if kind.is_of_host() { HOST } else { ordinal }
}

/// Notes memory that was allocated.
pub(crate) fn add(address: u64, bytes: u64, kind: Kind, owner: Owner) {
    let allocation = Allocation { address, bytes, kind, owner, id: 0, retired: false };
    lock(&ALLOCATIONS).add(allocation);
}

/// The allocation that an address lies in, seen from a device.
pub(crate) fn find(address: u64, ordinal: usize) -> Option<Allocation> {
    lock(&ALLOCATIONS).find(address, ordinal)
}

/// Checks that a range can be copied; [`Error::CUDA_ERROR_INVALID_VALUE`] where it is not in one allocation.
pub(crate) fn check(address: u64, bytes: usize, ordinal: usize) -> Result<()> {
    let whole = |found: &Allocation| !found.retired && found.contains(address, bytes as u64);
    let found = find(address, ordinal).filter(whole);
    if bytes == 0 || found.is_some() { Ok(()) } else { Err(Error::CUDA_ERROR_INVALID_VALUE) }
}

/// Marks an allocation that a stream will free: it cannot be freed or copied by later calls.
pub(crate) fn retire(
    address: u64,
    ordinal: usize,
    wanted: impl Fn(&Allocation) -> bool,
) -> Result<()> {
    let mut allocations = lock(&ALLOCATIONS);
    let found = allocations.find(address, ordinal);
    let found = found.filter(|found| found.address == address && !found.retired && wanted(found));
    let found = found.ok_or(Error::CUDA_ERROR_INVALID_VALUE)?;
    let space = allocations.spaces.get_mut(&space(found.kind, found.owner.ordinal));
    let entry =
        space.and_then(|space| space.get_mut(&address)).ok_or(Error::CUDA_ERROR_INVALID_VALUE)?;
    entry.retired = true;
    Ok(())
}

/// Takes an allocation that starts at an address out of the list.
pub(crate) fn take(
    address: u64,
    ordinal: usize,
    wanted: impl Fn(&Allocation) -> bool,
) -> Result<Allocation> {
    let mut allocations = lock(&ALLOCATIONS);
    let found = allocations.find(address, ordinal);
    let found = found.filter(|found| found.address == address && wanted(found));
    let found = found.ok_or(Error::CUDA_ERROR_INVALID_VALUE)?;
    let space = allocations.spaces.get_mut(&space(found.kind, found.owner.ordinal));
    space.and_then(|space| space.remove(&address)).ok_or(Error::CUDA_ERROR_INVALID_VALUE)
}

/// Forgets the globals of a module that is unloaded.
pub(crate) fn forget_global(address: u64, ordinal: usize) {
    // It is there only if the program has asked for the global.
    let _ = take(address, ordinal, |found| found.kind == Kind::Global);
}

/// Takes all allocations of a context out of the list.
pub(crate) fn take_all(context: Handle) -> Vec<Allocation> {
    let mut taken = Vec::new();
    for space in lock(&ALLOCATIONS).spaces.values_mut() {
        let mine = |found: &Allocation| found.owner.context == context;
        taken.extend(space.values().filter(|found| mine(found)));
        space.retain(|_, found| !mine(found));
    }
    taken
}

/// What programs have not freed.
pub(crate) fn owned() -> Vec<Allocation> {
    let allocations = lock(&ALLOCATIONS);
    let all = allocations.spaces.values().flat_map(BTreeMap::values);
    all.filter(|found| found.kind.is_owned() && !found.retired).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allocation(address: u64, bytes: u64, kind: Kind, ordinal: usize) -> Allocation {
        let owner = Owner { ordinal, context: Handle(1) };
        Allocation { address, bytes, kind, owner, id: 0, retired: false }
    }

    #[test]
    fn addresses_are_found_in_their_device_first() {
        let mut all = Allocations::new();
        all.add(allocation(4096, 64, Kind::Device, 0));
        all.add(allocation(4096, 32, Kind::Device, 1));
        all.add(allocation(8192, 16, Kind::Device, 1));
        assert_eq!(all.find(4100, 0).unwrap().owner.ordinal, 0);
        assert_eq!(all.find(4100, 1).unwrap().owner.ordinal, 1);
        assert_eq!(all.find(8192, 0).unwrap().owner.ordinal, 1);
        assert_eq!(all.find(4096 + 64, 0), None);
        assert_eq!(all.find(4095, 0), None);
    }

    #[test]
    fn memory_of_the_host_is_on_every_device() {
        let mut all = Allocations::new();
        all.add(allocation(1 << 40, 64, Kind::Managed, 1));
        assert_eq!(all.find((1 << 40) + 63, 0).unwrap().kind, Kind::Managed);
        assert!(all.find(1 << 40, 3).unwrap().contains(1 << 40, 64));
        assert!(!all.find(1 << 40, 3).unwrap().contains(1 << 40, 65));
    }
}
