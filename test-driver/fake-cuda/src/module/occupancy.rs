//! Occupancy: how many blocks a multiprocessor has room for.
//!
//! CUDA Driver API, "Occupancy"; CUDA C++ Programming Guide, "Occupancy Calculator".

use ptx_emulator::Kernel;

use super::module;
use crate::base::error::{Error, Result};
use crate::device::Profile;

/// Registers are given to warps in units of this.
const REGISTER_UNIT: u32 = 256;
/// Shared memory is given to blocks in units of this.
const SHARED_UNIT: usize = 128;

/// Blocks of this many threads that a multiprocessor has room for.
pub(crate) fn blocks(profile: &Profile, kernel: &Kernel, threads: u32, dynamic: usize) -> u32 {
    if threads == 0 || threads > module::threads(kernel) {
        return 0;
    }
    let warps = threads.div_ceil(Profile::WARP);
    let by_threads = profile.threads_per_multiprocessor / (warps * Profile::WARP);
    let registers = (kernel.registers.clamp(16, 255) * Profile::WARP)
        .next_multiple_of(REGISTER_UNIT)
        .saturating_mul(warps);
    let by_registers = Profile::REGISTERS / registers.min(Profile::REGISTERS);
    let by_shared = profile.shared_per_multiprocessor as usize
        / shared(kernel, dynamic).max(1).min(u32::MAX as usize);
    let least = by_threads.min(by_registers).min(profile.blocks_per_multiprocessor);
    least.min(u32::try_from(by_shared).unwrap_or(u32::MAX))
}

/// Shared memory that a block takes of its multiprocessor.
fn shared(kernel: &Kernel, dynamic: usize) -> usize {
    let own = kernel.static_shared_bytes as usize + dynamic;
    (own + Profile::SHARED_RESERVED as usize).next_multiple_of(SHARED_UNIT)
}

/// The dynamic shared memory that each of `blocks` blocks on one multiprocessor can have.
pub(crate) fn available_shared(
    profile: &Profile,
    kernel: &Kernel,
    count: i32,
    threads: i32,
) -> Result<usize> {
    let count = usize::try_from(count).ok().filter(|count| *count > 0);
    let threads = u32::try_from(threads).map_err(|_| Error::CUDA_ERROR_INVALID_VALUE)?;
    let count = count.ok_or(Error::CUDA_ERROR_INVALID_VALUE)?;
    if blocks(profile, kernel, threads, 0) < count as u32 {
        return Err(Error::CUDA_ERROR_INVALID_VALUE);
    }
    let each = profile.shared_per_multiprocessor as usize / count / SHARED_UNIT * SHARED_UNIT;
    let each = each.saturating_sub(Profile::SHARED_RESERVED as usize);
    let each = each.min(profile.shared_per_block as usize);
    Ok(each.saturating_sub(kernel.static_shared_bytes as usize))
}

/// The block size that fills a multiprocessor best, and the blocks that fill the device then.
pub(crate) fn best(
    profile: &Profile,
    kernel: &Kernel,
    limit: u32,
    dynamic: impl Fn(u32) -> usize,
) -> (u32, u32) {
    let most = module::threads(kernel).min(if limit == 0 { u32::MAX } else { limit });
    let sizes = (1..=most.div_ceil(Profile::WARP)).rev();
    let sizes = sizes.map(|warps| (warps * Profile::WARP).min(most));
    let mut found = (0, 0, 0);
    for size in sizes {
        let each = blocks(profile, kernel, size, dynamic(size));
        if each * size > found.0 {
            found = (each * size, each, size);
        }
    }
    (found.1 * profile.multiprocessors, found.2)
}

#[cfg(test)]
mod tests {
    use ptx_emulator::Module;

    use super::*;

    fn module() -> Module {
        let text = ".version 6.3\n.target sm_75\n.address_size 64\n\
                    .visible .entry small()\n{\n\tret;\n}\n\
                    .visible .entry narrow()\n.maxntid 96, 1, 1\n{\n\tret;\n}\n";
        Module::parse(text).unwrap()
    }

    #[test]
    fn each_resource_limits() {
        let (module, profile) = (module(), Profile::named("75").unwrap());
        let small = module.kernel("small").unwrap();
        let blocks = |threads, dynamic| blocks(&profile, small, threads, dynamic);
        // By blocks, by threads, by shared memory.
        assert_eq!(blocks(32, 0), 16);
        assert_eq!(blocks(512, 0), 2);
        assert_eq!(blocks(32, 31 << 10), 2);
        assert_eq!(blocks(32, 64 << 10), 0);
        assert_eq!(blocks(1025, 0), 0);
    }

    #[test]
    fn the_best_block_fills_a_multiprocessor() {
        let (module, profile) = (module(), Profile::named("75").unwrap());
        let small = module.kernel("small").unwrap();
        assert_eq!(best(&profile, small, 0, |_| 0), (40, 1024));
        assert_eq!(best(&profile, small, 256, |_| 0), (160, 256));
        let narrow = module.kernel("narrow").unwrap();
        assert_eq!(best(&profile, narrow, 0, |_| 0).1, 64);
        let shared = available_shared(&profile, small, 2, 128).unwrap();
        assert_eq!(shared, 31 << 10);
        assert!(available_shared(&profile, small, 0, 128).is_err());
    }
}
