//! A kernel in Rust: the driver is given its module for each size of a block, and launches have a record of panics.

use kernelmill_device::prelude::*;

/// Adds the elements of one slice to those of another; panics where there are fewer of them.
#[kernel]
pub fn add_checked(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y += x[i.get()];
    }
}
