//! Functions for the kernels of `tables.rs`; there is no kernel here.

use kernelmill_device::prelude::*;

/// By a function that a kernel could name too.
#[device_fn]
pub fn halve(x: f32) -> f32 {
    let half = deferred!(half: fn(f32) -> f32);
    // SAFETY: it is a safe function.
    unsafe { half(x) }
}

/// A half.
#[unsafe(no_mangle)]
pub extern "C" fn half(x: f32) -> f32 {
    0.5 * x
}

/// Steps of halving down to below 1: as many rounds as the number needs.
#[device_fn]
pub fn steps_to_one(mut x: f32) -> f32 {
    let mut steps = 0.0;
    while x >= 1.0 {
        x *= 0.5;
        steps += 1.0;
    }
    steps
}

/// Calls itself.
#[device_fn]
pub fn ackermann(x: f32) -> f32 {
    fn value(m: u32, n: u32) -> u32 {
        match (m, n) {
            (0, n) => n + 1,
            (m, 0) => value(m - 1, 1),
            (m, n) => value(m - 1, value(m, n - 1)),
        }
    }
    value(2, x as u32 % 4) as f32
}

/// As in `tables.rs`: types with the same name and layout are one.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Dot {
    pub color: [u8; 3],
    pub depth: f32,
}

/// The colours turned round.
#[device_fn]
fn rotate_color(Dot { color: [r, g, b], depth }: Dot) -> Dot {
    Dot { color: [g, b, r], depth }
}

/// Nearer.
#[device_fn]
fn nearer(mut dot: Dot) -> Dot {
    dot.depth -= 0.25;
    dot
}

/// Adds the index within the block.
#[device_fn]
fn add_thread(x: u32) -> u32 {
    x + thread::thread_idx().x
}

/// The value of the thread opposite, for blocks of 64.
#[device_fn]
fn opposite(x: u32) -> u32 {
    static mut TILE: SharedArray<u32, 64> = SharedArray::UNINIT;
    let own = thread::thread_idx().x as usize;
    // SAFETY: each thread writes its own element, and all wait before any reads.
    unsafe {
        *(&raw mut TILE[own]) = x;
        thread::sync_threads();
        *(&raw const TILE[63 - own])
    }
}

/// A function that is given one.
#[device_fn]
fn twice(f: DeviceFn<fn(u32) -> u32>, x: u32) -> u32 {
    f.call(f.call(x))
}

/// Wants small numbers.
#[device_fn]
fn below_thousand(x: u32, is_strict: bool) {
    assert!(x < 1000 || !is_strict, "the number {x} is too large");
}

/// Wants nothing.
#[device_fn]
fn anything(_x: u32, _is_strict: bool) {}
