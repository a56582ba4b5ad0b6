use kernelmill_device::prelude::*;

/// `y += a * x`, each thread every element a whole grid apart.
#[kernel]
pub fn strided(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
    thread::grid_stride(y.len()).for_each(|i| {
        if let Some(y) = y.get_mut(i) {
            *y += a * x[i.get()];
        }
    });
}
