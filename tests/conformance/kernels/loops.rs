//! Loops that threads leave in different rounds and by different ways, with values that are used
//! after them.

mod rounds;

use kernelmill_device::prelude::*;
use rounds::{all_steps, colour, divisor, folded, nested};

/// A loop with two exits in a loop that is the same for all threads.
#[kernel]
pub fn two_exits(samples: u32, limit: u32, mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = all_steps(i.get() as u32, samples, limit);
    }
}

/// Ways from an inner loop to everything around it.
#[kernel]
pub fn labelled_loops(outer: u32, mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = nested(i.get() as u32, outer);
    }
}

/// Divisions in a loop, over rows and columns.
#[kernel(dim = 2, width = width)]
pub fn divisors(width: u32, mut y: DisjointSlice<[u32; 2], Index2D>) {
    let i = thread::index_2d();
    if let Some(out) = y.get_mut(i) {
        *out = divisor(i.column() as u32 * 6, i.row() as u32 * 4 + width);
    }
}

/// Mathematics in a loop over arrays, and floats that become bytes.
#[kernel]
pub fn colours(samples: u32, x: &[f32], mut y: DisjointSlice<[f32; 4]>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        let [red, green, blue] = colour(x[i.get()], samples);
        let byte = |value: f32| (value * 8.0 + 0.5) as u32;
        *out = [red, green, blue, (byte(x[i.get()]) << 8 | byte(-red)) as f32];
    }
}

/// An array of each thread, in a loop with barriers: its address is known before them.
#[kernel]
pub fn own_arrays(rounds: u32, mut y: DisjointSlice<u32>) {
    static mut TILE: SharedArray<u32, 64> = SharedArray::UNINIT;
    let i = thread::index_1d();
    let t = thread::thread_idx().x as usize;
    // SAFETY: each thread writes its own element, and reads those of others between barriers.
    unsafe { TILE[t] = i.get() as u32 };
    for round in 0..rounds {
        thread::sync_threads();
        let other = unsafe { TILE[(t + 5) % 64] };
        thread::sync_threads();
        if other % 3 != round % 3 {
            unsafe { TILE[t] = folded(other, t as u32) };
        }
    }
    if let Some(out) = y.get_mut(i) {
        *out = unsafe { TILE[t] };
    }
}
