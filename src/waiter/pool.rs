//! A pool of threads that each wait for one thing at a time: it has as many threads as there are waits, and those
//! without one end.
//!
//! Waits last as long as they like, so none stands in a queue behind another: a job goes to a thread that is idle, or
//! to a new one, which the caller makes. `tests/models` runs this with loom.
//!
//! Guaranteed: a job that a pool has taken is done, also where the thread that it was meant for ends meanwhile.

use std::{collections::VecDeque, time::Duration};

use crate::sync::{Condvar, Mutex, MutexGuard, PoisonError};

pub(crate) struct Pool<J> {
    /// Models look at it.
    pub(crate) state: Mutex<State<J>>,
    /// Told when there is a job, of which one thread is told each time.
    pub(crate) changed: Condvar,
}

/// At any time there are at least as many idle threads as jobs, and so many of them are awake.
pub(crate) struct State<J> {
    jobs: VecDeque<J>,
    /// The threads that wait for a job, also those that have not seen theirs yet.
    pub(crate) idle: usize,
}

impl<J: FnOnce()> Pool<J> {
    pub(crate) fn new() -> Self {
        let state = State { jobs: VecDeque::new(), idle: 0 };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State<J>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a job to a thread that is idle; gives it back where there is none.
    pub(crate) fn offer(&self, job: J) -> Result<(), J> {
        let mut state = self.lock();
        if state.jobs.len() >= state.idle {
            return Err(job);
        }
        state.jobs.push_back(job);
        self.changed.notify_one();
        Ok(())
    }

    /// What a thread of the pool does: a job, and then others, until none comes for as long as `limit`.
    pub(crate) fn serve(&self, job: J, limit: Duration) {
        job();
        while let Some(job) = self.next(limit) {
            job();
        }
    }

    /// The next job; `None` where none has come. A thread that is woken for no reason goes without one too: that
    /// is rare, and costs a thread.
    fn next(&self, limit: Duration) -> Option<J> {
        let mut state = self.lock();
        state.idle += 1;
        if state.jobs.is_empty() {
            let waited = self.changed.wait_timeout(state, limit);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.idle -= 1;
        state.jobs.pop_front()
    }
}
