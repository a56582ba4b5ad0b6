//! What may be said of the launches that a kernel is made for.

use kernelmill_artifact::LaunchLimits;

/// The most threads in a block, on every device.
const MAX_THREADS: u32 = 1024;
/// The most threads along z.
const MAX_DEPTH: u32 = 64;
/// The most registers of a thread.
const MAX_REGISTERS: u32 = 255;
/// The most blocks on a multiprocessor.
const MAX_BLOCKS: u32 = 32;
/// The most blocks of a cluster, on every device that has clusters.
const MAX_CLUSTER: u32 = 8;

/// A limit that cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitFault {
    /// Which one, as `#[kernel]` names it.
    pub name: &'static str,
    /// What is wrong with it.
    pub message: String,
    /// What to write instead.
    pub help: &'static str,
}

/// What is wrong with what a variant says of its launches, whatever its kernel says: the threads that go with a number of
/// blocks can be the kernel's.
#[must_use]
pub fn check_variant(limits: &LaunchLimits) -> Vec<LimitFault> {
    let is_own = |fault: &LimitFault| fault.name != "min_blocks" || limits.min_blocks > MAX_BLOCKS;
    check(limits).into_iter().filter(is_own).collect()
}

/// Everything that is wrong with what is said of a kernel's launches.
///
/// ```
/// use kernelmill_artifact::LaunchLimits;
/// use kernelmill_compiler::limits::check;
/// let limits = LaunchLimits { max_block_threads: 2000, min_blocks: 2, ..LaunchLimits::NONE };
/// assert_eq!(check(&limits)[0].message, "2000 threads do not fit into a block");
/// assert!(check(&LaunchLimits { max_block_threads: 256, ..limits }).is_empty());
/// ```
#[must_use]
pub fn check(limits: &LaunchLimits) -> Vec<LimitFault> {
    let mut faults = Vec::new();
    let mut fault = |name, message: String, help| faults.push(LimitFault { name, message, help });
    let LaunchLimits { max_block_threads, block, min_blocks, max_registers, cluster, index_width } =
        *limits;
    let product = |sizes: [u32; 3]| sizes.into_iter().fold(1, u32::saturating_mul);
    if max_block_threads > MAX_THREADS {
        let message = format!("{max_block_threads} threads do not fit into a block");
        fault("launch_bounds", message, "a block has 1 to 1024 threads");
    }
    if block != [0; 3] {
        let fits = product(block) <= MAX_THREADS && block[2] <= MAX_DEPTH;
        if block.contains(&0) || !fits {
            let message = format!("a block cannot have the size {block:?}");
            fault("block_size", message, "a block has 1 to 1024 threads, at most 64 along z");
        }
        if max_block_threads > 0 {
            let message = "the size of a block is given exactly (`block_size`) and as a limit (`launch_bounds`)".to_owned();
            fault("launch_bounds", message, "remove one of the two");
        }
    }
    if min_blocks > 0 && limits.most_threads().is_none() {
        let message = "`min_blocks` is given without the number of threads in a block".to_owned();
        fault("min_blocks", message, "add `launch_bounds` or `block_size`");
    }
    if min_blocks > MAX_BLOCKS {
        let message = format!("{min_blocks} blocks do not fit onto a multiprocessor");
        fault("min_blocks", message, "a multiprocessor holds at most 32 blocks");
    }
    if max_registers > MAX_REGISTERS {
        let message = format!("{max_registers} registers are more than a thread can have");
        fault("max_registers", message, "a thread has at most 255 registers");
    }
    if cluster != [0; 3] && (cluster.contains(&0) || product(cluster) > MAX_CLUSTER) {
        let message = format!("a cluster cannot have the size {cluster:?}");
        fault("cluster", message, "a cluster has 1 to 8 blocks");
    }
    if !matches!(index_width, 0 | 32 | 64) {
        let message = format!("an index cannot have {index_width} bits");
        fault("index_width", message, "write 32 or 64");
    }
    faults
}
