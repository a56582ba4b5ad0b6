use kernelmill_device::prelude::*;
use std::cell::Cell;

std::thread_local! {
    static LARGEST: Cell<f32> = const { Cell::new(0.0) };
}

#[kernel]
pub fn largest_so_far(x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        LARGEST.set(LARGEST.get().max(x[i.get()]));
        *out = LARGEST.get();
    }
}
