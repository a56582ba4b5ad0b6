//! Launch bounds of a kernel: what its author promises of the grids, blocks and clusters that it is
//! launched with. They correspond to PTX's [performance-tuning directives][ptx].
//!
//! [ptx]: https://docs.nvidia.com/cuda/parallel-thread-execution/#performance-tuning-directives

/// Launch bounds of a kernel, given in its source or in the configuration: `__launch_bounds__`,
/// `__block_size__`, `__maxnreg__` and `__cluster_dims__` of CUDA C++, and the arguments of
/// `#[kernel]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LaunchLimits {
    /// The most threads in a block; 0 where there is no bound.
    pub max_block_threads: u32,
    /// The exact block, x first; zeros where it is not fixed.
    pub block: [u32; 3],
    /// The number of blocks that should be resident on a multiprocessor; 0 where there is no bound.
    pub min_blocks: u32,
    /// The most registers of a thread; 0 where there is no bound.
    pub max_registers: u32,
    /// The blocks of a cluster, x first; zeros where there are no clusters.
    pub cluster: [u32; 3],
}

impl LaunchLimits {
    /// No bounds.
    pub const NONE: Self = Self {
        max_block_threads: 0,
        block: [0; 3],
        min_blocks: 0,
        max_registers: 0,
        cluster: [0; 3],
    };

    /// These bounds, and for each that is missing that of `other`.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        let number = |own: u32, other| if own > 0 { own } else { other };
        let sizes = |own: [u32; 3], other| if own == [0; 3] { other } else { own };
        Self {
            max_block_threads: number(self.max_block_threads, other.max_block_threads),
            block: sizes(self.block, other.block),
            min_blocks: number(self.min_blocks, other.min_blocks),
            max_registers: number(self.max_registers, other.max_registers),
            cluster: sizes(self.cluster, other.cluster),
        }
    }

    /// The most threads in a block, by the exact size or else the bound; `None` where there is
    /// neither.
    #[must_use]
    pub fn most_threads(&self) -> Option<u32> {
        let exact = self.block.iter().product();
        [exact, self.max_block_threads].into_iter().find(|threads| *threads > 0)
    }
}
