//! Properties of devices.

/// The properties of a device. A warp always has 32 lanes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Properties {
    /// Major and minor compute capability.
    pub compute_capability: (u32, u32),
    /// Most threads of a block.
    pub max_threads_per_block: u32,
    /// Most threads of a block in each dimension.
    pub max_block: [u32; 3],
    /// Most blocks in each dimension.
    pub max_grid: [u32; 3],
    /// Most bytes of static shared memory of a block.
    pub static_shared_bytes: u32,
    /// Most bytes of shared memory of a block, dynamic memory included.
    pub shared_bytes: u32,
    /// Multiprocessors, as `%nsmid` tells them.
    pub multiprocessors: u32,
    /// Bytes of device memory.
    pub memory_bytes: u64,
    /// What fresh memory is filled with.
    pub fill: u8,
}

impl Properties {
    /// The properties of devices of a capability: 75 for sm_75.
    pub fn of_capability(capability: u32) -> Properties {
        let shared_bytes = match capability {
            ..70 => 48 << 10,
            75 => 64 << 10,
            80 | 87 => 163 << 10,
            86 | 89 | 120 | 121 => 99 << 10,
            90..120 => 227 << 10,
            _ => 96 << 10,
        };
        Properties {
            compute_capability: (capability / 10, capability % 10),
            max_threads_per_block: 1024,
            max_block: [1024, 1024, 64],
            max_grid: [0x7fff_ffff, 65535, 65535],
            static_shared_bytes: 48 << 10,
            shared_bytes,
            multiprocessors: 40,
            memory_bytes: 16 << 30,
            fill: 0xcd,
        }
    }
}

/// A device of capability 7.5.
impl Default for Properties {
    fn default() -> Self {
        Properties::of_capability(75)
    }
}
