//! Boxes of tensors, which a unit of the processor's own copies where there is one.

use kernelmill_device::{
    prelude::*,
    tensor::{BulkBarrier, TensorElement, TensorMap, TensorMapMut},
};

/// The threads of a block, and which one this is.
fn thread_of() -> (usize, usize) {
    (thread::block_dim().x as usize, thread::thread_idx().x as usize)
}

/// Writes what the threads of a block have in a tile to a part of the output; each takes what others have
/// copied, from the last element on.
fn write_out<T: TensorElement, const D: usize>(
    map: &TensorMap<T, D>,
    tile: &SharedArray<T, 512>,
    part: usize,
    out: &mut DisjointSlice<T>,
) {
    let (threads, t) = thread_of();
    let (count, mut i) = (map.tile_len(), t);
    while i < count {
        let number = count - 1 - i;
        let (mut rest, mut element) = (number, [0; D]);
        for (d, at) in element.iter_mut().enumerate() {
            *at = rest % map.tile_size(d);
            rest /= map.tile_size(d);
        }
        let at = part * count + number;
        assert!(at < out.len());
        // SAFETY: within, and each element is of one thread.
        unsafe { *out.get_unchecked_mut(at) = tile[map.place(element)] };
        i += threads;
    }
}

/// What to write out: boxes that begin at a place, and every `step` elements from it on in the innermost
/// dimension.
#[derive(Clone, Copy)]
struct Boxes<const D: usize> {
    first: [i32; D],
    step: i32,
    count: u32,
}

/// Writes boxes out, one after the other.
fn boxes_out<T: TensorElement, const D: usize>(
    map: &TensorMap<T, D>,
    boxes: Boxes<D>,
    (tile, word): (&SharedArray<T, 512>, &SharedArray<u64, 1>),
    mut out: DisjointSlice<T>,
) {
    // SAFETY: all threads come here.
    let mut barrier = unsafe { BulkBarrier::new(word) };
    let mut number = thread::block_idx().x;
    while number < boxes.count {
        let mut start = boxes.first;
        start[0] += boxes.step * number as i32;
        // SAFETY: all threads come here, and a barrier follows the reads.
        let copy = unsafe { barrier.load(tile, 0, map, start) };
        let (next, tile) = copy.wait();
        write_out(map, tile, number as usize, &mut out);
        barrier = next;
        thread::sync_threads();
        number += thread::grid_dim().x;
    }
}

// CHECK-sm_90: cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes
/// Boxes of 1 dimension.
#[kernel]
pub fn boxes_of_one(
    map: &TensorMap<u8, 1>,
    first: [i32; 1],
    step: i32,
    count: u32,
    out: DisjointSlice<u8>,
) {
    static mut TILE: SharedArray<u8, 512> = SharedArray::UNINIT;
    static mut WORD: SharedArray<u64, 1> = SharedArray::UNINIT;
    // SAFETY: only copies write the tile, and `WORD` is the barrier's.
    let shared = unsafe { (&*&raw const TILE, &*&raw const WORD) };
    boxes_out(map, Boxes { first, step, count }, shared, out);
}

// CHECK-sm_75-NOT: mbarrier
// CHECK-sm_90: cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes
/// Boxes of 2 dimensions.
#[kernel]
pub fn boxes_of_two(
    map: &TensorMap<f32, 2>,
    first: [i32; 2],
    step: i32,
    count: u32,
    out: DisjointSlice<f32>,
) {
    static mut TILE: SharedArray<f32, 512> = SharedArray::UNINIT;
    static mut WORD: SharedArray<u64, 1> = SharedArray::UNINIT;
    // SAFETY: only copies write the tile, and `WORD` is the barrier's.
    let shared = unsafe { (&*&raw const TILE, &*&raw const WORD) };
    boxes_out(map, Boxes { first, step, count }, shared, out);
}

// CHECK-sm_90: cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes
/// Boxes of 3 dimensions.
#[kernel]
pub fn boxes_of_three(
    map: &TensorMap<u16, 3>,
    first: [i32; 3],
    step: i32,
    count: u32,
    out: DisjointSlice<u16>,
) {
    static mut TILE: SharedArray<u16, 512> = SharedArray::UNINIT;
    static mut WORD: SharedArray<u64, 1> = SharedArray::UNINIT;
    // SAFETY: only copies write the tile, and `WORD` is the barrier's.
    let shared = unsafe { (&*&raw const TILE, &*&raw const WORD) };
    boxes_out(map, Boxes { first, step, count }, shared, out);
}

