//! A kernel whose result says which threads have run.

use kernelmill_device::prelude::*;

/// Writes to each element its index.
#[kernel]
pub fn indices(mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = i.get() as u32;
    }
}
