//! Functions of another source, named where they are called.

use kernelmill_device::prelude::*;

/// The sum of the numbers up to `x`, by functions of two sources that call each other, and the index
/// of the thread within its block, which a function of another source asks for.
#[kernel]
pub fn named_functions(x: &[u32], mut y: DisjointSlice<u32>) {
    let sum_to = deferred!(sum_to: fn(u32) -> u32);
    let within_block = deferred!(within_block: fn() -> u32);
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        // SAFETY: both are safe functions.
        *out = unsafe { sum_to(x[i.get()]) * 1000 + within_block() };
    }
}

/// The other half of `sum_to`.
#[unsafe(no_mangle)]
pub extern "C" fn sum_below(x: u32) -> u32 {
    let sum_to = deferred!(sum_to: fn(u32) -> u32);
    // SAFETY: it is a safe function.
    if x == 0 { 0 } else { unsafe { sum_to(x - 1) } }
}
