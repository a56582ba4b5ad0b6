//! The panic functions that the compiler calls.

use super::{
    PanicRecord,
    write::{
        Message, Panic, claim, complete, fill, fill_parts, fill_text, fill_values, location_index,
    },
};
use crate::thread::{block_idx, thread_idx};
use core::{fmt, panic::Location};

// The compiler supplies them for each target.
unsafe extern "C" {
    safe fn __kernelmill_exit() -> !;
    safe fn __kernelmill_panic_record() -> *mut PanicRecord;
    /// The number of the launch, which no launch before it on the device has; 0 where each launch has a
    /// record of its own.
    safe fn __kernelmill_launch_number() -> u64;
    safe fn __kernelmill_location_base() -> usize;
}

/// The code of `kernelmill_artifact::PanicKind::Explicit`.
const EXPLICIT: u32 = 1;

/// The code of `kernelmill_artifact::PanicKind::Silent`.
const SILENT: u32 = 13;

/// Claims the launch's record and fills it in, without a message; `None` if another thread was first.
#[inline(always)]
fn record(kind: u32, a: u64, b: u64, location: usize) -> Option<*mut PanicRecord> {
    let record = __kernelmill_panic_record();
    let location = location_index(location, __kernelmill_location_base());
    // SAFETY: the launch's record, which every thread uses through these functions.
    unsafe {
        if !claim(record, __kernelmill_launch_number()) {
            return None;
        }
        let (block, thread) = (block_idx(), thread_idx());
        let block = [block.x, block.y, block.z];
        let thread = [thread.x, thread.y, thread.z];
        fill(record, &Panic { kind, a, b, location, block, thread });
    }
    Some(record)
}

/// Records a panic without text and ends the thread. `location` is the address of a [`Location`] in the
/// table, or of the one before the first, which means none.
#[allow(unreachable_pub, reason = "the compiler calls it by its symbol")]
#[unsafe(no_mangle)]
pub extern "C" fn __kernelmill_panic(kind: u32, a: u64, b: u64, location: usize) -> ! {
    if let Some(record) = record(kind, a, b, location) {
        // SAFETY: this thread has claimed the record.
        unsafe { complete(record) };
    }
    __kernelmill_exit()
}

/// Records a panic without cause and location, and ends the thread.
#[allow(unreachable_pub, reason = "the compiler calls it by its symbol")]
#[unsafe(no_mangle)]
pub extern "C" fn __kernelmill_panic_silent() -> ! {
    let record = __kernelmill_panic_record();
    // SAFETY: the launch's record, which every thread uses through these functions.
    unsafe {
        if claim(record, __kernelmill_launch_number()) {
            (*record).kind = SILENT;
            complete(record);
        }
    }
    __kernelmill_exit()
}

/// Records a panic whose message the host renders, and ends the thread. The first two values are the
/// record's numbers, the others are stored in place of the message. `kind` has the message's index;
/// `location` is as for [`__kernelmill_panic`].
///
/// # Safety
///
/// There are `count` values at `values`, and at least two.
#[allow(unreachable_pub, reason = "the compiler calls it by its symbol")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kernelmill_panic_values(
    kind: u32,
    values: *const u64,
    count: usize,
    location: usize,
) -> ! {
    // SAFETY: promised.
    let (a, b) = unsafe { (*values, *values.add(1)) };
    if let Some(record) = record(kind, a, b, location) {
        // SAFETY: promised, and this thread has claimed the record.
        unsafe {
            fill_values(record, values.add(2), count.wrapping_sub(2));
            complete(record);
        }
    }
    __kernelmill_exit()
}

/// As [`__kernelmill_panic_values`], with texts among the values, an address and a length each. `texts`
/// has a bit for the index of each address. The record stores a text as its length and its bytes, 8 in a
/// word.
///
/// # Safety
///
/// There are `count` values at `values`, at most 64, and texts where they say.
#[allow(unreachable_pub, reason = "the compiler calls it by its symbol")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kernelmill_panic_parts(
    kind: u32,
    values: *const u64,
    count: usize,
    texts: u64,
    location: usize,
) -> ! {
    if let Some(record) = record(kind, 0, 0, location) {
        // SAFETY: promised, and this thread has claimed the record.
        unsafe {
            fill_parts(record, values, count, texts);
            complete(record);
        }
    }
    __kernelmill_exit()
}

/// Records a panic with its text and ends the thread.
#[allow(unreachable_pub, reason = "the compiler calls it by its symbol")]
#[unsafe(no_mangle)]
pub fn __kernelmill_panic_fmt(text: fmt::Arguments<'_>, location: &'static Location<'static>) -> ! {
    if let Some(record) = record(EXPLICIT, 0, 0, core::ptr::from_ref(location).addr()) {
        // A message that is cut is an error here, and all that fits.
        let _ = fmt::write(&mut Message(record), text);
        // SAFETY: this thread has claimed the record.
        unsafe { complete(record) };
    }
    __kernelmill_exit()
}

/// Records a panic with a constant text, of kernels in other languages, and ends the thread. `location`
/// is as for [`__kernelmill_panic`].
#[allow(unreachable_pub, reason = "the compiler calls it by its symbol")]
#[unsafe(no_mangle)]
pub extern "C" fn __kernelmill_panic_text(text: *const u8, length: usize, location: usize) -> ! {
    if let Some(record) = record(EXPLICIT, 0, 0, location) {
        // SAFETY: the compiler passes the address and the length of a static, and this thread has
        // claimed the record.
        unsafe {
            fill_text(record, core::slice::from_raw_parts(text, length));
            complete(record);
        }
    }
    __kernelmill_exit()
}
