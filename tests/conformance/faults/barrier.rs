use kernelmill_device::prelude::*;

fn descend(n: u32) -> u32 {
    thread::sync_threads();
    if n == 0 { 0 } else { 1 + descend(n - 1) * 3 + descend(n / 2) }
}

#[kernel]
pub fn depths(n: u32, mut y: DisjointSlice<u32>) {
    let depth = descend(n);
    if let Some(out) = y.get_mut(thread::index_1d()) {
        *out = depth;
    }
}