// CHECK-sm_90: cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes
/// Boxes of 4 dimensions.
#[kernel]
pub fn boxes_of_four(
    map: &TensorMap<i64, 4>,
    first: [i32; 4],
    step: i32,
    count: u32,
    out: DisjointSlice<i64>,
) {
    static mut TILE: SharedArray<i64, 512> = SharedArray::UNINIT;
    static mut WORD: SharedArray<u64, 1> = SharedArray::UNINIT;
    // SAFETY: only copies write the tile, and `WORD` is the barrier's.
    let shared = unsafe { (&*&raw const TILE, &*&raw const WORD) };
    boxes_out(map, Boxes { first, step, count }, shared, out);
}

// CHECK-sm_90: cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes
/// Boxes of 5 dimensions.
#[kernel]
pub fn boxes_of_five(
    map: &TensorMap<f64, 5>,
    first: [i32; 5],
    step: i32,
    count: u32,
    out: DisjointSlice<f64>,
) {
    static mut TILE: SharedArray<f64, 512> = SharedArray::UNINIT;
    static mut WORD: SharedArray<u64, 1> = SharedArray::UNINIT;
    // SAFETY: only copies write the tile, and `WORD` is the barrier's.
    let shared = unsafe { (&*&raw const TILE, &*&raw const WORD) };
    boxes_out(map, Boxes { first, step, count }, shared, out);
}

// CHECK-sm_75-NOT: mbarrier
// CHECK-sm_90: .param .align 128 .b8 boxes_moved_param_0[256]
// CHECK-sm_90: cvta.param.u64
// CHECK-sm_90: cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes
// CHECK-sm_90: fence.proxy.async.shared::cta
// CHECK-sm_90: cp.async.bulk.tensor.2d.global.shared::cta.bulk_group
// CHECK-sm_90: cp.async.bulk.commit_group
// CHECK-sm_90: cp.async.bulk.wait_group 0
// CHECK-sm_90-NOT: .local
// CHECK-AMD: s_barrier
/// Copies a matrix to another, box by box, and doubles it on the way.
#[kernel(dim = 2)]
pub fn boxes_moved(from: &TensorMap<f32, 2>, to: &TensorMapMut<f32, 2>) {
    static mut TILE: SharedArray<f32, 256> = SharedArray::UNINIT;
    static mut DOUBLED: SharedArray<f32, 256> = SharedArray::UNINIT;
    static mut WORD: SharedArray<u64, 1> = SharedArray::UNINIT;
    let (threads, t) = thread_of();
    let (block, width, height) = (thread::block_idx(), from.tile_size(0), from.tile_size(1));
    let start = [(block.x as usize * width) as i32, (block.y as usize * height) as i32];
    // SAFETY: only the copy writes the tile, and `WORD` is the barrier's.
    let (tile, doubled, word) =
        unsafe { (&*&raw const TILE, &*&raw const DOUBLED, &*&raw const WORD) };
    // SAFETY: all threads come here.
    let (_, tile) = unsafe { BulkBarrier::new(word).load(tile, 0, from, start) }.wait();
    let count = width * height;
    let mut i = t;
    while i < count {
        let number = count - 1 - i;
        let element = [number % width, number / width];
        let (place, other) = (from.place(element), to.place(element));
        assert!(other < doubled.len());
        // SAFETY: within, and each element is of one thread.
        unsafe { *doubled.as_mut_ptr().add(other) = 2.0 * tile[place] };
        i += threads;
    }
    // SAFETY: all threads come here, nobody writes the array until they have waited, and boxes lie apart.
    let doubled = unsafe { to.store(doubled, 0, start) }.wait();
    clear(doubled, count);
}

/// Clears what others have copied from: it must have been copied.
fn clear<T: TensorElement + Default, const N: usize>(tile: &SharedArray<T, N>, count: usize) {
    let (threads, t) = thread_of();
    let mut i = t;
    while i < count {
        let number = count - 1 - i;
        assert!(number < tile.len());
        // SAFETY: within, and each element is of one thread.
        unsafe { tile.as_mut_ptr().add(number).write_volatile(T::default()) };
        i += threads;
    }
}

/// Writes boxes of five dimensions, as many as there are blocks, one after the other in the innermost.
#[kernel]
pub fn boxes_of_five_written(values: &[f64], to: &TensorMapMut<f64, 5>) {
    static mut TILE: SharedArray<f64, 256> = SharedArray::UNINIT;
    let (threads, t) = thread_of();
    let (count, block) = (to.tile_len(), thread::block_idx().x as usize);
    // SAFETY: each element is written by one thread, before the barrier of `store`.
    let tile = unsafe { &*&raw const TILE };
    let mut i = t;
    while i < count {
        let number = count - 1 - i;
        assert!(number < tile.len());
        // SAFETY: within, and each element is of one thread.
        unsafe { *tile.as_mut_ptr().add(number) = values[block * count + number] };
        i += threads;
    }
    let start = [(block * to.tile_size(0)) as i32 - 2, -1, 0, 0, 0];
    // SAFETY: all threads come here, and boxes lie apart.
    let tile = unsafe { to.store(tile, 0, start) }.wait();
    clear(tile, count);
}
