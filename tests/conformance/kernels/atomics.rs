//! `core::sync::atomic`, in global and in shared memory, and this crate's atomics of floats.

use core::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use kernelmill_device::prelude::*;

// CHECK-PTX: shared.add.u32
// CHECK-PTX-COUNT-2: bar.sync
// CHECK-AMD: ds_add
// CHECK-AMD-COUNT-2: s_barrier
/// A histogram of 64 bins: counted in shared memory, added to global memory once for each block.
#[kernel]
pub fn histogram(x: &[u32], mut bins: DisjointSlice<u32>) {
    static mut LOCAL: SharedArray<u32, 64> = SharedArray::UNINIT;
    let i = thread::index_1d().get();
    let (t, block) = (thread::thread_idx().x as usize, thread::block_dim().x as usize);
    // SAFETY: elements are cleared and read a barrier apart from the atomic additions, and all
    // threads touch the global bins atomically; there are 64 of them.
    unsafe {
        let mut bin = t;
        while bin < 64 {
            LOCAL[bin] = 0;
            bin += block;
        }
        thread::sync_threads();
        if i < x.len() {
            let slot = (x[i] % 64) as usize;
            AtomicU32::from_ptr(&raw mut LOCAL[slot]).fetch_add(1, Ordering::Relaxed);
        }
        thread::sync_threads();
        let mut bin = t;
        while bin < 64 {
            let total = AtomicU32::from_ptr(bins.get_unchecked_mut(bin));
            total.fetch_add(LOCAL[bin], Ordering::Relaxed);
            bin += block;
        }
    }
}

// CHECK-PTX: .cas.b32
// CHECK-PTX-NOT: ld.local
/// Every read-modify-write operation on one cell each, from all threads.
#[kernel]
pub fn atomic_operations(mut cells: DisjointSlice<u32>, mut wide: DisjointSlice<i64>) {
    let i = thread::index_1d().get() as u32;
    // SAFETY: the slices have seven and two elements, and every access is atomic.
    unsafe {
        let mut cell = |index| AtomicU32::from_ptr(cells.get_unchecked_mut(index));
        cell(0).fetch_add(i, Ordering::Relaxed);
        cell(1).fetch_max(i, Ordering::Relaxed);
        cell(2).fetch_min(i, Ordering::Relaxed);
        cell(3).fetch_or(1 << (i % 32), Ordering::AcqRel);
        cell(4).fetch_xor(i, Ordering::Relaxed);
        cell(5).fetch_sub(1, Ordering::Release);
        let mut seen = cell(6).load(Ordering::Acquire);
        while let Err(now) =
            cell(6).compare_exchange(seen, seen + 2, Ordering::AcqRel, Ordering::Acquire)
        {
            seen = now;
        }
        AtomicI64::from_ptr(wide.get_unchecked_mut(0)).fetch_sub(i64::from(i), Ordering::Relaxed);
        AtomicI64::from_ptr(wide.get_unchecked_mut(1)).fetch_max(i64::from(i), Ordering::SeqCst);
    }
}

// CHECK-PTX-COUNT-2: .global.add.f32
// CHECK-PTX-COUNT-2: .global.add.f64
// CHECK-PTX-NOT: .cas.b
/// Numbers that all threads add to and subtract from, and one of each thread, whose old value it reads.
#[kernel]
pub fn float_additions(
    sums: &[atomic::AtomicF32],
    wide: &[atomic::AtomicF64],
    x: &[f32],
    mut old: DisjointSlice<f32>,
) {
    let i = thread::index_1d();
    let own = i.get() + 1;
    if let Some(old) = old.get_mut(i)
        && own < sums.len()
        && own < wide.len()
        && own <= x.len()
    {
        let x = x[own - 1];
        sums[0].fetch_add(x, Ordering::Relaxed);
        wide[0].fetch_sub(f64::from(x) * 0.5, Ordering::Release);
        *old = sums[own].fetch_sub(x, Ordering::AcqRel);
        *old += wide[own].fetch_add(f64::from(x), Ordering::SeqCst) as f32;
    }
}
