use kernelmill_device::prelude::*;

unsafe extern "C" {
    safe fn __kernelmill_warp_matrix(x: f32) -> f32;
}

#[kernel]
pub fn marked(mut y: DisjointSlice<f32>) {
    if let Some(out) = y.get_mut(thread::index_1d()) {
        *out = __kernelmill_warp_matrix(*out);
    }
}
