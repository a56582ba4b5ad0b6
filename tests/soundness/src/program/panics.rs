//! The panics of a program's kernels: those that were launched, and those that were reported.

use std::sync::atomic::{AtomicU32, Ordering};

use kernelmill::{Device, Error, Result};

/// How many there were.
#[derive(Debug, Default)]
pub(crate) struct Panics {
    launched: AtomicU32,
    reported: AtomicU32,
}

impl Panics {
    /// A launch has panicked, or will.
    pub(crate) fn launched(&self) {
        self.launched.fetch_add(1, Ordering::Relaxed);
    }

    /// Calls `call` until it reports no panic; each panic is reported once at most.
    ///
    /// # Errors
    ///
    /// Any other error.
    pub(crate) fn tolerated<T>(&self, mut call: impl FnMut() -> Result<T>) -> Result<T> {
        loop {
            match call() {
                Err(Error::KernelPanic(panic)) => {
                    let reported = 1 + self.reported.fetch_add(1, Ordering::Relaxed);
                    let launched = self.launched.load(Ordering::Relaxed);
                    assert!(reported <= launched, "{reported} panics of {launched}: {panic}");
                }
                result => return result,
            }
        }
    }

    /// The same for a call that does not fail otherwise.
    pub(crate) fn tolerate(&self, call: impl FnMut() -> Result<()>) {
        self.tolerated(call).expect("a call that does not fail");
    }

    /// Waits for the device: where kernels have panicked, it was reported by now. How many have.
    pub(crate) fn end(&self, device: &Device) -> u64 {
        self.tolerate(|| device.synchronize());
        let [launched, reported] =
            [&self.launched, &self.reported].map(|count| count.load(Ordering::Relaxed));
        assert!(launched == 0 || reported > 0, "none of {launched} panics was reported");
        launched.into()
    }
}
