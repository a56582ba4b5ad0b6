use kernelmill_device::prelude::*;

#[device_fn]
pub fn largest<T: PartialOrd>(left: T, right: T) -> T {
    if left < right { right } else { left }
}

#[device_fn]
pub unsafe fn first(x: &[f32]) -> f32 {
    x[0]
}

#[device_fn]
pub extern "C" fn half(x: f32) -> Option<f32> {
    Some(0.5 * x)
}

#[device_fn]
pub fn most(all: [u8; 2], _: u8, _: u8, _: u8, _: u8, _: u8, _: u8, _: u8, _: u8) -> u8 {
    all[0]
}

struct Shape;

impl Shape {
    #[device_fn]
    fn area(&self) -> f32 {
        1.0
    }
}

#[kernel]
pub fn apply(
    f: fn(f32) -> f32,
    g: DeviceFn<extern "C" fn(f32) -> f32>,
    h: DeviceFn<fn(&[f32]) -> f32>,
    mut y: DisjointSlice<f32>,
) {
    if let Some(out) = y.get_mut(thread::index_1d()) {
        *out = f(*out);
    }
}
