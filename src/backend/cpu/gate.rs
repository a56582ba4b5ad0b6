//! A gate: threads may enter while it is open, and whoever closes it waits until all have left.
//!
//! Guaranteed: what a thread has done before it left is visible to whoever has waited. Checked by a model in
//! `tests/models`.

use crate::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A gate, open at first.
pub(super) struct Gate {
    state: Mutex<State>,
    left: Condvar,
}

struct State {
    is_open: bool,
    /// Threads that have entered and not left.
    inside: usize,
}

impl Gate {
    pub(super) fn new() -> Self {
        Self { state: Mutex::new(State { is_open: true, inside: 0 }), left: Condvar::new() }
    }

    /// Whether the thread is inside now: it is where the gate is open.
    pub(super) fn enter(&self) -> bool {
        let mut state = self.lock();
        if state.is_open {
            state.inside += 1;
        }
        state.is_open
    }

    /// The thread leaves.
    pub(super) fn leave(&self) {
        let mut state = self.lock();
        state.inside -= 1;
        if state.inside == 0 && !state.is_open {
            self.left.notify_all();
        }
    }

    /// Lets nobody in any more.
    pub(super) fn close(&self) {
        self.lock().is_open = false;
    }

    /// Whether nobody is inside.
    pub(super) fn is_empty(&self) -> bool {
        self.lock().inside == 0
    }

    /// Waits until nobody is inside, once the gate is closed.
    pub(super) fn wait(&self) {
        let mut state = self.lock();
        while state.inside != 0 {
            state = self.left.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
