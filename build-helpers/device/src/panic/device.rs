//! The functions that the compiler calls where a kernel panics.

use super::write::{Message, Panic, claim, complete, location_index};
use crate::{
    intrinsics::runtime::{
        __kernelmill_exit, __kernelmill_location_base, __kernelmill_panic_record,
    },
    thread::{block_idx, thread_idx},
};
use core::{fmt, panic::Location};

/// The code of `kernelmill_artifact::PanicKind::Explicit`.
const EXPLICIT: u32 = 1;

#[inline(always)]
fn panic(kind: u32, a: u64, b: u64, location: usize) -> Panic {
    let (block, thread) = (block_idx(), thread_idx());
    Panic {
        kind,
        a,
        b,
        location: location_index(location, __kernelmill_location_base()),
        block: [block.x, block.y, block.z],
        thread: [thread.x, thread.y, thread.z],
    }
}

/// Records a panic without text and ends the thread. `location` is the address of a
/// [`Location`] in the table, or 0.
#[unsafe(no_mangle)]
pub extern "C" fn __kernelmill_panic(kind: u32, a: u64, b: u64, location: usize) -> ! {
    let record = __kernelmill_panic_record();
    // SAFETY: the launch's record, which every thread uses through these functions.
    unsafe {
        if claim(record, &panic(kind, a, b, location)) {
            complete(record);
        }
    }
    __kernelmill_exit()
}

/// Records a panic with its text and ends the thread.
#[unsafe(no_mangle)]
pub fn __kernelmill_panic_fmt(text: fmt::Arguments<'_>, location: &'static Location<'static>) -> ! {
    let record = __kernelmill_panic_record();
    let address = core::ptr::from_ref(location).addr();
    // SAFETY: the launch's record, which every thread uses through these functions.
    unsafe {
        if claim(record, &panic(EXPLICIT, 0, 0, address)) {
            // A message that is cut is an error here, and all that fits.
            let _ = fmt::write(&mut Message(record), text);
            complete(record);
        }
    }
    __kernelmill_exit()
}
