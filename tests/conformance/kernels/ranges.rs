//! A file in which nothing but the range of a slice can panic.

use kernelmill_device::prelude::*;

// CHECK-PTX-NOT: trap;
// CHECK-PTX: exit;
/// Adds up four elements, the first of them far past the end in thread 37.
#[kernel]
pub fn panic_range(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        let start = if i.get() == 37 { 1000 } else { i.get() / 4 };
        *out = x[start..start + 4].iter().sum();
    }
}
