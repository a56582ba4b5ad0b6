//! Products of matrices by warps.

use kernelmill_device::{
    prelude::*,
    tensor::{A, Accumulator, AsyncCopies, B, Bf16, CopyQueue, F16, M8N8K4, M16N8K8, M16N8K16, M16N8K32, Tf32, mma},
};

// CHECK-sm_75-COUNT-2: mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32
// CHECK-sm_90-COUNT-1: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK-sm_100-COUNT-1: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK-PTX-NOT: fma.rn
// CHECK-PTX-NOT: .local
// CHECK-gfx90a-COUNT-4: v_mfma_f32_4x4x4f16
// CHECK-gfx942-COUNT-4: v_mfma_f32_4x4x4_16b_f16
// CHECK-gfx1100-COUNT-1: v_wmma_f32_16x16x16_f16
/// Each warp multiplies matrices of its own in half precision, and adds a third.
#[kernel]
pub fn mma_f16(a: &[u16], b: &[u16], c: &[f32], mut d: DisjointSlice<f32>) {
    let warp = thread::index_1d().get() / 32;
    let left = A::<M16N8K16, F16>::from_rows(a, warp * 256, 16);
    let right = B::from_rows(b, warp * 128, 8);
    let sum = Accumulator::from_fn(|row, column| c[warp * 128 + row * 8 + column]);
    let product = mma(&left, &right, sum);
    // SAFETY: each warp has 128 elements of its own.
    unsafe { product.write_rows(&mut d, warp * 128, 8) };
}

// CHECK-sm_75-NOT: mma.sync
// CHECK-sm_75: fma.rn.f32
// CHECK-sm_90-COUNT-1: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// CHECK-PTX-NOT: .local
// CHECK-gfx90a-COUNT-4: v_mfma_f32_4x4x4bf16_1k
// CHECK-gfx942-COUNT-4: v_mfma_f32_4x4x4_16b_bf16
// CHECK-gfx1100-COUNT-1: v_wmma_f32_16x16x16_bf16
/// The same with upper halves of `f32`, and the second matrix by columns.
#[kernel]
pub fn mma_bf16(a: &[u16], b: &[u16], c: &[f32], mut d: DisjointSlice<f32>) {
    let warp = thread::index_1d().get() / 32;
    let left = A::<M16N8K16, Bf16>::from_rows(a, warp * 256, 16);
    let right = B::from_columns(b, warp * 128, 16);
    let sum = Accumulator::from_fn(|row, column| c[warp * 128 + row * 8 + column]);
    let product = mma(&left, &right, sum);
    // SAFETY: each warp has 128 elements of its own.
    unsafe { product.write_rows(&mut d, warp * 128, 8) };
}

// CHECK-sm_75-NOT: mma.sync
// CHECK-sm_90-COUNT-2: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// CHECK-PTX-NOT: .local
// CHECK-gfx90a-COUNT-16: v_mfma_f32_4x4x1f32
// CHECK-gfx942-COUNT-16: v_mfma_f32_4x4x1_16b_f32
// CHECK-gfx1100-NOT: v_wmma
/// Two products in a row, of `f32` rounded to 11 bits; the first matrix by columns.
#[kernel]
pub fn mma_tf32(a: &[f32], b: &[f32], mut d: DisjointSlice<f32>) {
    let warp = thread::index_1d().get() / 32;
    let mut sum = Accumulator::zero();
    for part in 2 * warp..2 * warp + 2 {
        let left = A::<M16N8K8, Tf32>::from_columns(a, part * 128, 16);
        let right = B::from_rows(b, part * 64, 8);
        sum = mma(&left, &right, sum);
    }
    // SAFETY: each warp has 128 elements of its own.
    unsafe { sum.map(|value| 0.5 * value).write_rows(&mut d, warp * 128, 8) };
}

// CHECK-sm_75-COUNT-4: mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32
// CHECK-sm_90-COUNT-1: mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32
// CHECK-PTX-NOT: .local
// CHECK-gfx90a-COUNT-8: v_mfma_i32_4x4x4i8
// CHECK-gfx942-COUNT-8: v_mfma_i32_4x4x4_16b_i8
// CHECK-gfx1100-COUNT-2: v_wmma_i32_16x16x16_iu8
/// Bytes, whose sums are exact.
#[kernel]
pub fn mma_i8(a: &[i8], b: &[i8], c: &[i32], mut d: DisjointSlice<i32>) {
    let warp = thread::index_1d().get() / 32;
    let left = A::<M16N8K32, i8>::from_rows(a, warp * 512, 32);
    let right = B::from_columns(b, warp * 256, 32);
    let sum = Accumulator::from_fn(|row, column| c[warp * 128 + row * 8 + column]);
    let product = mma(&left, &right, sum);
    // SAFETY: each warp has 128 elements of its own.
    unsafe { product.write_rows(&mut d, warp * 128, 8) };
}

// CHECK-sm_75-NOT: mma.sync
// CHECK-sm_90-COUNT-1: mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64
// CHECK-PTX-NOT: .local
// CHECK-AMD: v_fma
/// Double precision.
#[kernel]
pub fn mma_f64(a: &[f64], b: &[f64], c: &[f64], mut d: DisjointSlice<f64>) {
    let warp = thread::index_1d().get() / 32;
    let left = A::<M8N8K4, f64>::from_rows(a, warp * 32, 4);
    let right = B::from_rows(b, warp * 32, 8);
    let sum = Accumulator::from_fn(|row, column| c[warp * 64 + row * 8 + column]);
    let product = mma(&left, &right, sum);
    // SAFETY: each warp has 64 elements of its own.
    unsafe { product.write_rows(&mut d, warp * 64, 8) };
}

