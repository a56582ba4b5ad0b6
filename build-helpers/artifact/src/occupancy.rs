//! Occupancy of NVIDIA's multiprocessors: how many blocks of a kernel one holds at once.
//!
//! The numbers are those of the table [Technical Specifications per Compute Capability]; the rules of allocation are
//! those of the CUDA Occupancy Calculator: registers in units for each warp, warps in groups of the multiprocessor's
//! four processors, shared memory in units for each block.
//!
//! [Technical Specifications per Compute Capability]:
//!     https://docs.nvidia.com/cuda/cuda-c-programming-guide/#features-and-technical-specifications-technical-specifications-per-compute-capability

use crate::{NvidiaArch, Resources};

/// What a multiprocessor of a compute capability has.
///
/// ```
/// use kernelmill_artifact::{Multiprocessor, Resources, Target};
///
/// let Target::Cubin(arch) = "sm_80".parse()? else { unreachable!() };
/// let processor = Multiprocessor::of(arch).unwrap();
/// let kernel = Resources { registers: Some(64), static_shared_bytes: Some(0), ..Resources::UNKNOWN };
/// // Four blocks of eight warps: the registers are used up, and half of the warps are there.
/// assert_eq!(processor.resident_blocks(&kernel, 256, 0), Some(4));
/// assert_eq!(processor.max_warps, 64);
/// # Ok::<(), kernelmill_artifact::target::ParseTargetError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Multiprocessor {
    /// The most blocks at once.
    pub max_blocks: u32,
    /// The most warps at once.
    pub max_warps: u32,
    /// Bytes of shared memory for all blocks.
    pub shared_bytes: u32,
    /// Bytes of shared memory of each block that the system keeps.
    pub reserved_shared_bytes: u32,
    /// What shared memory of a block is a multiple of.
    shared_unit: u32,
}

/// The threads of a warp.
const WARP: u32 = 32;
/// The processors of a multiprocessor, each with its part of the registers.
const PROCESSORS: u32 = 4;
/// The registers of a multiprocessor, and the most of a block.
const REGISTERS: u32 = 1 << 16;
/// What the registers of a warp are a multiple of.
const REGISTER_UNIT: u32 = 256;
/// The most registers of a thread.
pub(crate) const MAX_REGISTERS: u32 = 255;
/// The most threads of a block.
const MAX_THREADS: u32 = 1024;

impl Multiprocessor {
    /// That of an architecture; `None` where NVIDIA's table does not have it.
    #[must_use]
    pub const fn of(arch: NvidiaArch) -> Option<Self> {
        let (max_blocks, max_warps, shared_kibibytes) = match (arch.major, arch.minor) {
            (7, 5) => (16, 32, 64),
            (8, 0) => (32, 64, 164),
            (8, 6) => (16, 48, 100),
            (8, 7) => (16, 48, 164),
            (8, 9) | (12, _) => (24, 48, 100),
            (9, 0) | (10, _) => (32, 64, 228),
            (11, 0) => (24, 48, 228),
            _ => return None,
        };
        let (reserved_shared_bytes, shared_unit) =
            if arch.major < 8 { (0, 256) } else { (1024, 128) };
        let shared_bytes = shared_kibibytes * 1024;
        Some(Self { max_blocks, max_warps, shared_bytes, reserved_shared_bytes, shared_unit })
    }

    /// The most blocks of a kernel that are on a multiprocessor at once, with `threads` threads and
    /// `dynamic_shared_bytes` bytes of dynamic shared memory each; 0 where a block does not fit. `None` where the
    /// kernel's registers or shared memory are not known.
    #[must_use]
    pub fn resident_blocks(
        &self,
        kernel: &Resources,
        threads: u32,
        dynamic_shared_bytes: u32,
    ) -> Option<u32> {
        let (registers, own) = (kernel.registers?, kernel.static_shared_bytes?);
        let most = kernel.max_threads.unwrap_or(MAX_THREADS).min(MAX_THREADS);
        if threads == 0 || threads > most || registers > MAX_REGISTERS {
            return Some(0);
        }
        let warps = threads.div_ceil(WARP);
        let by_warps = self.max_warps / warps;
        let by_registers = match warps.next_multiple_of(PROCESSORS) <= warps_of(registers) {
            true => warps_of(registers) / warps,
            false => 0,
        };
        let shared =
            u64::from(own.max(self.reserved_shared_bytes)) + u64::from(dynamic_shared_bytes);
        let shared = shared.next_multiple_of(u64::from(self.shared_unit));
        let by_shared = match u32::try_from(shared) {
            Ok(0) => self.max_blocks,
            Ok(bytes) => self.shared_bytes / bytes,
            Err(_) => 0,
        };
        Some(self.max_blocks.min(by_warps).min(by_registers).min(by_shared))
    }
}

