//! Boxes of tensors, by descriptors that the host has made.

use kernelmill_device::{
    prelude::*,
    tensor::{BulkBarrier, TensorMap, TensorMapMut},
};

/// Copies boxes of a matrix to other places in another, `shift` elements to the right and down.
#[kernel(dim = 2)]
pub fn shifted(from: &TensorMap<u32, 2>, to: &TensorMapMut<u32, 2>, shift: i32) {
    static mut TILE: SharedArray<u32, 256> = SharedArray::UNINIT;
    static mut WORD: SharedArray<u64, 1> = SharedArray::UNINIT;
    let block = thread::block_idx();
    let start = [block.x as i32 * 32, block.y as i32 * 8];
    // SAFETY: only the copy writes the tile, and `WORD` is the barrier's.
    let (tile, word) = unsafe { (&*&raw const TILE, &*&raw const WORD) };
    // SAFETY: all threads come here.
    let (_, tile) = unsafe { BulkBarrier::new(word).load(tile, 0, from, start) }.wait();
    // SAFETY: all threads come here, nobody writes the tile any more, and boxes lie apart.
    unsafe { to.store(tile, 0, start.map(|it| it + shift)) }.wait();
}
