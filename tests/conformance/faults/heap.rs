use kernelmill_device::prelude::*;

fn squares(n: u32) -> Vec<u32> {
    (0..n).map(|i| i * i).collect()
}

#[kernel]
pub fn sums(n: u32, mut y: DisjointSlice<u32>) {
    if let Some(out) = y.get_mut(thread::index_1d()) {
        *out = squares(n).iter().sum();
    }
}
