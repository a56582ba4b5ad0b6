//! Launch shapes: how many threads a kernel is launched with.
//!
//! Plain data; `limits` checks it.

/// The default number of threads in a block of [`Launch::linear`].
const LINEAR_BLOCK: u64 = 256;

/// The shape of a launch in `D` dimensions: a grid of blocks, a block of threads, and bytes of
/// dynamic shared memory.
///
/// A kernel that indexes in one dimension takes `Launch<1>`, so that its threads cannot have the
/// same index; kernels in two and three dimensions take `Launch<2>` and `Launch<3>`. Limits are
/// those of the device, and are checked when the kernel is launched. A zero in the grid is a
/// launch of nothing.
///
/// ```
/// use kernelmill::Launch;
/// let launch = Launch::linear(1000);
/// assert_eq!((launch.grid_size(), launch.block_size()), ([4], [256]));
/// let launch = Launch::grid([40, 30], [16, 16]).shared_bytes(1024);
/// assert_eq!(Launch::<3>::from(launch).grid_size(), [40, 30, 1]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Launch<const D: usize> {
    grid: [u64; D],
    block: [u64; D],
    shared_bytes: u64,
    /// The most registers of the build that it gets; 0 where any will do.
    registers: u8,
    /// The name of the variant that it gets; `None` where the rules of variants choose.
    variant: Option<&'static str>,
}

impl Launch<1> {
    /// At least `n` threads in a row, in blocks of 256: the last block can have threads past `n`,
    /// which run too. `n == 0` launches nothing.
    ///
    /// Where `n` needs more blocks than the device allows, the launch is an [`Error::Limit`].
    ///
    /// [`Error::Limit`]: crate::Error::Limit
    #[must_use]
    pub const fn linear(n: usize) -> Self {
        Self::linear_in_blocks(n, LINEAR_BLOCK as u32)
    }

    /// At least `n` threads in a row, in blocks of `threads`, as [`Launch::linear`] has blocks of 256.
    ///
    /// `threads == 0` is a launch that fails with [`Error::EmptyBlock`].
    ///
    /// ```
    /// use kernelmill::Launch;
    /// let launch = Launch::linear_in_blocks(1000, 64);
    /// assert_eq!((launch.grid_size(), launch.block_size()), ([16], [64]));
    /// ```
    ///
    /// [`Error::EmptyBlock`]: crate::Error::EmptyBlock
    #[must_use]
    pub const fn linear_in_blocks(n: usize, threads: u32) -> Self {
        Self::cover([n], [threads])
    }
}

impl<const D: usize> Launch<D> {
    /// `grid` blocks of `block` threads, each x first.
    #[must_use]
    pub const fn grid(grid: [u32; D], block: [u32; D]) -> Self {
        Self {
            grid: widen(grid),
            block: widen(block),
            shared_bytes: 0,
            registers: 0,
            variant: None,
        }
    }

    /// At least `sizes` threads, in blocks of `block` threads, both x first: the last blocks along each axis can have
    /// threads past the sizes, which run too. A size of 0 launches nothing.
    ///
    /// A block without threads is a launch that fails with [`Error::EmptyBlock`].
    ///
    /// ```
    /// use kernelmill::Launch;
    /// let picture = Launch::cover([1920, 1080], [32, 8]);
    /// assert_eq!((picture.grid_size(), picture.block_size()), ([60, 135], [32, 8]));
    /// ```
    ///
    /// [`Error::EmptyBlock`]: crate::Error::EmptyBlock
    #[must_use]
    pub const fn cover(sizes: [usize; D], block: [u32; D]) -> Self {
        let (mut grid, block) = ([0; D], widen(block));
        let mut axis = 0;
        while axis < D {
            let size = sizes[axis] as u64;
            grid[axis] = if block[axis] == 0 { size } else { size.div_ceil(block[axis]) };
            axis += 1;
        }
        Self { grid, block, shared_bytes: 0, registers: 0, variant: None }
    }

    /// The same launch with `bytes` of dynamic shared memory for each block, on top of what the
    /// kernel declares.
    #[must_use]
    pub const fn shared_bytes(mut self, bytes: usize) -> Self {
        self.shared_bytes = bytes as u64;
        self
    }

    /// The same launch by a build that was made for at most so many registers of a thread, of a kernel with variants.
    /// Kernels without variants have one build, which every launch gets.
    #[must_use]
    pub const fn max_registers(mut self, registers: u8) -> Self {
        self.registers = registers;
        self
    }

    /// The most registers of the build that the launch asks for.
    #[must_use]
    pub const fn registers(&self) -> Option<u32> {
        if self.registers == 0 { None } else { Some(self.registers as u32) }
    }

