use kernelmill_device::prelude::*;

#[kernel]
pub fn fill(value: f32, mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = value;
    }
}
