//! Pools of memory that is allocated in the order of a stream.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use super::allocation::{Allocation, Kind};
use crate::base::abi::{In, field};
use crate::base::error::{Error, Result};
use crate::base::handle::{Handle, Registry, lock};
use cudarc::driver::sys::{
    CUmemAllocationType, CUmemLocationType, CUmemPool_attribute, CUmemPoolProps,
};

/// The pools that exist, the default ones of devices among them.
pub(crate) static POOLS: Registry<Pool> = Registry::new(0x71);

/// Switches.
const FOLLOW_EVENTS: i32 =
    CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES as i32;
const OPPORTUNISTIC: i32 = CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC as i32;
const INTERNAL: i32 = CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES as i32;
/// Numbers of bytes.
const RELEASE_THRESHOLD: i32 = CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD as i32;
const RESERVED: i32 = CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT as i32;
const RESERVED_HIGH: i32 = CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH as i32;
const USED: i32 = CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT as i32;
const USED_HIGH: i32 = CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_HIGH as i32;

/// The attributes that can be set, as they are at first.
const SETTINGS: [(i32, u64); 4] =
    [(FOLLOW_EVENTS, 1), (OPPORTUNISTIC, 1), (INTERNAL, 1), (RELEASE_THRESHOLD, 0)];

/// A pool. It keeps no memory, only counts: memory that is freed is gone.
pub(crate) struct Pool {
    pub(crate) handle: Handle,
    pub(crate) ordinal: usize,
    pub(crate) is_default: bool,
    /// 0: no limit.
    max_bytes: u64,
    used: AtomicU64,
    high: AtomicU64,
    /// Attributes that can be set.
    settings: Mutex<HashMap<i32, u64>>,
}

fn add(ordinal: usize, is_default: bool, max_bytes: u64) -> Arc<Pool> {
    POOLS.add(|handle| Pool {
        handle,
        ordinal,
        is_default,
        max_bytes,
        used: AtomicU64::new(0),
        high: AtomicU64::new(0),
        settings: Mutex::new(SETTINGS.into()),
    })
}

/// The pool that a device has from the start.
pub(crate) fn add_default(ordinal: usize) -> Handle {
    add(ordinal, true, 0).handle
}

/// A new pool; [`Error::CUDA_ERROR_INVALID_VALUE`] for memory that is not that of a device.
pub(crate) fn create(properties: In<CUmemPoolProps>, devices: usize) -> Result<Handle> {
    const PINNED: u32 = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED as u32;
    const DEVICE: u32 = CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE as u32;
    let allocation = field!(properties, CUmemPoolProps, allocType as u32)?;
    let location = field!(properties, CUmemPoolProps, location.type_ as u32)?;
    if allocation != PINNED || location != DEVICE {
        return Err(Error::CUDA_ERROR_INVALID_VALUE);
    }
    if field!(properties, CUmemPoolProps, handleTypes as u32)? != 0 {
        return Err(Error::CUDA_ERROR_NOT_SUPPORTED);
    }
    let id = field!(properties, CUmemPoolProps, location.id as i32)?;
    let ordinal = usize::try_from(id).map_err(|_| Error::CUDA_ERROR_INVALID_VALUE)?;
    if ordinal >= devices {
        return Err(Error::CUDA_ERROR_INVALID_VALUE);
    }
    let max_bytes = field!(properties, CUmemPoolProps, maxSize as usize)?;
    Ok(add(ordinal, false, max_bytes as u64).handle)
}

/// Destroys a pool; its allocations stay.
pub(crate) fn destroy(handle: Handle) -> Result<()> {
    if POOLS.get(handle)?.is_default {
        return Err(Error::CUDA_ERROR_INVALID_VALUE);
    }
    POOLS.remove(handle).map(drop)
}

/// Counts an allocation that was freed.
pub(super) fn freed(allocation: &Allocation) {
    if let Kind::Pool(handle) = allocation.kind
        && let Ok(pool) = POOLS.get(handle)
    {
        pool.used.fetch_sub(allocation.bytes, Ordering::Relaxed);
    }
}

impl Pool {
    /// Counts an allocation, if the pool may have as much.
    pub(crate) fn take(&self, bytes: u64) -> Result<()> {
        let take = |used: u64| {
            let used = used.checked_add(bytes)?;
            (self.max_bytes == 0 || used <= self.max_bytes).then_some(used)
        };
        let taken = self.used.try_update(Ordering::Relaxed, Ordering::Relaxed, take);
        let before = taken.map_err(|_| Error::CUDA_ERROR_OUT_OF_MEMORY)?;
        self.high.fetch_max(before + bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Takes an allocation back that was counted and could not be made.
    pub(crate) fn give(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// The value of an attribute.
    pub(crate) fn attribute(&self, attribute: i32) -> Result<u64> {
        match attribute {
            RESERVED | USED => Ok(self.used.load(Ordering::Relaxed)),
            RESERVED_HIGH | USED_HIGH => Ok(self.high.load(Ordering::Relaxed)),
            _ => {
                lock(&self.settings).get(&attribute).copied().ok_or(Error::CUDA_ERROR_INVALID_VALUE)
            }
        }
    }

    /// Sets an attribute; the high marks can only be set back to 0.
    pub(crate) fn set_attribute(&self, attribute: i32, value: u64) -> Result<()> {
        if matches!(attribute, RESERVED_HIGH | USED_HIGH) && value == 0 {
            self.high.store(self.used.load(Ordering::Relaxed), Ordering::Relaxed);
            return Ok(());
        }
        let mut settings = lock(&self.settings);
        *settings.get_mut(&attribute).ok_or(Error::CUDA_ERROR_INVALID_VALUE)? = value;
        Ok(())
    }

    /// Whether an attribute is a number of bytes, of 64 bits, and not a switch of 32.
    pub(crate) fn is_wide(attribute: i32) -> bool {
        attribute >= RELEASE_THRESHOLD
    }
}
