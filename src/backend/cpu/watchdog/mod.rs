//! The watchdog of CPU launches: a bound on the time of a launch, for kernels that do not end.
//!
//! A watched launch runs on threads of its own, with arguments of its own, while the launching thread waits.
//! After its time it begins no more blocks, blocks of coroutines end at their next barrier, and the launching
//! thread goes on. Other code of a block cannot be interrupted: its thread runs until the block ends, if it
//! does, or the process ends. Guaranteed: that thread uses nothing that the launching thread frees, as long as
//! the memory of the arguments stays.

use std::{
    cell::UnsafeCell,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use kernelmill_artifact::PanicRecord;

use super::{
    arena::Lacking,
    blocks::{Blocks, Strategy},
    guard_pages::Placement,
};
use crate::{
    embedded::abi::Geometry,
    error::{Error, Result},
    hal::OwnedArguments,
    properties::Backend,
};

/// A launch, with all that it needs.
pub(super) struct Job {
    pub(super) strategy: Strategy,
    pub(super) geometry: Geometry,
    pub(super) arguments: OwnedArguments,
    pub(super) shared_bytes: usize,
    pub(super) guard_pages: Option<Placement>,
    /// How many blocks there are.
    pub(super) blocks: usize,
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
    record: UnsafeCell<PanicRecord>,
    /// The next block to run.
    next: AtomicUsize,
    /// The block that each thread runs, and 1; 0 for none.
    running: Vec<AtomicUsize>,
    state: Mutex<State>,
    ended: Condvar,
}

struct State {
    /// Threads that have not ended.
    threads: usize,
    lacking: Option<Lacking>,
}

// SAFETY: one thread claims the record before it is written, and it is read after all threads have ended.
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
        job,
        record: UnsafeCell::new(PanicRecord::EMPTY),
        next: AtomicUsize::new(0),
        running: (0..threads).map(|_| AtomicUsize::new(0)).collect(),
        state: Mutex::new(State { threads: 0, lacking: None }),
        ended: Condvar::new(),
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
            let end = End(&watched);
            let done = watched.work(number);
            if let Err(lacking) = done {
                watched.lock().lacking = Some(lacking);
            }
            drop(end);
        };
        self.lock().threads += 1;
        let name = "kernelmill-watched".to_owned();
        let started = thread::Builder::new().name(name).spawn(body);
        if started.is_err() {
            self.lock().threads -= 1;
        }
        started.map(drop)
    }

    /// Runs blocks until there are no more, or the launch has failed.
    fn work(&self, number: usize) -> std::result::Result<(), Lacking> {
        let Job { strategy, geometry, arguments, shared_bytes, guard_pages, .. } = &self.job;
        let blocks = Blocks {
            strategy: *strategy,
            geometry,
            arguments: arguments.pointers().as_ptr(),
            record: self.record.get(),
            shared_bytes: *shared_bytes,
            guard_pages: *guard_pages,
        };
        loop {
            let block = self.next.fetch_add(1, Ordering::Relaxed);
            if block >= self.job.blocks || self.is_stopped() {
                return Ok(());
            }
            self.running[number].store(block + 1, Ordering::Release);
            // SAFETY: the caller of `run` promises the arguments; each block is taken once.
            let done = unsafe { blocks.run(block..block + 1) };
            self.running[number].store(0, Ordering::Release);
            if done.is_err() {
                self.stop();
                return done;
            }
        }
    }

    /// Waits for the threads.
    fn wait(&self, limit: Duration) -> Outcome {
        let mut state = self.lock();
        loop {
            let waited = self.ended.wait_timeout_while(state, limit, |state| state.threads > 0);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            if state.threads == 0 {
                return self.outcome(&mut state);
            }
            let blocks = self.running();
            if !blocks.is_empty() {
                self.stop();
                return Outcome::StillRunning(blocks);
            }
        }
    }

    /// What became of the launch, once all threads have ended.
    fn outcome(&self, state: &mut State) -> Outcome {
        if let Some(lacking) = state.lacking.take() {
            return Outcome::Lacking(lacking);
        }
        // SAFETY: no thread uses the record any more, and the lock orders what they have written before this.
        let record = unsafe { &*self.record.get() };
        if record.is_set() { Outcome::Panicked(Box::new(*record)) } else { Outcome::Done }
    }

    /// The blocks that run now.
    fn running(&self) -> Vec<[u32; 3]> {
        let numbers = self.running.iter().map(|block| block.load(Ordering::Acquire));
        let mut blocks: Vec<_> = numbers.filter_map(|number| number.checked_sub(1)).collect();
        blocks.sort_unstable();
        blocks.into_iter().map(|block| self.job.geometry.index_of(block)).collect()
    }

    fn is_stopped(&self) -> bool {
        self.claim().load(Ordering::Relaxed) != 0
    }

    /// Lets no more blocks begin, and coroutines end at their next barrier, as after a panic.
    fn stop(&self) {
        let _ = self.claim().compare_exchange(0, 1, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Whether a thread has claimed the record.
    fn claim(&self) -> &AtomicU32 {
        // SAFETY: the record lives as long as this, and its state is used as an atomic only.
        unsafe { AtomicU32::from_ptr(&raw mut (*self.record.get()).state) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The end of a thread, also by a panic of the host's code that a kernel calls.
struct End<'w>(&'w Watched);

impl Drop for End<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.threads -= 1;
        if state.threads == 0 {
            self.0.ended.notify_all();
        }
    }
}

#[cfg(test)]
mod tests;
