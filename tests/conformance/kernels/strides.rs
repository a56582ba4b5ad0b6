//! Loops in which each thread takes elements a step apart.

use core::sync::atomic::{AtomicU32, Ordering};
use kernelmill_device::prelude::*;

/// `y[i] = 3 * x[i] + i`, where a step may be more than one grid.
#[kernel]
pub fn strided_sums(step: u32, x: &[u32], mut y: DisjointSlice<u32>) {
    let mut i = thread::index_1d().get();
    while i < y.len() {
        // SAFETY: no other thread comes to this element, as the step is a grid or more.
        unsafe { *y.get_unchecked_mut(i) = 3 * x[i] + i as u32 };
        i += step as usize;
    }
}

/// The same without a step of its own, half of the elements after the other.
#[kernel]
pub fn strided_by_grids(x: &[u32], mut y: DisjointSlice<u32>) {
    for i in thread::grid_stride(y.len() / 2) {
        if let Some(out) = y.get_mut(i) {
            *out = 3 * x[i.get()] + i.get() as u32;
        }
    }
    let half = y.len() / 2;
    thread::grid_stride(y.len()).for_each(|i| {
        if i.get() >= half
            && let Some(out) = y.get_mut(i)
        {
            *out = 3 * x[i.get()] + i.get() as u32;
        }
    });
}

/// Sums, with the last element of each thread, for which blocks are boxes: the row of threads is that of
/// elements.
#[kernel(dim = 3)]
pub fn strided_rows(width: u32, x: &[u32], mut y: DisjointSlice<[u32; 2]>) {
    let (thread, dim) = (thread::thread_idx(), thread::block_dim());
    let row = thread.y + dim.y * thread.z;
    let first = thread::block_idx().x * dim.x + thread.x;
    let step = thread::grid_dim().x * dim.x;
    let (mut sum, mut last) = (0_u32, 0);
    let mut i = first;
    while i < width {
        last = x[(row * width + i) as usize];
        sum = sum.rotate_left(1) ^ last;
        i += step;
    }
    // SAFETY: the element is the thread's own; a launch has one for each.
    unsafe { *y.get_unchecked_mut((row * step + first) as usize) = [sum, last] };
}

/// Counts remainders in shared memory, twice, around barriers.
#[kernel(launch_bounds = 64)]
pub fn strided_counts(x: &[u32], mut bins: DisjointSlice<u32>) {
    static mut LOCAL: SharedArray<u32, 64> = SharedArray::UNINIT;
    let (t, width) = (thread::thread_idx().x as usize, thread::block_dim().x as usize);
    let first = thread::block_idx().x as usize * width + t;
    let step = thread::grid_dim().x as usize * width;
    for half in 0..2 {
        // SAFETY: the bins are cleared and read, by the same thread, a barrier apart from the additions;
        // there are 128 bins for all, which all threads touch atomically.
        unsafe {
            let mut bin = t;
            while bin < 64 {
                LOCAL[bin] = 0;
                bin += width;
            }
            thread::sync_threads();
            let mut i = first;
            while i < x.len() {
                let slot = (x[i] >> (6 * half)) as usize % 64;
                AtomicU32::from_ptr(&raw mut LOCAL[slot]).fetch_add(1, Ordering::Relaxed);
                i += step;
            }
            thread::sync_threads();
            bin = t;
            while bin < 64 {
                let total = AtomicU32::from_ptr(bins.get_unchecked_mut(64 * half + bin));
                total.fetch_add(LOCAL[bin], Ordering::Relaxed);
                bin += width;
            }
        }
    }
}
