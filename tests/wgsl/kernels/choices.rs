//! Kernels in Rust whose pointers may be of one buffer or of another.

use core::sync::atomic::{AtomicU32, Ordering};
use kernelmill_device::prelude::*;

/// Elements of one slice or of the other, which each launch chooses.
#[kernel]
pub fn of_one(which: u32, x: &[f32], y: &[f32], mut z: DisjointSlice<f32>) {
    let source = if which == 0 { x } else { y };
    let i = thread::index_1d();
    let value = if i.get() < source.len() { source[i.get()] } else { -1.0 };
    if let Some(out) = z.get_mut(i) {
        *out = value;
    }
}

/// Each thread reads from both in turn, and from a table: the pointers change places in a loop.
#[kernel]
pub fn in_turn(rounds: u32, x: &[u32], y: &[u32], mut z: DisjointSlice<u32>) {
    static TABLE: [u32; 4] = [7, 11, 13, 17];
    let i = thread::index_1d();
    let (mut from, mut other) = if i.get() % 3 == 0 { (y, x) } else { (x, y) };
    let mut sum = 0_u32;
    for round in 0..rounds {
        let source = if round % 4 == 3 { &TABLE[..] } else { from };
        sum = sum.wrapping_mul(3).wrapping_add(source[(i.get() + round as usize) % source.len()]);
        core::mem::swap(&mut from, &mut other);
    }
    if let Some(out) = z.get_mut(i) {
        *out = sum;
    }
}

/// A pointer to nothing, or to an element of one slice or of the other, and how many elements come behind it there.
#[kernel(launch_bounds = 99)]
pub fn or_none(x: &[u64], y: &[u64], mut z: DisjointSlice<u64>) {
    let i = thread::index_1d();
    let (at, own) = (i.get() / 4, if i.get() % 2 == 0 { x } else { y });
    let found = if i.get() % 4 == 3 { None } else { own.get(at) };
    let value = match found {
        None => 5,
        Some(number) => {
            let behind = own.iter().skip_while(|it| !core::ptr::eq(*it, number)).count();
            number.wrapping_mul(1000).wrapping_add(behind as u64)
        }
    };
    if let Some(out) = z.get_mut(i) {
        *out = value;
    }
}

/// Writes bytes, whole words and rows, and adds, in the one buffer or in the other: the other threads of the word do so too.
#[kernel]
pub fn write_one(
    mut bytes: DisjointSlice<u8>,
    mut more: DisjointSlice<u8>,
    mut counts: DisjointSlice<u32>,
    mut totals: DisjointSlice<u32>,
    mut rows: DisjointSlice<[u32; 6]>,
    mut others: DisjointSlice<[u32; 6]>,
) {
    let i = thread::index_1d().get();
    let is_even = i % 2 == 0;
    // SAFETY: each thread has its own bytes and its own row, of as many as there are threads, and the counters are atomic.
    unsafe {
        let byte: *mut u8 =
            if is_even { bytes.get_unchecked_mut(i) } else { more.get_unchecked_mut(i) };
        *byte = (3 * i) as u8;
        let counter: *mut u32 = match i % 3 {
            0 => counts.get_unchecked_mut(0),
            1 => totals.get_unchecked_mut(1),
            _ => counts.get_unchecked_mut(2),
        };
        let before = AtomicU32::from_ptr(counter).fetch_add(1, Ordering::Relaxed);
        AtomicU32::from_ptr(totals.get_unchecked_mut(3)).fetch_max(before, Ordering::Relaxed);
        let row: *mut [u32; 6] =
            if is_even { rows.get_unchecked_mut(i) } else { others.get_unchecked_mut(i) };
        let from: *mut [u32; 6] =
            if i % 4 < 2 { others.get_unchecked_mut(i) } else { rows.get_unchecked_mut(i) };
        let mut changed = *from;
        changed[i % 6] += 100;
        *row = changed;
    }
}

/// An element of shared memory, or of a slice.
#[kernel]
pub fn shared_or_not(x: &[u32], mut z: DisjointSlice<u32>) {
    static mut TILE: SharedArray<u32, 64> = SharedArray::UNINIT;
    let i = thread::index_1d();
    let t = thread::thread_idx().x as usize % 64;
    // SAFETY: each thread writes its own element, a barrier before the reads.
    let value = unsafe {
        TILE[t] = 10 * t as u32;
        thread::sync_threads();
        let element: *const u32 =
            if x[t] % 2 == 0 { &raw const TILE[63 - t] } else { &raw const x[t] };
        *element
    };
    if let Some(out) = z.get_mut(i) {
        *out = value;
    }
}
