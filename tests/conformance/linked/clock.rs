//! A marker that a plugin of the build script replaces.

use kernelmill_device::prelude::*;

unsafe extern "C" {
    safe fn __kernelmill_cycles() -> u64;
}

/// What goes by between two looks at the clock.
#[kernel]
pub fn cycles(mut y: DisjointSlice<u64>) {
    let start = __kernelmill_cycles();
    if let Some(out) = y.get_mut(thread::index_1d()) {
        *out = __kernelmill_cycles().wrapping_sub(start);
    }
}