    /// The same launch by the variant of this name. A variant that is compiled with macros of its own, `define` in the
    /// settings, gets only the launches that ask for it: it may compute something else, or be made for blocks of another
    /// shape. Where the kernel has no such variant for the device, or it does not fit, the launch is an
    /// [`Error::NoVariant`].
    ///
    /// ```
    /// use kernelmill::Launch;
    /// let launch = Launch::grid([4], [32]).variant("TILE32");
    /// assert_eq!(launch.variant_name(), Some("TILE32"));
    /// ```
    ///
    /// [`Error::NoVariant`]: crate::Error::NoVariant
    #[must_use]
    pub const fn variant(mut self, name: &'static str) -> Self {
        self.variant = Some(name);
        self
    }

    /// The name of the variant that the launch asks for.
    #[must_use]
    pub const fn variant_name(&self) -> Option<&'static str> {
        self.variant
    }

    /// The number of blocks, x first.
    #[must_use]
    pub const fn grid_size(&self) -> [u64; D] {
        self.grid
    }

    /// The number of threads in a block, x first.
    #[must_use]
    pub const fn block_size(&self) -> [u64; D] {
        self.block
    }

    /// The numbers of blocks and of threads in a block, where they are.
    #[inline]
    pub(crate) const fn sizes(&self) -> (&[u64; D], &[u64; D]) {
        (&self.grid, &self.block)
    }

    /// Bytes of dynamic shared memory for each block.
    #[must_use]
    pub const fn dynamic_shared_bytes(&self) -> u64 {
        self.shared_bytes
    }

    /// The number of threads of the whole launch.
    #[must_use]
    pub fn threads(&self) -> u128 {
        self.grid.iter().chain(&self.block).map(|&n| u128::from(n)).product()
    }

    /// The same launch in the first dimensions.
    pub(crate) fn narrowed<const N: usize>(self) -> Launch<N> {
        let first = |sizes: [u64; D]| std::array::from_fn(|axis| sizes[axis]);
        let Self { shared_bytes, registers, variant, .. } = self;
        Launch {
            grid: first(self.grid),
            block: first(self.block),
            shared_bytes,
            registers,
            variant,
        }
    }

    /// The same launch in three dimensions.
    #[inline]
    fn widened(self) -> Launch<3> {
        let fill = |sizes: [u64; D]| std::array::from_fn(|axis| sizes.get(axis).map_or(1, |&n| n));
        let Self { shared_bytes, registers, variant, .. } = self;
        Launch { grid: fill(self.grid), block: fill(self.block), shared_bytes, registers, variant }
    }
}

impl From<Launch<1>> for Launch<3> {
    #[inline]
    fn from(launch: Launch<1>) -> Self {
        launch.widened()
    }
}

impl From<Launch<2>> for Launch<3> {
    #[inline]
    fn from(launch: Launch<2>) -> Self {
        launch.widened()
    }
}

/// The block of a launch in up to three dimensions of which nothing else is known: 256 threads, in two and three
/// dimensions a warp along x, whose threads reach memory in a row.
pub(crate) fn usual_block<const D: usize>() -> [u32; D] {
    let block = match D {
        1 => [LINEAR_BLOCK as u32, 1, 1],
        2 => [32, 8, 1],
        _ => [32, 4, 2],
    };
    std::array::from_fn(|axis| block.get(axis).copied().unwrap_or(1))
}

const fn widen<const D: usize>(sizes: [u32; D]) -> [u64; D] {
    let mut wide = [0; D];
    let mut axis = 0;
    while axis < D {
        wide[axis] = sizes[axis] as u64;
        axis += 1;
    }
    wide
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_rounds_up_and_zero_is_nothing() {
        for (n, blocks) in [(0, 0), (1, 1), (256, 1), (257, 2), (usize::MAX, 1 << 56)] {
            assert_eq!(Launch::linear(n).grid_size(), [blocks], "{n}");
        }
    }

    #[test]
    fn a_cover_rounds_up_along_each_axis() {
        let launch = Launch::cover([33, 8, 0], [32, 8, 4]);
        assert_eq!((launch.grid_size(), launch.block_size()), ([2, 1, 0], [32, 8, 4]));
        assert_eq!(Launch::cover([5, 6], [0, 4]).grid_size(), [5, 2]);
        assert_eq!((usual_block(), usual_block(), usual_block()), ([256], [32, 8], [32, 4, 2]));
    }

    #[test]
    fn missing_dimensions_are_one() {
        let launch: Launch<3> = Launch::grid([2], [3]).shared_bytes(5).into();
        assert_eq!((launch.grid_size(), launch.block_size()), ([2, 1, 1], [3, 1, 1]));
        assert_eq!(launch.dynamic_shared_bytes(), 5);
        assert_eq!(launch.threads(), 6);
    }
}
