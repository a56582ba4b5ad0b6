use kernelmill_device::prelude::*;

#[kernel(launch_bounds = 2048, min_blocks = 40)]
pub fn large(mut y: DisjointSlice<f32>) {
    if let Some(out) = y.get_mut(thread::index_1d()) {
        *out = 0.0;
    }
}

#[kernel(min_blocks = 2, max_registers = 300, cluster = [4, 4, 1])]
pub fn crowded(mut y: DisjointSlice<f32>) {
    if let Some(out) = y.get_mut(thread::index_1d()) {
        *out = 0.0;
    }
}

#[kernel(dim = 2, block_size = [16, 0, 1], launch_bounds = 256)]
pub fn flat(mut y: DisjointSlice<f32, Index2D>) {
    if let Some(out) = y.get_mut(thread::index_2d()) {
        *out = 0.0;
    }
}
