//! Forks: processes that have the driver's memory and none of its threads.
//!
//! CUDA C++ Programming Guide, "Initialization": a process that was forked from one that uses the
//! driver cannot use it.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether this process was forked from one that has initialized the driver.
static FORKED: AtomicBool = AtomicBool::new(false);

/// Whether this process was forked from one that has initialized the driver.
pub(crate) fn is_forked() -> bool {
    FORKED.load(Ordering::Relaxed)
}

/// Notes forks from now on.
pub(super) fn note_forks() {
    extern "C" fn note() {
        FORKED.store(true, Ordering::Relaxed);
    }
    // SAFETY: what is called in the new process stores a flag. Where there is no memory for it, forks
    // are not noted.
    let _ = unsafe { libc::pthread_atfork(None, None, Some(note)) };
}
