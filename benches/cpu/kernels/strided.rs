use kernelmill_device::prelude::*;

/// `y += a * x`, each thread every element a whole grid apart.
#[kernel]
pub fn strided(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
    let step = thread::grid_dim().x as usize * thread::block_dim().x as usize;
    let mut i = thread::index_1d().get();
    while i < y.len() {
        // SAFETY: no other thread comes to this element: all start at numbers below `step`.
        unsafe { *y.get_unchecked_mut(i) += a * x[i] };
        i += step;
    }
}
