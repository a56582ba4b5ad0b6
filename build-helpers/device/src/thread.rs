//! Thread and block indices, grid-stride loops, and the barrier of a block.
//!
//! On the host these functions panic.

use crate::{
    index::{
        BlockIndex, BlockStride, GridStride, Index2D, Index3, PerBlock, Place2D, ThreadIndex,
        launch_width,
    },
    intrinsics,
};

/// The thread's index in its block.
#[inline(always)]
#[must_use]
pub fn thread_idx() -> Index3 {
    Index3 {
        x: intrinsics::thread_idx_x(),
        y: intrinsics::thread_idx_y(),
        z: intrinsics::thread_idx_z(),
    }
}

/// The index of the thread's block in the grid.
#[inline(always)]
#[must_use]
pub fn block_idx() -> Index3 {
    Index3 {
        x: intrinsics::block_idx_x(),
        y: intrinsics::block_idx_y(),
        z: intrinsics::block_idx_z(),
    }
}

/// The number of threads of a block along each axis.
#[inline(always)]
#[must_use]
pub fn block_dim() -> Index3 {
    Index3 {
        x: intrinsics::block_dim_x(),
        y: intrinsics::block_dim_y(),
        z: intrinsics::block_dim_z(),
    }
}

/// The number of blocks of the grid along each axis.
#[inline(always)]
#[must_use]
pub fn grid_dim() -> Index3 {
    Index3 { x: intrinsics::grid_dim_x(), y: intrinsics::grid_dim_y(), z: intrinsics::grid_dim_z() }
}

/// This thread's number in the launch: in a launch over one dimension
/// `block_idx().x * block_dim().x + thread_idx().x`.
///
/// In a launch over more, rows along y follow each other, then planes along z, so that no two
/// threads have the same number.
///
/// ```no_run
/// use kernelmill_device::prelude::*;
///
/// #[kernel]
/// pub fn double(x: &[f32], mut y: DisjointSlice<f32>) {
///     let i = thread::index_1d();
///     if let Some(y) = y.get_mut(i) {
///         *y = 2.0 * x[i.get()];
///     }
/// }
/// ```
#[inline(always)]
#[must_use]
pub fn index_1d() -> ThreadIndex {
    ThreadIndex::new_1d(place().plane_row * launch_width() + global_x())
}

/// A [grid-stride loop](https://developer.nvidia.com/blog/cuda-pro-tip-write-flexible-kernels-grid-stride-loops/):
/// the elements below `count` that belong to this thread in a launch of any size. The first has the
/// thread's number ([`index_1d`]); the stride is the number of threads of the launch. No two threads have
/// an element in common.
///
/// ```no_run
/// use kernelmill_device::prelude::*;
///
/// #[kernel]
/// pub fn saxpy(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
///     thread::grid_stride(y.len()).for_each(|i| {
///         if let Some(y) = y.get_mut(i) {
///             *y += a * x[i.get()];
///         }
///     });
/// }
/// ```
///
/// A `for` loop does the same, but `for_each` and `fold` are easier to analyse: on the CPU they let the
/// threads of a block be vectorised over consecutive elements.
#[inline(always)]
#[must_use]
pub fn grid_stride(count: usize) -> GridStride {
    let rows = intrinsics::grid_dim_y() as usize
        * intrinsics::block_dim_y() as usize
        * intrinsics::grid_dim_z() as usize
        * intrinsics::block_dim_z() as usize;
    GridStride::new(index_1d().get(), count, launch_width() * rows)
}

/// This thread's number in its block: threads along x follow each other, then rows along y, then planes
/// along z.
///
/// ```no_run
/// use kernelmill_device::prelude::*;
///
/// /// Each element with its neighbour in its block of 64.
/// #[kernel(block_size = [64, 1, 1])]
/// pub fn neighbours(x: &[u32], mut tile: BlockArray<u32, 64>, mut y: DisjointSlice<u32>) {
///     let (i, own) = (thread::index_1d(), thread::block_index());
///     tile.write(own, if let Some(x) = x.get(i.get()) { *x } else { 0 });
///     let tile = tile.sync();
///     if let Some(y) = y.get_mut(i) {
///         *y = tile[own.get()] + tile[(own.get() + 1) % 64];
///     }
/// }
/// ```
#[inline(always)]
#[must_use]
pub fn block_index() -> BlockIndex {
    BlockIndex::new(block_place())
}

