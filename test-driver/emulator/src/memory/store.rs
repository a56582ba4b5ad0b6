//! The store: all allocations of a device, and those that were freed.

use super::address_space::GLOBAL_BASE;
use super::region::Region;
use crate::launch::{FaultKind, Nearest, Space};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// Addresses between two allocations that belong to none.
const RED_ZONE: u64 = 4096;

/// Why memory could not be allocated, freed or copied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// The device's memory is used up.
    #[error("out of device memory: {wanted} bytes wanted, {free} free")]
    OutOfMemory {
        /// Bytes asked for.
        wanted: u64,
        /// Bytes left.
        free: u64,
    },
    /// The address given to `free` is not one that `allocate` gave, or was freed before.
    #[error("{address:#x} is not the start of an allocation")]
    NotAllocated {
        /// The address given.
        address: u64,
    },
    /// A copy outside the allocations there are.
    #[error("{0}")]
    Access(FaultKind),
    /// An alignment that is not a power of two.
    #[error("{0} is not an alignment: write a power of two")]
    Alignment(u64),
}

/// All allocations of a device.
pub(crate) struct Store {
    live: RwLock<BTreeMap<u64, Arc<Region>>>,
    /// What was freed, by its first address; addresses are not given twice.
    freed: Mutex<BTreeMap<u64, u64>>,
    limits: Mutex<Limits>,
    heap: Mutex<Heap>,
    fill: u8,
}

/// Bytes that kernels can allocate: what devices have unless the host sets another limit (CUDA Driver API,
/// `CU_LIMIT_MALLOC_HEAP_SIZE`).
const HEAP_BYTES: u64 = 8 << 20;

/// Bytes of the heap that an allocation takes beside its own.
const HEADER_BYTES: u64 = 16;

/// Freed allocations that are remembered, so that a use of one is told from other faults.
const MOST_FREED: usize = 1 << 18;

/// What kernels have allocated.
#[derive(Default)]
struct Heap {
    used: u64,
    lengths: HashMap<u64, u64>,
}

impl Heap {
    fn free(&mut self, address: u64) {
        self.used -= self.lengths.remove(&address).unwrap_or(0);
    }
}

struct Limits {
    next: u64,
    used: u64,
    total: u64,
}

impl Store {
    pub(crate) fn new(total: u64, fill: u8) -> Store {
        let limits = Limits { next: GLOBAL_BASE, used: 0, total };
        Store {
            live: RwLock::default(),
            freed: Mutex::default(),
            limits: Mutex::new(limits),
            heap: Mutex::default(),
            fill,
        }
    }

    /// Bytes in use and bytes there are.
    pub(crate) fn usage(&self) -> (u64, u64) {
        let limits = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
        (limits.used, limits.total)
    }

    fn reserve(&self, bytes: u64, align: u64) -> Result<u64, MemoryError> {
        if !align.is_power_of_two() {
            return Err(MemoryError::Alignment(align));
        }
        let mut limits = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
        let free = limits.total - limits.used;
        if bytes > free {
            return Err(MemoryError::OutOfMemory { wanted: bytes, free });
        }
        let base = limits.next.next_multiple_of(align.max(256));
        limits.next = (base + bytes).next_multiple_of(RED_ZONE) + RED_ZONE;
        limits.used += bytes;
        Ok(base)
    }

    pub(crate) fn allocate(
        &self,
        bytes: u64,
        align: u64,
        writable: bool,
    ) -> Result<u64, MemoryError> {
        self.allocate_filled(bytes, align, writable, self.fill)
    }

    /// Allocates memory for a kernel, from a heap as long as that of devices.
    pub(crate) fn allocate_in_heap(&self, bytes: u64) -> Result<u64, MemoryError> {
        let mut heap = self.heap.lock().unwrap_or_else(PoisonError::into_inner);
        let free = HEAP_BYTES - heap.used;
        let wanted = bytes.saturating_add(HEADER_BYTES);
        if wanted > free {
            return Err(MemoryError::OutOfMemory { wanted, free });
        }
        let address = self.allocate(bytes, 16, true)?;
        heap.used += wanted;
        heap.lengths.insert(address, wanted);
        Ok(address)
    }

