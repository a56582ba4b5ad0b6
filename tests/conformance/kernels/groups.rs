//! What only some processors have units for: copies of whole parts of memory, and products by groups of
//! 128 threads.

use kernelmill_device::{
    prelude::*,
    tensor::{BulkBarrier, F16, WarpgroupAccumulator, WarpgroupTile, sync_tiles},
};

// CHECK-sm_75-NOT: mbarrier
// CHECK-sm_90: mbarrier.init.shared::cta.b64
// CHECK-sm_90: fence.proxy.async.shared::cta
// CHECK-sm_90: mbarrier.arrive.expect_tx.shared::cta.b64
// CHECK-sm_90: cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes
// CHECK-sm_90: mbarrier.try_wait.parity.shared::cta.b64
// CHECK-sm_90a: cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes
// CHECK-AMD: s_barrier
/// Copies rounds of 256 elements, and sums up what lies opposite in each.
#[kernel]
pub fn copies_in_bulk(rounds: u32, x: &[f32], mut y: DisjointSlice<f32>) {
    static mut TILE: SharedArray<f32, 256> = SharedArray::UNINIT;
    static mut WORD: SharedArray<u64, 1> = SharedArray::UNINIT;
    let (t, i) = (thread::thread_idx().x as usize, thread::index_1d());
    // SAFETY: only copies write the tile, and `WORD` is the barrier's.
    let (tile, word) = unsafe { (&*&raw const TILE, &*&raw const WORD) };
    // SAFETY: all threads come here.
    let mut barrier = unsafe { BulkBarrier::new(word) };
    let mut sum = 0.0;
    for round in 0..rounds as usize {
        // SAFETY: all threads come here, `x` is a parameter, and a barrier follows the reads.
        let copy = unsafe { barrier.copy(tile, 0, x, 256 * round, 256) };
        let (next, tile) = copy.wait();
        sum += tile[255 - t];
        barrier = next;
        thread::sync_threads();
    }
    if let Some(out) = y.get_mut(i) {
        *out = sum;
    }
}

// CHECK-sm_90-NOT: wgmma
// CHECK-sm_90a: fence.proxy.async.shared::cta
// CHECK-sm_90a: bar.sync
// CHECK-sm_90a: wgmma.fence.sync.aligned
// CHECK-sm_90a: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
// CHECK-sm_90a: wgmma.commit_group.sync.aligned
// CHECK-sm_90a: wgmma.wait_group.sync.aligned 0
// CHECK-sm_90a-COUNT-2: wgmma.mma_async
// CHECK-sm_90a-COUNT-1: wgmma.wait_group
// CHECK-sm_90a-NOT: .local
/// A matrix of 64 by 32 times the transpose of another, by 128 threads, in two steps.
#[kernel]
pub fn group_product(a: &[u16], b: &[u16], mut c: DisjointSlice<f32>) {
    static mut TILES: SharedArray<u16, 4096> = SharedArray::UNINIT;
    let t = thread::thread_idx().x as usize;
    // SAFETY: written before the barrier of `sync_tiles`, and read after it.
    let tiles = unsafe { &*&raw const TILES };
    for i in 0..16 {
        let (row, column) = ((i * 128 + t) / 32, (i * 128 + t) % 32);
        let place = column / 16 * 1024 + WarpgroupTile::<F16>::index(row, column % 16);
        let from = 32 * row + column;
        // SAFETY: within, and an element for each thread and round.
        unsafe {
            tiles.as_mut_ptr().add(place).write(a[from]);
            tiles.as_mut_ptr().add(2048 + place).write(b[from]);
        }
    }
    sync_tiles();
    let tile = |number: usize| WarpgroupTile::<F16>::new(tiles, 1024 * number);
    // SAFETY: all 128 threads of the block come here, and nobody writes the tiles any more.
    let product = unsafe {
        WarpgroupAccumulator::zero().multiply(tile(0), tile(2)).multiply(tile(1), tile(3))
    };
    product.wait().for_each(|row, column, value| {
        let place = 64 * row + column;
        if place < c.len() {
            // SAFETY: within the slice, and each element is of one thread.
            unsafe { *c.get_unchecked_mut(place) = value };
        }
    });
}
