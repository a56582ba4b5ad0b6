//! What code for the CPU is made of: regions between barriers, coroutines, functions out of line that know their thread,
//! calls of libraries, and arithmetic that the compiler's own library does.

use kernelmill_device::prelude::*;

constant! {
    STRIDE: u32 = 1;
    DEPTH: u32 = 3;
}

/// The sum of a block's numbers, by barriers that all threads reach together: a tree whose steps the constant begins.
#[kernel(launch_bounds = 64)]
pub fn sums(x: &[u32], mut y: DisjointSlice<u32>) {
    static mut PARTS: SharedArray<u32, 64> = SharedArray::UNINIT;
    let (t, size) = (thread::thread_idx().x as usize, thread::block_dim().x as usize);
    let i = thread::index_1d();
    // SAFETY: a thread writes its own element, and reads those of others behind a barrier.
    unsafe {
        PARTS[t] = x.get(i.get()).map_or(0, |x| x * STRIDE);
        thread::sync_threads();
        let mut half = size / 2;
        while half > 0 {
            if t < half {
                PARTS[t] += PARTS[t + half];
            }
            thread::sync_threads();
            half /= 2;
        }
        if let Some(out) = y.get_mut(i) {
            *out = PARTS[0];
        }
    }
}

/// Barriers that only the numbers of a block lead its threads to together, which nothing proves: coroutines.
#[kernel(launch_bounds = 32)]
pub fn turns(x: &[u32], mut y: DisjointSlice<u32>) {
    static mut SEEN: SharedArray<u32, 32> = SharedArray::UNINIT;
    let (t, size) = (thread::thread_idx().x as usize, thread::block_dim().x as usize);
    let i = thread::index_1d();
    let value = x[i.get()];
    // SAFETY: as above; all numbers of a block are the same.
    let seen = unsafe {
        SEEN[t] = t as u32 * STRIDE;
        if value % 2 == 1 {
            thread::sync_threads();
            SEEN[(t + 1) % size]
        } else {
            thread::sync_threads();
            SEEN[(t + value as usize) % size] + 1
        }
    };
    if let Some(out) = y.get_mut(i) {
        *out = seen;
    }
}

#[inline(never)]
fn deep(left: u32, n: u32) -> u32 {
    if left == 0 { thread::thread_idx().x + n } else { deep(left - 1, n + thread::block_idx().x) }
}

/// A function that recurses and asks for its thread.
#[kernel]
pub fn recursive(mut y: DisjointSlice<u32>) {
    if let Some(out) = y.get_mut(thread::index_1d()) {
        *out = deep(DEPTH, 0);
    }
}

/// Remainders of floating-point numbers and quotients of 128 bits, which are calls.
#[kernel]
pub fn calls(x: &[f32], wide: &[u64], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    let (Some(x), Some(wide)) = (x.get(i.get()), wide.get(i.get())) else { return };
    let quotient = (u128::from(*wide) << 64 | 12_345) / u128::from(*wide + 2);
    if let Some(out) = y.get_mut(i) {
        *out = (x % 1.5).mul_add(2.0, (quotient >> 32) as u32 as f32) + x.floor();
    }
}
