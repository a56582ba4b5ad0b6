//! Has a helper, a static and a type under the names that `helpers_b.rs` uses for others.

use kernelmill_device::prelude::*;

static FACTOR: [u32; 2] = [3, 5];

struct State(u32);

#[inline(never)]
#[unsafe(no_mangle)]
extern "C" fn twist(value: u32) -> u32 {
    State(value * FACTOR[value as usize % 2]).0
}

// CHECK-PTX: twist
/// `y = twist(y)` of this file.
#[kernel]
pub fn twist_a(mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = twist(*out);
    }
}