    /// Allocates memory for a variable, which is zero where it has no values.
    pub(crate) fn allocate_zeroed(
        &self,
        bytes: u64,
        align: u64,
        writable: bool,
    ) -> Result<u64, MemoryError> {
        self.allocate_filled(bytes, align, writable, 0)
    }

    fn allocate_filled(
        &self,
        bytes: u64,
        align: u64,
        writable: bool,
        fill: u8,
    ) -> Result<u64, MemoryError> {
        let base = self.reserve(bytes, align)?;
        match Region::new(base, bytes, fill, writable) {
            Some(region) => self.insert(region),
            None => {
                // The host has less than the device that is emulated.
                let mut limits = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
                limits.used -= bytes;
                let free = limits.total - limits.used;
                return Err(MemoryError::OutOfMemory { wanted: bytes, free });
            }
        }
        Ok(base)
    }

    pub(crate) fn insert(&self, region: Region) {
        let mut live = self.live.write().unwrap_or_else(PoisonError::into_inner);
        live.insert(region.base(), Arc::new(region));
    }

    pub(crate) fn free(&self, address: u64) -> Result<(), MemoryError> {
        let mut live = self.live.write().unwrap_or_else(PoisonError::into_inner);
        let Some(region) = live.remove(&address) else {
            return Err(MemoryError::NotAllocated { address });
        };
        self.heap.lock().unwrap_or_else(PoisonError::into_inner).free(address);
        if !region.is_of_host() {
            let mut freed = self.freed.lock().unwrap_or_else(PoisonError::into_inner);
            freed.insert(address, region.bytes());
            if freed.len() > MOST_FREED {
                freed.pop_first();
            }
            self.limits.lock().unwrap_or_else(PoisonError::into_inner).used -= region.bytes();
        }
        Ok(())
    }

    /// The allocation that holds a whole access.
    pub(crate) fn find(&self, address: u64, bytes: u64) -> Option<Arc<Region>> {
        let live = self.live.read().unwrap_or_else(PoisonError::into_inner);
        let (_, region) = live.range(..=address).next_back()?;
        region.contains(address, bytes).then(|| Arc::clone(region))
    }

    /// The allocation that an address lies in.
    pub(crate) fn allocation(&self, address: u64) -> Option<(u64, u64)> {
        self.find(address, 0).map(|region| (region.base(), region.bytes()))
    }

    /// The fault for an access that no allocation holds.
    pub(crate) fn fault(&self, space: Space, address: u64, bytes: u32, write: bool) -> FaultKind {
        let freed = self.freed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((&base, &length)) = freed.range(..=address).next_back()
            && address - base < length.max(1)
        {
            let allocation = Nearest { base, bytes: length };
            return FaultKind::UseAfterFree { address, bytes, allocation };
        }
        FaultKind::OutOfBounds { space, address, bytes, write, nearest: self.nearest(address) }
    }

    fn nearest(&self, address: u64) -> Option<Nearest> {
        let live = self.live.read().unwrap_or_else(PoisonError::into_inner);
        let before = live.range(..=address).next_back().map(|(_, region)| region);
        let after = live.range(address..).next().map(|(_, region)| region);
        let past = |region: &Arc<Region>| address - region.base().min(address);
        let distance = |region: &Arc<Region>| past(region).saturating_sub(region.bytes());
        let ahead = |region: &Arc<Region>| region.base() - address;
        let chosen = match (before, after) {
            (Some(before), Some(after)) if ahead(after) < distance(before) => Some(after),
            (Some(before), _) => Some(before),
            (None, after) => after,
        }?;
        let near = distance(chosen).max(chosen.base().saturating_sub(address)) < 1 << 32;
        near.then(|| Nearest { base: chosen.base(), bytes: chosen.bytes() })
    }

    /// The allocation that holds a copy by the host.
    pub(crate) fn for_copy(
        &self,
        address: u64,
        bytes: usize,
        write: bool,
    ) -> Result<Arc<Region>, MemoryError> {
        self.find(address, bytes as u64).ok_or_else(|| {
            let length = u32::try_from(bytes).unwrap_or(u32::MAX);
            MemoryError::Access(self.fault(Space::Global, address, length, write))
        })
    }
}
