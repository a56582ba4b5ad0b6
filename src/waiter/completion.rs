//! Completions: a value that one thread makes and a task waits for.
//!
//! `tests/models` runs this with loom. Guaranteed: when the value is there, the waker of the last poll is woken, and
//! it is woken once. No code of a waker runs while the lock is held: dropping one can drop the task that polls.

use std::{
    mem,
    task::{Poll, Waker},
};

use crate::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) struct Completion<T> {
    state: Mutex<State<T>>,
}

enum State<T> {
    /// Nobody has to be told, or the waker of the last poll.
    Pending(Option<Waker>),
    Done(T),
    /// The value was taken.
    Taken,
}

impl<T> Completion<T> {
    /// One that will wake `waker`.
    pub(crate) fn new(waker: Waker) -> Self {
        Self { state: Mutex::new(State::Pending(Some(waker))) }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the value, and wakes the task.
    pub(crate) fn complete(&self, value: T) {
        let before = mem::replace(&mut *self.lock(), State::Done(value));
        if let State::Pending(Some(waker)) = before {
            waker.wake();
        }
    }

    /// The value, or `waker` is woken when it is there, in the place of those of earlier polls.
    ///
    /// # Panics
    ///
    /// Where the value was taken already.
    pub(crate) fn poll(&self, waker: &Waker) -> Poll<T> {
        // Before the lock: a waker's code is the program's.
        let new = waker.clone();
        let mut state = self.lock();
        let (result, before) = match mem::replace(&mut *state, State::Taken) {
            State::Pending(before) => {
                *state = State::Pending(Some(new));
                (Poll::Pending, before)
            }
            State::Done(value) => (Poll::Ready(value), Some(new)),
            State::Taken => panic!("a future was polled after it was ready"),
        };
        drop(state);
        drop(before);
        result
    }

    /// Wakes nobody from now on.
    pub(crate) fn forget(&self) {
        let mut state = self.lock();
        let before = match &mut *state {
            State::Pending(waker) => waker.take(),
            State::Done(_) | State::Taken => None,
        };
        drop(state);
        drop(before);
    }
}
