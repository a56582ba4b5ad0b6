//! Faults that Rust lets through where `unsafe` says that there are none.

use kernelmill_device::prelude::*;

/// Reads the element after the last one.
#[kernel]
pub fn unchecked(x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        // SAFETY: there is none, which is what the checks find.
        *y = unsafe { *x.get_unchecked(i.get() + 1) };
    }
}

/// Reads what other threads may not have written yet.
#[kernel]
pub fn no_barrier(x: &[f32], mut y: DisjointSlice<f32>) {
    static mut TILE: SharedArray<f32, 32> = SharedArray::UNINIT;
    let (i, t) = (thread::index_1d(), thread::thread_idx().x as usize);
    // SAFETY: there is none, which is what the checks find.
    unsafe {
        TILE[t] = 0.0;
        thread::sync_threads();
        TILE[t] = x[i.get()];
        if let Some(y) = y.get_mut(i) {
            *y = TILE[31 - t];
        }
    }
}

/// As it ought to be.
#[kernel]
pub fn with_barrier(x: &[f32], mut y: DisjointSlice<f32>) {
    static mut TILE: SharedArray<f32, 32> = SharedArray::UNINIT;
    let (i, t) = (thread::index_1d(), thread::thread_idx().x as usize);
    // SAFETY: every thread writes its own element, all are written at the barrier.
    unsafe { TILE[t] = x[i.get()] };
    thread::sync_threads();
    if let Some(y) = y.get_mut(i) {
        // SAFETY: written before the barrier.
        *y = unsafe { TILE[31 - t] };
    }
}