// CHECK-PTX: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK-PTX: ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16
// CHECK-AMD: ds_
/// Fragments of shared memory: rows of the first matrix, rows of the second.
#[kernel]
pub fn mma_shared(a: &[u16], b: &[u16], mut d: DisjointSlice<f32>) {
    static mut LEFT: SharedArray<u16, 256> = SharedArray::UNINIT;
    static mut RIGHT: SharedArray<u16, 128> = SharedArray::UNINIT;
    let (block, lane) = (thread::block_idx().x as usize, thread::thread_idx().x as usize % 32);
    for i in 0..8 {
        // SAFETY: each thread writes elements of its own.
        unsafe { LEFT[32 * i + lane] = a[block * 256 + 32 * i + lane] };
    }
    for i in 0..4 {
        // SAFETY: each thread writes elements of its own.
        unsafe { RIGHT[32 * i + lane] = b[block * 128 + 32 * i + lane] };
    }
    thread::sync_threads();
    // SAFETY: written before the barrier, and not after it.
    let (left, right) = unsafe { (&*&raw const LEFT, &*&raw const RIGHT) };
    let left = A::<M16N8K16, F16>::from_rows(left, 0, 16);
    let right = B::from_rows(right, 0, 8);
    let product = mma(&left, &right, Accumulator::zero());
    // SAFETY: each block has 128 elements of its own.
    unsafe { product.write_rows(&mut d, block * 128, 8) };
}

// CHECK-PTX: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// CHECK-PTX: ldmatrix.sync.aligned.m8n8.x2.shared.b16
/// Fragments of shared memory whose size the launch gives: columns of both matrices, which start
/// `skip` elements on; then not all rows are aligned.
#[kernel]
pub fn mma_dynamic(skip: u32, a: &[u16], b: &[u16], mut d: DisjointSlice<f32>) {
    // SAFETY: fragments are loaded after the barrier, when all elements are written.
    let tiles = unsafe { DynamicSharedArray::<u16>::get() };
    let lane = thread::thread_idx().x as usize % 32;
    let skip = skip as usize;
    assert!(tiles.len() >= skip + 384);
    for i in 0..12 {
        let at = 32 * i + lane;
        let value = if at < 256 { a[at] } else { b[at - 256] };
        // SAFETY: in bounds, and each thread writes elements of its own.
        unsafe { tiles.as_mut_ptr().add(skip + at).write(value) };
    }
    thread::sync_threads();
    let left = A::<M16N8K16, F16>::from_columns(&tiles, skip, 16);
    let right = B::from_columns(&tiles, skip + 256, 16);
    let product = mma(&left, &right, Accumulator::zero());
    // SAFETY: one warp.
    unsafe { product.write_rows(&mut d, 0, 8) };
}

/// The last warp loads past the end.
#[kernel]
pub fn mma_panics(a: &[u16], mut d: DisjointSlice<f32>) {
    let warp = thread::index_1d().get() / 32;
    let left = A::<M16N8K16, F16>::from_rows(a, warp * 256, 16);
    let product = mma(&left, &B::from_fn(|row, column| if row == column { 0x3c00 } else { 0 }), Accumulator::zero());
    // SAFETY: each warp has 128 elements of its own.
    unsafe { product.write_rows(&mut d, warp * 128, 8) };
}

// CHECK-sm_75-NOT: cp.async
// CHECK-sm_90-COUNT-3: cp.async.cg.shared.global
// CHECK-sm_90-COUNT-3: cp.async.commit_group
// CHECK-sm_90-COUNT-3: cp.async.wait_group
// CHECK-PTX-COUNT-4: bar.sync
/// Copies rounds of 128 elements to shared memory, one ahead of what is summed up.
#[kernel]
pub fn copies_ahead(rounds: u32, x: &[f32], mut y: DisjointSlice<f32>) {
    static mut FIRST: SharedArray<f32, 128> = SharedArray::UNINIT;
    static mut SECOND: SharedArray<f32, 128> = SharedArray::UNINIT;
    let (t, i) = (thread::thread_idx().x as usize, thread::index_1d());
    // SAFETY: waited for, and a barrier, before a tile is read; a barrier before it is filled again.
    let (first, second) = unsafe { (&*&raw const FIRST, &*&raw const SECOND) };
    let mut queue = CopyQueue::new();
    let begin = |tile, round: usize, queue: &mut CopyQueue| {
        let mut copies = AsyncCopies::to(tile);
        // SAFETY: each thread copies four elements of its own, of a parameter.
        unsafe { copies.copy::<4>(4 * t, x, 128 * round + 4 * t) };
        copies.commit(queue)
    };
    let mut sum = 0.0;
    let mut pending = begin(first, 0, &mut queue);
    let mut round = 0;
    while round < rounds as usize {
        let next = begin(second, round + 1, &mut queue);
        let tile = pending.wait(&queue);
        thread::sync_threads();
        for j in 0..4 {
            sum += tile[32 * j + 31 - t];
        }
        thread::sync_threads();
        pending = begin(first, round + 2, &mut queue);
        let tile = next.wait(&queue);
        thread::sync_threads();
        for j in 0..4 {
            sum += tile[32 * j + 31 - t];
        }
        thread::sync_threads();
        round += 2;
    }
    pending.wait(&queue);
    if let Some(out) = y.get_mut(i) {
        *out = sum;
    }
}
