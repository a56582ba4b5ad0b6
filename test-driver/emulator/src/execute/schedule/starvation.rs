//! Starvation: blocks that poll memory when no block is left that could change it.
//!
//! Blocks that run at once each say when they have found the memory that they poll as it was. An epoch begins whenever one
//! of them may have written memory before it began to poll. Where all have looked within one epoch, nobody has written since,
//! and nobody ever will.

use std::sync::{Mutex, PoisonError};

/// Those that run at once.
pub(crate) struct Starvation(Mutex<State>);

struct State {
    epoch: u64,
    /// The last epoch within which each has looked.
    looked: Vec<u64>,
}

/// In the place of an epoch: it runs no more, and holds up nobody.
const GONE: u64 = u64::MAX;

/// One of those that run at once.
pub(crate) struct Runner<'s> {
    all: &'s Starvation,
    number: usize,
    /// The epoch in which its present look began; `None` where it has done something since it looked.
    since: Option<u64>,
}

impl Starvation {
    pub(crate) fn new(runners: usize) -> Self {
        Self(Mutex::new(State { epoch: 1, looked: vec![0; runners] }))
    }

    pub(crate) fn runner(&self, number: usize) -> Runner<'_> {
        Runner { all: self, number, since: None }
    }
}

impl Runner<'_> {
    /// It did something else than to look.
    pub(crate) fn advanced(&mut self) {
        self.since = None;
    }

    /// It has looked at all memory that it polls, and found it as it was. Gives `true` where that is so for all.
    pub(crate) fn has_looked(&mut self) -> bool {
        let mut state = self.all.0.lock().unwrap_or_else(PoisonError::into_inner);
        match self.since {
            // What it wrote before, others have to look at.
            None => state.epoch += 1,
            Some(since) => state.looked[self.number] = since,
        }
        self.since = Some(state.epoch);
        state.looked.iter().all(|&looked| looked == state.epoch || looked == GONE)
    }

    /// It runs no more.
    pub(crate) fn end(&mut self) {
        let mut state = self.all.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.epoch += 1;
        state.looked[self.number] = GONE;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_have_to_look_after_the_last_of_them_has_done_something() {
        let all = Starvation::new(2);
        let (mut first, mut second) = (all.runner(0), all.runner(1));
        // The second may still write.
        for _ in 0..3 {
            assert!(!first.has_looked());
        }
        assert!(!second.has_looked());
        assert!(!second.has_looked(), "the first has not seen what the second wrote");
        assert!(!first.has_looked(), "the look may have begun before");
        assert!(first.has_looked());
        // What it saw let the first go on.
        first.advanced();
        assert!(!first.has_looked());
        assert!(!second.has_looked());
        assert!(!first.has_looked());
        assert!(second.has_looked());
    }

    #[test]
    fn what_runs_no_more_holds_up_nobody_and_may_have_written() {
        let all = Starvation::new(2);
        let (mut first, mut second) = (all.runner(0), all.runner(1));
        assert!(!first.has_looked());
        assert!(!first.has_looked());
        second.end();
        assert!(!first.has_looked());
        assert!(first.has_looked());
    }

    #[test]
    fn one_alone_looks_once_more() {
        let all = Starvation::new(1);
        let mut only = all.runner(0);
        assert!(!only.has_looked());
        assert!(only.has_looked());
    }
}
