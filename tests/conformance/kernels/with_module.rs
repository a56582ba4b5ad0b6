//! A kernel file with a module in a file of its own, which in turn has none.

mod shapes;

use kernelmill_device::prelude::*;
use shapes::{Disc, SIDES};

/// Areas of discs, by a type of `shapes.rs`.
#[kernel]
pub fn disc_areas(radius: &[f32], mut area: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = area.get_mut(i) {
        *out = Disc::new(radius[i.get()]).area() + SIDES as f32;
    }
}
