//! A kernel with constants that the program may choose, one with bounds of its own, and one that panics.

use kernelmill_device::prelude::*;

constant! {
    FACTOR: f32 = 2.0;
    ROUNDS: u32 = 3;
    ADDS: bool = true;
    OFFSET: i64 = -1;
}

#[kernel]
pub fn scale(x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let (Some(out), Some(x)) = (y.get_mut(i), x.get(i.get())) {
        let mut sum = 0.0;
        for _ in 0..ROUNDS {
            sum += FACTOR * x;
        }
        *out = if ADDS { sum + OFFSET as f32 } else { sum };
    }
}

#[kernel(launch_bounds = 128)]
pub fn bounded(mut y: DisjointSlice<u32>) {
    if let Some(out) = y.get_mut(thread::index_1d()) {
        *out = thread::block_dim().x;
    }
}

#[kernel]
pub fn reads(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = x[i.get() + ROUNDS as usize];
    }
}

#[kernel(instances = ["u32", "f32"])]
pub fn copies<T: Copy>(x: &[T], mut y: DisjointSlice<T>) {
    let i = thread::index_1d();
    if let (Some(out), Some(x)) = (y.get_mut(i), x.get(i.get())) {
        *out = *x;
    }
}
