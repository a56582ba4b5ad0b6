//! Classes of bytes, and a kernel in a file of a module.

use kernelmill_device::prelude::*;

/// How many there are.
pub const CLASSES: usize = 4;

/// The class of a byte.
#[must_use]
pub fn class(byte: u8) -> usize {
    usize::from(byte) % CLASSES
}

/// Those of the numbers of threads.
#[kernel]
pub fn thread_classes(mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = class(i.get() as u8) as u32;
    }
}
