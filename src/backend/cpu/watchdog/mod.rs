//! The watchdog of CPU launches: a bound on the time of a launch, for kernels that do not end.
//!
//! A watched launch runs on threads of its own, with arguments of its own, while the launching thread waits.
//! After its time it begins no more blocks, blocks of coroutines end at their next barrier, and the launching
//! thread goes on. Other code of a block cannot be interrupted: its thread runs until the block ends, if it
//! does, or the process ends. Guaranteed: that thread uses nothing that the launching thread frees, as long as
//! the memory of the arguments stays.

mod progress;

use std::{
    cell::UnsafeCell,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::Duration,
};

use kernelmill_artifact::PanicRecord;

use self::progress::Progress;
use super::{
    arena::Lacking,
    blocks::{Blocks, Strategy},
    guard_pages::Placement,
};
use crate::{
    embedded::{
        HeldCode,
        abi::{BlockOrder, Geometry},
    },
    error::{Error, Result},
    hal::OwnedArguments,
    properties::Backend,
};

/// A launch, with all that it needs.
pub(super) struct Job {
    pub(super) strategy: Strategy,
    pub(super) order: BlockOrder,
    pub(super) geometry: Geometry,
    pub(super) arguments: OwnedArguments,
    pub(super) shared_bytes: usize,
    pub(super) guard_pages: Option<Placement>,
    pub(super) stack_bytes: usize,
    /// How many blocks there are.
    pub(super) blocks: usize,
    /// Whether they wait for each other, so that one thread runs all of them.
    pub(super) cooperative: bool,
    /// What the kernel is in, if it was compiled at run time: it stays while a thread runs it.
    pub(super) _code: Option<Arc<dyn HeldCode>>,
}

/// What became of a launch.
pub(super) enum Outcome {
    Done,
    Lacking(Lacking),
    Panicked(Box<PanicRecord>),
    /// These blocks have not ended in time.
    StillRunning(Vec<[u32; 3]>),
}

/// A launch that runs.
struct Watched {
    job: Job,
    progress: Progress,
    record: UnsafeCell<PanicRecord>,
    lacking: Mutex<Option<Lacking>>,
}

// SAFETY: one thread claims the record before it is written, and it is read after all threads have left.
unsafe impl Sync for Watched {}

/// Runs a launch on up to `threads` threads, and waits for it: while no block has begun, and then no longer
/// than `limit`.
///
/// # Safety
///
/// The arguments are those of the kernel, and their memory stays where the launch still runs.
pub(super) unsafe fn run(job: Job, threads: usize, limit: Duration) -> Result<Outcome> {
    let threads = threads.min(job.blocks);
    let watched = Arc::new(Watched {
        progress: Progress::new(if job.cooperative { 1 } else { job.blocks }, threads),
        job,
        record: UnsafeCell::new(PanicRecord::EMPTY),
        lacking: Mutex::new(None),
    });
    for number in 0..threads {
        let started = watched.start(number);
        if let (0, Err(error)) = (number, started) {
            let reason = format!("the watchdog cannot start a thread: {error}");
            return Err(Error::Unavailable { backend: Backend::Cpu, reason });
        }
    }
    Ok(watched.wait(limit))
}

impl Watched {
    /// Starts the thread with this number.
    fn start(self: &Arc<Self>, number: usize) -> std::io::Result<()> {
        let watched = Arc::clone(self);
        let body = move || {
            let _left = Leave(&watched.progress);
            watched.work(number);
        };
        self.progress.enter();
        let name = "kernelmill-watched".to_owned();
        let started = thread::Builder::new().name(name).spawn(body);
        if started.is_err() {
            self.progress.leave();
        }
        started.map(drop)
    }

    /// Runs blocks until there are no more, or the launch has failed.
    fn work(&self, number: usize) {
        let Job {
            strategy,
            order,
            geometry,
            arguments,
            shared_bytes,
            guard_pages,
            stack_bytes,
            ..
        } = &self.job;
        let blocks = Blocks {
            strategy: *strategy,
            order: *order,
            geometry,
            arguments: arguments.pointers().as_ptr(),
            record: self.record.get(),
            shared_bytes: *shared_bytes,
            guard_pages: *guard_pages,
            stack_bytes: *stack_bytes,
        };
        while let Some(block) = self.progress.take(number) {
            // SAFETY: the caller of `run` promises the arguments; each block is taken once, or all of them together.
            let done = unsafe {
                match self.job.cooperative {
                    true => blocks.run_together(self.job.blocks, false),
                    false => blocks.run(block..block + 1),
                }
            };
            if let Err(lacking) = done {
                *self.lacking.lock().unwrap_or_else(PoisonError::into_inner) = Some(lacking);
                self.progress.stop();
            }
        }
    }

    /// Waits for the threads.
    fn wait(&self, limit: Duration) -> Outcome {
        while !self.progress.wait(limit) {
            let running = self.progress.running();
            if !running.is_empty() {
                self.progress.stop();
                self.claim();
                let index = |block| self.job.geometry.index_of(block, self.job.order);
                return Outcome::StillRunning(running.into_iter().map(index).collect());
            }
        }
        if let Some(lacking) = self.lacking.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Outcome::Lacking(lacking);
        }
        // SAFETY: all threads have left, and what they have written is visible.
        let record = unsafe { &*self.record.get() };
        if record.is_set() { Outcome::Panicked(Box::new(*record)) } else { Outcome::Done }
    }

    /// Claims the record, as a thread that panics does, so that coroutines end at their next barrier.
    fn claim(&self) {
        // SAFETY: the record lives as long as this, and kernels use its state as an atomic only.
        let state = unsafe { AtomicU32::from_ptr(&raw mut (*self.record.get()).state) };
        let _ = state.compare_exchange(0, 1, Ordering::Relaxed, Ordering::Relaxed);
    }
}

/// The end of a thread, also by a panic of the host's code that a kernel calls.
struct Leave<'w>(&'w Progress);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

#[cfg(test)]
mod tests;
