//! Launch bounds of a kernel: what its author promises of the grids, blocks and clusters that it is
//! launched with. They correspond to PTX's [performance-tuning directives][ptx].
//!
//! [ptx]: https://docs.nvidia.com/cuda/parallel-thread-execution/#performance-tuning-directives

use crate::occupancy::{MAX_REGISTERS, registers_with};

/// The bits of narrow indices.
const NARROW: u32 = 32;

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
    /// The bits of indices. With 32 every number of elements, every argument of type `usize` or `isize` and the number
    /// of threads is below 2^31. 64 and 0 bound nothing.
    pub index_width: u32,
}

impl LaunchLimits {
    /// No bounds.
    pub const NONE: Self = Self {
        max_block_threads: 0,
        block: [0; 3],
        min_blocks: 0,
        max_registers: 0,
        cluster: [0; 3],
        index_width: 0,
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
            index_width: number(self.index_width, other.index_width),
        }
    }

    /// The bounds of a variant that says these of its launches, of a kernel with other bounds: one block size stands in the
    /// place of the most threads of a block.
    ///
    /// ```
    /// use kernelmill_artifact::LaunchLimits;
    /// let kernel = LaunchLimits { max_block_threads: 256, max_registers: 64, ..LaunchLimits::NONE };
    /// let said = LaunchLimits { block: [32, 1, 1], ..LaunchLimits::NONE };
    /// let variant = said.in_place_of(kernel);
    /// assert_eq!((variant.block, variant.max_block_threads, variant.max_registers), ([32, 1, 1], 0, 64));
    /// ```
    #[must_use]
    pub fn in_place_of(self, kernel: Self) -> Self {
        let bound = if self.block == [0; 3] { kernel.max_block_threads } else { 0 };
        self.or(Self { max_block_threads: bound, ..kernel })
    }

    /// These bounds without those that change no code: as many registers as a thread can have, and indices of 64 bits.
    #[must_use]
    pub fn normalized(self) -> Self {
        let max_registers = if self.max_registers < MAX_REGISTERS { self.max_registers } else { 0 };
        let index_width = if self.has_narrow_indices() { NARROW } else { 0 };
        Self { max_registers, index_width, ..self }
    }

    /// Whether indices have 32 bits.
    #[must_use]
    pub fn has_narrow_indices(&self) -> bool {
        self.index_width == NARROW
    }

    /// The most registers of a thread that an assembler is told; `None` where a thread may have as many as there can
    /// be. A block of the most threads fits onto a multiprocessor with them, unless it is said how many blocks do: the
    /// assembler derives the number from that.
    ///
    /// ```
    /// use kernelmill_artifact::LaunchLimits;
    /// let limits = |max_block_threads, max_registers| {
    ///     LaunchLimits { max_block_threads, max_registers, ..LaunchLimits::NONE }.registers()
    /// };
    /// assert_eq!((limits(0, 64), limits(0, 255), limits(256, 0)), (Some(64), None, None));
    /// assert_eq!((limits(1024, 0), limits(1024, 200), limits(1024, 40)), (Some(64), Some(64), Some(40)));
    /// ```
    #[must_use]
    pub fn registers(&self) -> Option<u32> {
        let by_block = match self.most_threads() {
            Some(threads) if self.min_blocks == 0 => registers_with(threads),
            _ => MAX_REGISTERS,
        };
        let said = Some(self.max_registers).filter(|said| *said > 0);
        Some(by_block.min(said.unwrap_or(MAX_REGISTERS))).filter(|most| *most < MAX_REGISTERS)
    }

    /// The most threads in a block, by the exact size or else the bound; `None` where there is
    /// neither.
    #[must_use]
    pub fn most_threads(&self) -> Option<u32> {
        let exact = self.block.iter().product();
        [exact, self.max_block_threads].into_iter().find(|threads| *threads > 0)
    }
}
