//! Joined blocks: a launch of narrow blocks as one of larger blocks, whose rows or columns fill vectors.
//!
//! Needs a kernel whose compiler says that it sees no difference (`Kernel::joins_blocks`). Guaranteed: the joined launch has
//! each thread of the grid once, at the same place, and as many blocks as the pool needs to share it; a panic names the block
//! and the thread of the launch that was asked for.

use kernelmill_artifact::PanicRecord;

use super::blocks::count;
use crate::limits::Checked;

/// The most threads of a joined block.
const THREADS: u32 = 256;

/// The threads of the longest vector, where a kernel asks for no more.
const VECTOR: u32 = 16;

/// The most threads of a block that is joined to as many threads along the axis as its kernel asks for.
const FULL: u32 = 1024;

/// The least blocks of a joined launch.
pub(super) const BLOCKS: usize = 64;

/// A launch whose blocks are joined along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Joined {
    /// 0 for x, 1 for y.
    axis: usize,
    /// The threads of a block along the axis, as the launch was asked for.
    threads: u32,
    /// The blocks that are one.
    pub(super) blocks: u32,
}

impl Joined {
    /// Joins as many blocks along an axis as a block may have threads for, or as have the `wanted` threads there, where the grid is a
    /// multiple of them and has no fewer than `least` blocks then; `None` where two are too many, where a block has twice the
    /// wanted threads without, or where the numbers of threads along the axis need more than 31 bits, which kernels may
    /// extend by their sign.
    pub(super) fn of(shape: &Checked, (axis, wanted): (usize, u32), least: usize) -> Option<Self> {
        let wanted = wanted.max(VECTOR);
        let (grid, threads) = (shape.grid[axis], shape.block[axis]);
        let all = shape.block.iter().fold(1, |all: u32, size| all.saturating_mul(*size));
        let is_small = u64::from(grid) * u64::from(threads) < 1 << 31;
        if threads >= wanted.saturating_mul(2) || all == 0 || !is_small {
            return None;
        }
        let most = (THREADS / all).max((wanted / threads).min(FULL / all));
        let blocks = count(shape.grid);
        let fits = |join: &u32| grid.is_multiple_of(*join) && blocks / *join as usize >= least;
        let blocks = (2..=most).rev().find(fits)?;
        Some(Self { axis, threads, blocks })
    }

    /// The shape of the joined launch.
    pub(super) fn shape(self, mut shape: Checked) -> Checked {
        shape.grid[self.axis] /= self.blocks;
        shape.block[self.axis] *= self.blocks;
        shape
    }

    /// Gives a panic of the joined launch the block and the thread that it is of.
    pub(super) fn restore(self, record: &mut PanicRecord) {
        let Self { axis, threads, blocks } = self;
        let (block, thread) = (record.block[axis], record.thread[axis]);
        record.block[axis] = block.wrapping_mul(blocks).wrapping_add(thread / threads);
        record.thread[axis] = thread % threads;
    }
}

#[cfg(test)]
mod tests;