/// The number of this thread's block, in the thread that writes the block's result: its first. `None` in the others.
///
/// Blocks along x follow each other, then rows along y, then planes along z.
///
/// ```no_run
/// use kernelmill_device::prelude::*;
///
/// /// The largest element of each block of 64: `largest` has an element for each block.
/// #[kernel(block_size = [64, 1, 1])]
/// pub fn maxima(x: &[u32], mut tile: BlockArray<u32, 64>, mut largest: DisjointSlice<u32, PerBlock>) {
///     let i = thread::index_1d();
///     tile.write(thread::block_index(), if let Some(x) = x.get(i.get()) { *x } else { 0 });
///     let tile = tile.sync();
///     if let Some(block) = thread::block_leader()
///         && let Some(largest) = largest.get_mut(block)
///     {
///         *largest = tile.iter().fold(0, |largest, x| largest.max(*x));
///     }
/// }
/// ```
///
/// The index of a thread is none of a block, of which all threads would write one element:
///
/// ```compile_fail,E0308
/// use kernelmill_device::prelude::*;
///
/// fn write(sums: &mut DisjointSlice<u32, PerBlock>) {
///     sums.get_mut(thread::index_1d());
/// }
/// ```
#[inline(always)]
#[must_use]
pub fn block_leader() -> Option<ThreadIndex<PerBlock>> {
    let (block, grid) = (block_idx(), grid_dim());
    // A launch has less than 2^63 threads, and no more blocks than threads.
    let row = block.z as usize * grid.y as usize + block.y as usize;
    let number = row * grid.x as usize + block.x as usize;
    if block_place() == 0 { Some(ThreadIndex::new_block(number)) } else { None }
}

/// A block-stride loop: the elements below `count` that belong to this thread in a block of any size. The
/// first has the thread's number ([`block_index`]); the stride is the number of threads of the block. No two
/// threads of a block have an element in common.
#[inline(always)]
#[must_use]
pub fn block_stride(count: usize) -> BlockStride {
    let size = block_dim();
    let threads = size.x as usize * size.y as usize * size.z as usize;
    BlockStride::new(block_place(), count, threads)
}

/// This thread's column and row in the launch.
///
/// ```no_run
/// use kernelmill_device::prelude::*;
///
/// /// The launch has at least `width` threads along x.
/// #[kernel(dim = 2, width = width)]
/// pub fn checkerboard(width: u32, mut image: DisjointSlice<u8, Index2D>) {
///     let i = thread::index_2d();
///     if let Some(pixel) = image.get_mut(i) {
///         *pixel = if (i.column() + i.row()) % 2 == 0 { 0 } else { 255 };
///     }
/// }
/// ```
#[inline(always)]
#[must_use]
pub fn index_2d() -> ThreadIndex<Index2D> {
    let place = place();
    ThreadIndex::new_2d(place.plane_row * launch_width() + place.column, place)
}

/// A barrier (`__syncthreads`): waits until every thread of the block that has not returned has reached
/// it. Writes of the block's threads before the barrier are visible to all of them after it.
///
/// If threads of a block wait at different barriers, or one never reaches it, the block hangs; on the CPU
/// the launch fails.
#[inline(always)]
pub fn sync_threads() {
    intrinsics::barrier();
}

// In 64 bits: a grid along x alone can have more than 2^32 threads. A launch of 2^63 threads or more is
// refused.
#[inline(always)]
fn global_x() -> usize {
    intrinsics::block_idx_x() as usize * intrinsics::block_dim_x() as usize
        + intrinsics::thread_idx_x() as usize
}

#[inline(always)]
fn block_place() -> usize {
    let (index, size) = (thread_idx(), block_dim());
    let row = index.z as usize * size.y as usize + index.y as usize;
    row * size.x as usize + index.x as usize
}

#[inline(always)]
fn place() -> Place2D {
    let block_height = intrinsics::block_dim_y() as usize;
    let row =
        intrinsics::block_idx_y() as usize * block_height + intrinsics::thread_idx_y() as usize;
    let plane = intrinsics::block_idx_z() as usize * intrinsics::block_dim_z() as usize
        + intrinsics::thread_idx_z() as usize;
    let height = intrinsics::grid_dim_y() as usize * block_height;
    Place2D { column: global_x(), row, plane_row: plane * height + row }
}

#[cfg(test)]
mod tests {
    #[test]
    #[should_panic(expected = "`block_idx_x` works only inside a kernel")]
    fn on_the_host_an_index_says_where_it_works() {
        let _ = super::block_idx();
    }
}
