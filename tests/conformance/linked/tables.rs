//! Device functions passed to kernels: one, a table of them, and in structs.

use kernelmill_device::prelude::*;

/// The square.
#[device_fn]
pub fn square(x: f32) -> f32 {
    x * x
}

/// One function for all threads.
#[kernel]
pub fn apply_one(f: DeviceFn<fn(f32) -> f32>, x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = f.call(x[i.get()]);
    }
}

/// Each thread chooses from a table, by what it reads.
#[kernel]
pub fn apply_table(
    table: &[DeviceFn<fn(f32) -> f32>],
    choice: &[u32],
    x: &[f32],
    mut y: DisjointSlice<f32>,
) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = table[choice[i.get()] as usize].call(x[i.get()]);
    }
}

/// A picture's element.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Dot {
    pub color: [u8; 3],
    pub depth: f32,
}

/// Two functions and a number.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Steps {
    pub first: DeviceFn<fn(Dot) -> Dot>,
    pub rounds: u32,
    pub then: [DeviceFn<fn(Dot) -> Dot>; 2],
}

/// Functions of structs, in a struct.
#[kernel]
pub fn apply_steps(steps: Steps, mut dots: DisjointSlice<Dot>) {
    if let Some(dot) = dots.get_mut(thread::index_1d()) {
        *dot = steps.first.call(*dot);
        for round in 0..steps.rounds {
            *dot = steps.then[round as usize % 2].call(*dot);
        }
    }
}

/// A function that is given another.
#[kernel]
pub fn apply_higher(
    outer: DeviceFn<fn(DeviceFn<fn(u32) -> u32>, u32) -> u32>,
    inner: DeviceFn<fn(u32) -> u32>,
    mut y: DisjointSlice<u32>,
) {
    if let Some(out) = y.get_mut(thread::index_1d()) {
        *out = outer.call(inner, *out);
    }
}

/// Functions that ask for the thread, wait for the block and panic, and ones without a result.
#[kernel(block_size = [64, 1, 1])]
pub fn apply_within_block(
    f: DeviceFn<fn(u32) -> u32>,
    check: DeviceFn<fn(u32, bool)>,
    x: &[u32],
    mut y: DisjointSlice<u32>,
) {
    let i = thread::index_1d();
    let value = f.call(x[i.get()]);
    check.call(value, x.len() > 64);
    if let Some(out) = y.get_mut(i) {
        *out = value;
    }
}
