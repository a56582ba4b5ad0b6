//! The progress of a watched launch: which blocks are taken, which run, and whether all threads have ended.
//!
//! Guaranteed: each block is taken once, and what a thread has done before it left is visible to whoever
//! waited for all to leave. Checked by a model in `tests/models`.

use std::time::{Duration, Instant};

use crate::sync::{AtomicBool, AtomicUsize, Condvar, Mutex, MutexGuard, Ordering, PoisonError};

/// How far a launch is.
pub(super) struct Progress {
    blocks: usize,
    /// The next block that nobody has taken.
    next: AtomicUsize,
    /// The block that each thread runs, and 1; 0 for none.
    running: Vec<AtomicUsize>,
    stopped: AtomicBool,
    /// Threads that have not left.
    threads: Mutex<usize>,
    left: Condvar,
}

impl Progress {
    /// Of a launch of so many blocks, on up to `threads` threads.
    pub(super) fn new(blocks: usize, threads: usize) -> Self {
        Self {
            blocks,
            next: AtomicUsize::new(0),
            running: (0..threads).map(|_| AtomicUsize::new(0)).collect(),
            stopped: AtomicBool::new(false),
            threads: Mutex::new(0),
            left: Condvar::new(),
        }
    }

    /// A thread will run blocks, and leave.
    pub(super) fn enter(&self) {
        *self.lock() += 1;
    }

    /// A thread leaves.
    pub(super) fn leave(&self) {
        let mut threads = self.lock();
        *threads -= 1;
        if *threads == 0 {
            self.left.notify_all();
        }
    }

    /// The block that the thread with this number has to run now; none after a stop.
    pub(super) fn take(&self, number: usize) -> Option<usize> {
        self.running[number].store(0, Ordering::Release);
        if self.stopped.load(Ordering::Acquire) {
            return None;
        }
        let block = self.next.fetch_add(1, Ordering::Relaxed);
        if block >= self.blocks {
            return None;
        }
        self.running[number].store(block + 1, Ordering::Release);
        Some(block)
    }

    /// The blocks that run now, in order.
    pub(super) fn running(&self) -> Vec<usize> {
        let numbers = self.running.iter().map(|block| block.load(Ordering::Acquire));
        let mut blocks: Vec<_> = numbers.filter_map(|number| number.checked_sub(1)).collect();
        blocks.sort_unstable();
        blocks
    }

    /// Lets nobody take a block any more.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
    }

    /// Waits until all threads have left, no longer than `limit`; whether they have.
    pub(super) fn wait(&self, limit: Duration) -> bool {
        let begun = Instant::now();
        let mut threads = self.lock();
        while *threads > 0 {
            let left = limit.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return false;
            }
            let waited = self.left.wait_timeout(threads, left);
            threads = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    fn lock(&self) -> MutexGuard<'_, usize> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
