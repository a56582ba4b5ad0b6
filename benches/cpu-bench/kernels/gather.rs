use kernelmill_device::prelude::*;

/// `y[i] = x[places[i]]`.
#[kernel]
pub fn gather(places: &[u32], x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = x[places[i.get()] as usize];
    }
}
