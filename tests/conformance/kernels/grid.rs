//! Kernels over two and three dimensions.

use kernelmill_device::prelude::*;

// CHECK-PTX: %tid.
// CHECK-PTX-NOT: ld.local
// CHECK-AMD-NOT: scratch_store
// CHECK-gfx942-NOT: flat_store
/// Writes every index of a three-dimensional launch.
#[kernel(dim = 3)]
pub fn index_3d(mut y: DisjointSlice<[u32; 3]>) {
    let (thread, block) = (thread::thread_idx(), thread::block_idx());
    let (size, grid) = (thread::block_dim(), thread::grid_dim());
    let x = block.x * size.x + thread.x;
    let row = block.y * size.y + thread.y;
    let plane = block.z * size.z + thread.z;
    let linear = (plane * grid.y * size.y + row) * grid.x * size.x + x;
    if (linear as usize) < y.len() {
        // SAFETY: the index is in bounds, and no other thread computes the same.
        unsafe { *y.get_unchecked_mut(linear as usize) = [x, row, plane] };
    }
}

/// The sum of the numbers of each block's threads, written by the block's first thread; threads of the last row leave first.
#[kernel(dim = 3, block_size = [4, 2, 3])]
pub fn sum_of_each_block(
    mut tile: BlockArray<u32, 24>,
    mut first: DisjointSlice<usize, PerBlock>,
    mut sums: DisjointSlice<u32, PerBlock>,
) {
    let own = thread::block_index();
    tile.write(own, 0);
    if own.get() >= 20 {
        return;
    }
    tile.write(own, own.get() as u32 + thread::block_idx().y);
    let tile = tile.sync();
    let Some(block) = thread::block_leader() else { return };
    if let Some(first) = first.get_mut(block) {
        *first = thread::index_1d().get();
    }
    if let Some(sum) = sums.get_mut(block) {
        *sum = tile.iter().sum();
    }
}
