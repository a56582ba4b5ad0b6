//! loom's types, by the names that the modules under test know.

use std::sync::atomic::AtomicU64 as Ticks;

pub(crate) use loom::{
    cell::UnsafeCell,
    sync::{
        Arc, Condvar, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
};
pub(crate) use std::sync::PoisonError;

/// A fence beside sequentially consistent accesses: loom takes these for acquiring and releasing ones, and
/// knows the one order of fences. What holds with the fence holds for the accesses as they are.
pub(crate) fn model_fence() {
    loom::sync::atomic::fence(Ordering::SeqCst);
}

/// Counts up. `std`'s number: it is no part of the model.
pub(crate) fn thread_tick() -> u64 {
    static TICKS: Ticks = Ticks::new(0);
    TICKS.fetch_add(1, Ordering::Relaxed)
}
