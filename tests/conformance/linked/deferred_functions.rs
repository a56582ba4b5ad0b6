//! Functions for the kernels of other sources; there is no kernel here.

use kernelmill_device::{deferred, thread};

/// The sum of the numbers up to `x`.
#[unsafe(no_mangle)]
pub extern "C" fn sum_to(x: u32) -> u32 {
    let sum_below = deferred!(sum_below: fn(u32) -> u32);
    // SAFETY: it is a safe function.
    x + unsafe { sum_below(x) }
}

/// The index of the thread in its block.
#[unsafe(no_mangle)]
pub extern "C" fn within_block() -> u32 {
    thread::thread_idx().x
}
