use kernelmill_device::prelude::*;

/// `y = a * x`, in Rust: no OpenCL target suits it.
#[kernel]
pub fn scaled(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = a * x[i.get()];
    }
}
