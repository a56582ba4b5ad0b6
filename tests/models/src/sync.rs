//! loom's types, by the names that the modules under test know.

use loom::{
    cell::UnsafeCell,
    sync::atomic::{AtomicBool as Flag, Ordering as Order},
};

pub(crate) use loom::sync::{
    Arc, Condvar, Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};
pub(crate) use std::sync::PoisonError;

/// `std`'s cell that is written once, which loom lacks. Only one thread at a time may set it: loom reports
/// a race otherwise.
pub(crate) struct OnceLock<T> {
    is_set: Flag,
    value: UnsafeCell<Option<T>>,
}

// SAFETY: the value is written before the flag is set, and only read after that.
unsafe impl<T: Send + Sync> Sync for OnceLock<T> {}

impl<T> OnceLock<T> {
    pub(crate) fn new() -> Self {
        Self { is_set: Flag::new(false), value: UnsafeCell::new(None) }
    }

    pub(crate) fn get(&self) -> Option<&T> {
        // SAFETY: the value is not written any more once the flag is set, and loom checks that.
        self.is_set.load(Order::Acquire).then(|| self.value.with(|it| unsafe { &*it }).as_ref())?
    }

    pub(crate) fn set(&self, value: T) -> Result<(), T> {
        if self.is_set.load(Order::Acquire) {
            return Err(value);
        }
        // SAFETY: nobody reads before the flag is set, and loom reports a second writer.
        self.value.with_mut(|it| unsafe { *it = Some(value) });
        self.is_set.store(true, Order::Release);
        Ok(())
    }
}
