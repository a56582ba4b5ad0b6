//! Safe kernels that take what there is little of: memory of a thread across barriers, and barriers themselves.

use kernelmill_device::prelude::*;

/// Elements of 16 KiB.
const SMALL: usize = 1 << 12;

/// Fills memory of a thread.
fn fill(own: &mut [u32], seed: u32, thread: usize) {
    for (place, value) in own.iter_mut().enumerate() {
        *value = seed.wrapping_mul(place as u32).wrapping_add(thread as u32);
    }
}

/// Reads elements here and there.
fn mix(own: &[u32], seed: u32) -> u32 {
    let (mut sum, mut place) = (0_u32, seed);
    for _ in 0..64 {
        sum = sum.wrapping_mul(31).wrapping_add(own[place as usize % own.len()]);
        place = place.wrapping_mul(5).wrapping_add(7);
    }
    sum
}

/// 16 KiB of local variables of each thread, which live across a barrier that is uniform.
#[kernel]
pub fn locals(seed: u32, mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let mut own = [0; SMALL];
    fill(&mut own, seed, i.get());
    thread::sync_threads();
    if let Some(y) = y.get_mut(i) {
        *y = mix(&own, seed);
    }
}

/// The same across barriers of which that is not known: `y` says how many there are.
#[kernel]
pub fn locals_apart(seed: u32, mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let mut own = [0; SMALL];
    fill(&mut own, seed, i.get());
    for _ in 0..y.get_mut(i).map_or(0, |y| *y + 2) {
        thread::sync_threads();
    }
    thread::sync_threads();
    if let Some(y) = y.get_mut(i) {
        *y = mix(&own, seed);
    }
}

/// The same where threads leave a loop of barriers at different times.
#[kernel]
pub fn locals_in_turns(seed: u32, mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let mut own = [0; SMALL];
    fill(&mut own, seed, i.get());
    for _ in 0..i.get() % 3 {
        thread::sync_threads();
    }
    if let Some(y) = y.get_mut(i) {
        *y = mix(&own, seed);
    }
}

/// 16 MiB of them.
#[kernel]
pub fn large_locals(seed: u32, mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let mut own = [0; 1 << 22];
    fill(&mut own, seed, i.get());
    thread::sync_threads();
    if let Some(y) = y.get_mut(i) {
        *y = mix(&own, seed);
    }
}

/// 1 GiB of them: 1 TiB for a block of 1024 threads.
#[kernel]
pub fn huge_locals(seed: u32, mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let mut own = [0; 1 << 28];
    fill(&mut own, seed, i.get());
    thread::sync_threads();
    if let Some(y) = y.get_mut(i) {
        *y = mix(&own, seed);
    }
}

/// All threads of a block come to a barrier on their way to a panic, or those with a 3.
#[kernel]
pub fn barrier_before_panic(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let is_three = x[i.get()] == 3;
    if is_three {
        thread::sync_threads();
        if let Some(y) = y.get_mut(i) {
            *y = 5;
        }
        panic!("three");
    }
    thread::sync_threads();
    if let Some(y) = y.get_mut(i) {
        *y = 7;
    }
}
