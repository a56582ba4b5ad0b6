//! Addresses that follow each other from thread to thread for most arguments, and for others not.

use core::sync::atomic::{AtomicU32, Ordering};
use kernelmill_device::prelude::*;

/// Sums of what others of the block wrote, found by masks: of a warp, of any mask, of any partner.
/// Blocks of at most 64 threads; the arguments are below 64.
#[kernel]
pub fn masked_places(mask: u32, flip: u32, mut y: DisjointSlice<u32>) {
    static mut TILE: SharedArray<u32, 64> = SharedArray::UNINIT;
    let i = thread::index_1d();
    let (t, size) = (thread::thread_idx().x % 64, thread::block_dim().x);
    let at = |place: u32| place as usize % 64;
    // SAFETY: each thread writes its own element, a barrier apart from the reads of it; places past
    // the end of the block are not read.
    unsafe {
        TILE[at(t)] = 3 * t + 1;
        thread::sync_threads();
        let low = TILE[at(t & 7)] + 10 * TILE[at(t & 31)];
        let any = 100 * TILE[at(t & mask)];
        let partner = if t ^ flip < size { 1000 * TILE[at(t ^ flip)] } else { 0 };
        let start = TILE[at(t - (t & mask))];
        thread::sync_threads();
        TILE[at(t)] = t / 32 + (t >> 3) + u32::from(t < 32);
        thread::sync_threads();
        if let Some(out) = y.get_mut(i) {
            *out = low + any + partner + start + 7 * TILE[at((t + 1) % size)];
        }
    }
}

/// Elements from `first` on, where places start again at 0 after `u32::MAX`.
#[kernel]
pub fn wrapped_places(first: u32, x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let place = first.wrapping_add(i.get() as u32) as usize;
    let value = if place < x.len() { x[place] } else { 7 };
    if let Some(out) = y.get_mut(i) {
        *out = value;
    }
}

/// For each value below 16: how many there are, the largest place of one, and the smallest. Threads
/// take elements a block apart.
#[kernel]
pub fn own_atomics(x: &[u32], mut counts: DisjointSlice<u32>) {
    static mut COUNTS: SharedArray<u32, 16> = SharedArray::UNINIT;
    static mut MOST: SharedArray<u32, 16> = SharedArray::UNINIT;
    static mut LEAST: SharedArray<u32, 16> = SharedArray::UNINIT;
    let (t, size) = (thread::thread_idx().x as usize, thread::block_dim().x as usize);
    // SAFETY: cleared and read a barrier apart from the atomic operations; 48 results.
    unsafe {
        if t < 16 {
            (COUNTS[t], MOST[t], LEAST[t]) = (0, 0, u32::MAX);
        }
        thread::sync_threads();
        let mut i = t;
        while i < x.len() {
            let value = x[i] as usize % 16;
            AtomicU32::from_ptr(&raw mut COUNTS[value]).fetch_add(1, Ordering::Relaxed);
            AtomicU32::from_ptr(&raw mut MOST[value]).fetch_max(i as u32, Ordering::Relaxed);
            AtomicU32::from_ptr(&raw mut LEAST[value]).fetch_min(i as u32, Ordering::Relaxed);
            i += size;
        }
        thread::sync_threads();
        if t < 16 {
            *counts.get_unchecked_mut(t) = COUNTS[t];
            *counts.get_unchecked_mut(16 + t) = MOST[t];
            *counts.get_unchecked_mut(32 + t) = LEAST[t];
        }
    }
}

/// Tickets: each thread takes as many numbers as it is told, and all numbers are taken once.
#[kernel]
pub fn own_tickets(rounds: &[u32], mut taken: DisjointSlice<u32>) {
    static mut NEXT: SharedArray<u32, 1> = SharedArray::UNINIT;
    let t = thread::thread_idx().x as usize;
    // SAFETY: cleared a barrier before; every ticket is given to one thread, of as many as there are
    // elements of `taken`.
    unsafe {
        if t == 0 {
            NEXT[0] = 0;
        }
        thread::sync_threads();
        for _ in 0..rounds[t] {
            let next = AtomicU32::from_ptr(&raw mut NEXT[0]);
            let ticket = next.fetch_add(1, Ordering::Relaxed) as usize;
            *taken.get_unchecked_mut(ticket) += 1;
        }
    }
}
