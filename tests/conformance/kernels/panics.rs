//! Kernels that panic, each in its own way, in thread 37 of the launch.

use kernelmill_device::prelude::*;

const VICTIM: usize = 37;

/// Reads past the end of `x`.
#[kernel]
pub fn panic_bounds(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        let shift = if i.get() == VICTIM { 1000 } else { 0 };
        *out = x[i.get() + shift];
    }
}

/// Divides by zero.
#[kernel]
pub fn panic_division(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = 1000 / x[i.get()];
    }
}

/// Unwraps `None`.
#[kernel]
pub fn panic_unwrap(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = x[i.get()].checked_sub(1).unwrap();
    }
}

/// Panics with a message that has values in it.
#[kernel]
pub fn panic_message(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        let value = x[i.get()];
        assert!(value > 0, "element {} is {value}, and that is not allowed", i.get());
        *out = value;
    }
}

/// Panics in one thread while the others wait at a barrier.
#[kernel]
pub fn panic_at_barrier(x: &[u32], mut y: DisjointSlice<u32>) {
    static mut TILE: SharedArray<u32, 32> = SharedArray::UNINIT;
    let (i, t) = (thread::index_1d(), thread::thread_idx().x as usize);
    // SAFETY: each thread writes its own element, before the barrier.
    unsafe { TILE[t] = x[i.get()] };
    if x[i.get()] == 0 {
        panic!("no zero here");
    }
    thread::sync_threads();
    if let Some(out) = y.get_mut(i) {
        // SAFETY: nobody writes any more.
        *out = unsafe { TILE[31 - t] };
    }
}
