//! Attributes of devices.
//!
//! CUDA Driver API, "Device Management", `CUdevice_attribute`.

use super::profile::Profile;
use crate::base::abi::enumerators;

/// Largest pitch of a two-dimensional copy.
const MAX_PITCH: i32 = i32::MAX;

enumerators! { i32: CUdevice_attribute
    THREADS = CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
    BLOCK_X = CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X;
    BLOCK_Z = CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z;
    GRID_X = CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X;
    GRID_Z = CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z;
    SHARED = CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK;
    CONSTANT = CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY;
    WARP = CU_DEVICE_ATTRIBUTE_WARP_SIZE;
    PITCH = CU_DEVICE_ATTRIBUTE_MAX_PITCH;
    REGISTERS_OF_BLOCK = CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK;
    CLOCK = CU_DEVICE_ATTRIBUTE_CLOCK_RATE;
    TEXTURE_ALIGNMENT = CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT;
    OVERLAP = CU_DEVICE_ATTRIBUTE_GPU_OVERLAP;
    MULTIPROCESSORS = CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
    MAPPED_HOST = CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY;
    CONCURRENT_KERNELS = CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS;
    PCI_BUS = CU_DEVICE_ATTRIBUTE_PCI_BUS_ID;
    PCI_DEVICE = CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID;
    MEMORY_CLOCK = CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE;
    MEMORY_BUS = CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH;
    L2 = CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE;
    THREADS_OF_MULTIPROCESSOR = CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR;
    COPY_ENGINES = CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT;
    UNIFIED_ADDRESSING = CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING;
    PCI_DOMAIN = CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID;
    TEXTURE_PITCH = CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT;
    MAJOR = CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR;
    MINOR = CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR;
    PRIORITIES = CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED;
    LOCAL_L1 = CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED;
    SHARED_OF_MULTIPROCESSOR = CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR;
    REGISTERS_OF_MULTIPROCESSOR = CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR;
    MANAGED = CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY;
    HOST_ATOMICS = CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED;
    DOUBLE_RATIO = CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO;
    PAGEABLE = CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS;
    CONCURRENT_MANAGED = CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS;
    PREEMPTION = CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED;
    HOST_POINTER = CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM;
    COOPERATIVE = CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH;
    SHARED_OPTIN = CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
    HOST_REGISTER = CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED;
    HOST_PAGE_TABLES = CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES;
    BLOCKS_OF_MULTIPROCESSOR = CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR;
    PERSISTING_L2 = CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE;
    ACCESS_WINDOW = CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE;
    RESERVED_SHARED = CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK;
    POOLS = CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED;
    POOL_HANDLES = CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES;
    CLUSTERS = CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH;
    MAX = CU_DEVICE_ATTRIBUTE_MAX;
}

/// `CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH`.
pub(super) const COOPERATIVE_LAUNCH: i32 = COOPERATIVE;

/// The value of an attribute; `None` for numbers that are no attribute.
pub(super) fn value(profile: &Profile, ordinal: usize, attribute: i32) -> Option<i32> {
    if !(THREADS..MAX).contains(&attribute) {
        return None;
    }
    let limit = limits(profile, attribute).or_else(|| of_multiprocessors(profile, attribute));
    let value = limit.or_else(|| clocks(profile, attribute));
    let value = value.map(|value| i32::try_from(value).unwrap_or(i32::MAX));
    value.or_else(|| features(profile, ordinal, attribute)).or(Some(0))
}

/// Limits of launches.
fn limits(profile: &Profile, attribute: i32) -> Option<u32> {
    Some(match attribute {
        THREADS => Profile::THREADS_PER_BLOCK,
        BLOCK_X..=BLOCK_Z => Profile::BLOCK[(attribute - BLOCK_X) as usize],
        GRID_X..=GRID_Z => Profile::GRID[(attribute - GRID_X) as usize],
        SHARED => Profile::SHARED_WITHOUT_ASKING,
        CONSTANT => 64 << 10,
        WARP => Profile::WARP,
        REGISTERS_OF_BLOCK | REGISTERS_OF_MULTIPROCESSOR => Profile::REGISTERS,
        SHARED_OPTIN => profile.shared_per_block,
        RESERVED_SHARED => Profile::SHARED_RESERVED,
        _ => return None,
    })
}

/// What multiprocessors have.
fn of_multiprocessors(profile: &Profile, attribute: i32) -> Option<u32> {
    Some(match attribute {
        MULTIPROCESSORS => profile.multiprocessors,
        THREADS_OF_MULTIPROCESSOR => profile.threads_per_multiprocessor,
        MAJOR => profile.major,
        MINOR => profile.minor,
        SHARED_OF_MULTIPROCESSOR => profile.shared_per_multiprocessor,
        BLOCKS_OF_MULTIPROCESSOR => profile.blocks_per_multiprocessor,
        _ => return None,
    })
}

/// Frequencies and widths.
fn clocks(profile: &Profile, attribute: i32) -> Option<u32> {
    Some(match attribute {
        CLOCK => profile.clock_khz,
        MEMORY_CLOCK => profile.memory_clock_khz,
        MEMORY_BUS => profile.memory_bus_bits,
        L2 => profile.l2_bytes,
        DOUBLE_RATIO => 2,
        COPY_ENGINES => 2,
        _ => return None,
    })
}

/// What the device can do, and where it sits.
fn features(profile: &Profile, ordinal: usize, attribute: i32) -> Option<i32> {
    Some(match attribute {
        PITCH => MAX_PITCH,
        TEXTURE_ALIGNMENT => 512,
        TEXTURE_PITCH => 32,
        OVERLAP | MAPPED_HOST | CONCURRENT_KERNELS | UNIFIED_ADDRESSING => 1,
        PCI_BUS => ordinal as i32 + 1,
        PCI_DEVICE | PCI_DOMAIN => 0,
        // Stream priorities, caching of globals and locals.
        PRIORITIES..=LOCAL_L1 => 1,
        MANAGED | CONCURRENT_MANAGED | PREEMPTION => 1,
        HOST_ATOMICS | PAGEABLE | HOST_PAGE_TABLES => 0,
        HOST_POINTER | HOST_REGISTER => 1,
        COOPERATIVE => 1,
        // Pools have no handle that other processes could import.
        POOLS => 1,
        POOL_HANDLES => 0,
        CLUSTERS => 0,
        PERSISTING_L2 | ACCESS_WINDOW => {
            if profile.major >= 8 {
                (profile.l2_bytes / 2) as i32
            } else {
                0
            }
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_those_of_the_profile() {
        let hopper = Profile::named("90").unwrap();
        assert_eq!(value(&hopper, 0, 1), Some(1024));
        assert_eq!(value(&hopper, 0, 4), Some(64));
        assert_eq!(value(&hopper, 0, 5), Some(0x7fff_ffff));
        assert_eq!(value(&hopper, 0, 75), Some(9));
        assert_eq!(value(&hopper, 0, 97), Some(232_448));
        assert_eq!(value(&hopper, 0, 0), None);
        assert_eq!(value(&hopper, 0, 10_000), None);
    }
}
