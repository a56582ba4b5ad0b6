use kernelmill_device::prelude::*;

/// `y += a * x`.
#[kernel]
pub fn saxpy(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out += a * x[i.get()];
    }
}
