//! Synchronisation: the types of `std` that modules with a model use.
//!
//! `tests/models` compiles these modules with the types of [loom](https://docs.rs/loom) in this module's place,
//! and runs them in every order of their threads.

use std::cell::Cell;

pub(crate) use std::sync::{
    Arc, Condvar, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
};

/// `std`'s cell, by loom's interface.
pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    pub(crate) fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.0.get())
    }

    pub(crate) fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.0.get())
    }
}

/// Nothing: stands beside sequentially consistent accesses, which loom takes for weaker ones.
#[inline]
pub(crate) fn model_fence() {}

/// How often the calling thread has called this.
#[inline]
pub(crate) fn thread_tick() -> u64 {
    thread_local! {
        static TICKS: Cell<u64> = const { Cell::new(0) };
    }
    TICKS.with(|ticks| {
        ticks.set(ticks.get() + 1);
        ticks.get()
    })
}
