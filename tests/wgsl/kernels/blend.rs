//! The kernel of the page on Vulkan.

use kernelmill_device::prelude::*;

/// Brings `y` nearer to `x`.
#[kernel]
pub fn blend(part: f32, x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y += part * (x[i.get()] - *y);
    }
}