/// The warps whose registers a multiprocessor has, a multiple of its processors.
const fn warps_of(registers: u32) -> u32 {
    let of_warp = (registers * WARP).next_multiple_of(REGISTER_UNIT);
    match (REGISTERS / PROCESSORS).checked_div(of_warp) {
        Some(warps) => warps * PROCESSORS,
        None => MAX_THREADS / WARP * PROCESSORS,
    }
}

/// The most registers of a thread with which a block of so many threads fits onto a multiprocessor: the multiprocessor's
/// divided among the threads, rounded down to a multiple of 8, and at most 255.
#[must_use]
pub const fn registers_with(threads: u32) -> u32 {
    let share = REGISTERS / if threads == 0 { 1 } else { threads };
    let rounded = share / 8 * 8;
    if rounded < MAX_REGISTERS { rounded } else { MAX_REGISTERS }
}

/// The most threads of a block whose threads have so many registers each.
#[must_use]
pub const fn threads_with(registers: u32) -> u32 {
    let threads =
        warps_of(if registers > MAX_REGISTERS { MAX_REGISTERS } else { registers }) * WARP;
    if threads < MAX_THREADS { threads } else { MAX_THREADS }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Target;

    fn processor(target: &str) -> Multiprocessor {
        let Ok(Target::Cubin(arch)) = target.parse() else { panic!("{target}") };
        Multiprocessor::of(arch).unwrap()
    }

    fn kernel(registers: u32, shared: u32) -> Resources {
        let (registers, static_shared_bytes) = (Some(registers), Some(shared));
        Resources { registers, static_shared_bytes, ..Resources::UNKNOWN }
    }

    /// Rows of NVIDIA's Occupancy Calculator.
    ///
    /// Acceptance: S3.1.
    #[test]
    fn the_scarcest_resource_limits_the_blocks() {
        let blocks = |target, registers, shared, threads, dynamic| {
            processor(target).resident_blocks(&kernel(registers, shared), threads, dynamic).unwrap()
        };
        assert_eq!(blocks("sm_80", 32, 0, 256, 0), 8, "warps: 64 of 64");
        assert_eq!(blocks("sm_80", 16, 0, 32, 0), 32, "blocks");
        assert_eq!(blocks("sm_80", 255, 0, 256, 0), 1, "registers: 8192 a warp");
        assert_eq!(blocks("sm_80", 96, 0, 640, 0), 1, "registers: 20 warps");
        assert_eq!(blocks("sm_80", 96, 0, 641, 0), 0, "registers: 24 warps have too many");
        assert_eq!(blocks("sm_80", 40, 0, 192, 0), 8, "registers: 48 of 64 warps");
        assert_eq!(blocks("sm_90", 32, 1024, 128, 100 << 10), 2, "shared memory");
        assert_eq!(blocks("sm_80", 32, 1024, 128, 163 << 10), 1, "all shared memory");
        assert_eq!(blocks("sm_80", 32, 1024, 128, 164 << 10), 0, "more than there is");
        assert_eq!(blocks("sm_75", 32, 0, 1024, 0), 1, "warps: 32 of 32");
        assert_eq!(blocks("sm_86", 32, 0, 512, 0), 3, "warps: 48 of 48");
        assert_eq!(blocks("sm_89", 16, 1024, 32, 0), 24, "blocks");
        assert_eq!(blocks("sm_90", 32, 0, 1025, 0), 0, "no such block");
        assert_eq!(blocks("sm_90", 32, 0, 0, 0), 0, "no thread");
        let bounded = Resources { max_threads: Some(128), ..kernel(32, 0) };
        assert_eq!(processor("sm_90").resident_blocks(&bounded, 256, 0), Some(0));
        assert_eq!(processor("sm_90").resident_blocks(&Resources::UNKNOWN, 256, 0), None);
    }

    #[test]
    fn registers_limit_the_threads_of_a_block() {
        assert_eq!(
            [0, 32, 64, 65, 96, 128, 168, 255].map(threads_with),
            [1024, 1024, 1024, 896, 640, 512, 384, 256]
        );
    }

    #[test]
    fn every_architecture_of_the_table_has_its_own_row() {
        let rows =
            ["sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90a", "sm_100", "sm_110", "sm_120"]
                .map(processor)
                .map(|row| (row.max_blocks, row.max_warps, row.shared_bytes / 1024));
        let expected = [
            (16, 32, 64),
            (32, 64, 164),
            (16, 48, 100),
            (16, 48, 164),
            (24, 48, 100),
            (32, 64, 228),
            (32, 64, 228),
            (24, 48, 228),
            (24, 48, 100),
        ];
        assert_eq!(rows, expected);
        let Ok(Target::Cubin(unknown)) = "sm_88".parse() else { panic!("it is a target") };
        assert_eq!(Multiprocessor::of(unknown), None);
    }
}
