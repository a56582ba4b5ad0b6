//! Sharing of a launch's blocks between the calling thread and those of rayon's pool.
//!
//! The calling thread begins at once, and does not wait for threads that have not begun when all pieces are taken: to
//! wake one takes as long as many a launch. Guaranteed: each piece runs once, and all have run when [`share`] returns.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use super::gate::Gate;

/// How often the calling thread looks whether the others have left, before it sleeps until they have.
const LOOKS: u32 = 20;

/// Pieces of work that several threads take.
struct Work {
    gate: Gate,
    /// The next piece that nobody has taken.
    next: AtomicUsize,
    pieces: usize,
    /// What runs a piece, for as long as the gate is open or a thread is inside.
    run: *const (dyn Fn(usize) + Sync),
}

// SAFETY: what `run` points to can be called by several threads, and is only while it lives: see `share`.
unsafe impl Send for Work {}
// SAFETY: as above.
unsafe impl Sync for Work {}

impl Work {
    /// Takes pieces until there are none.
    ///
    /// # Safety
    ///
    /// `run` lives until this returns.
    unsafe fn take(&self) {
        loop {
            let piece = self.next.fetch_add(1, Ordering::Relaxed);
            if piece >= self.pieces {
                return;
            }
            // SAFETY: promised.
            unsafe { (*self.run)(piece) };
        }
    }

    /// What a thread of the pool does, whenever it comes to it.
    fn help(&self) {
        if self.gate.enter() {
            // SAFETY: whoever owns `run` waits at the gate for this thread to leave.
            unsafe { self.take() };
            self.gate.leave();
        }
    }
}

/// Closes the gate and waits for who is inside, also where a piece panics on the calling thread.
struct Closing<'a>(&'a Gate);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.close();
        for _ in 0..LOOKS {
            if self.0.is_empty() {
                return;
            }
            (0..32).for_each(|_| std::hint::spin_loop());
        }
        self.0.wait();
    }
}

/// Calls `run` once for each number below `pieces`, on this thread and at most `helpers` others of rayon's pool, and waits.
pub(super) fn share(pieces: usize, helpers: usize, run: &(dyn Fn(usize) + Sync)) {
    // SAFETY: only the lifetime changes. It is called by this thread, and by others between `enter` and `leave` of
    // the gate, which `Closing` waits for before this function is left.
    let run = unsafe {
        std::mem::transmute::<*const (dyn Fn(usize) + Sync + '_), *const (dyn Fn(usize) + Sync)>(
            run,
        )
    };
    let work = Arc::new(Work { gate: Gate::new(), next: AtomicUsize::new(0), pieces, run });
    for _ in 0..helpers.min(pieces.saturating_sub(1)) {
        let work = Arc::clone(&work);
        rayon::spawn(move || work.help());
    }
    let closing = Closing(&work.gate);
    // SAFETY: it outlives this call.
    unsafe { work.take() };
    drop(closing);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        panic::{AssertUnwindSafe, catch_unwind},
        sync::atomic::{AtomicBool, AtomicU32},
    };

    #[test]
    fn each_piece_runs_once_whoever_helps() {
        for pieces in [0, 1, 2, 3, 64] {
            for helpers in [0, 1, 2, 7] {
                let ran: Vec<_> = (0..pieces).map(|_| AtomicU32::new(0)).collect();
                share(pieces, helpers, &|piece| {
                    ran[piece].fetch_add(1, Ordering::Relaxed);
                });
                assert!(ran.iter().all(|it| it.load(Ordering::Relaxed) == 1), "{pieces} {helpers}");
            }
        }
    }

    #[test]
    fn what_is_borrowed_is_not_used_after_a_panic() {
        for _ in 0..5 {
            let (ran, has_begun) = (AtomicU32::new(0), AtomicBool::new(false));
            let caller = std::thread::current().id();
            let shared = catch_unwind(AssertUnwindSafe(|| {
                share(100, 3, &|_| {
                    ran.fetch_add(1, Ordering::Relaxed);
                    if std::thread::current().id() == caller {
                        has_begun.store(true, Ordering::Relaxed);
                        panic!("a piece that panics");
                    }
                    // The calling thread has a piece too.
                    while !has_begun.load(Ordering::Relaxed) {
                        std::thread::yield_now();
                    }
                });
            }));
            assert!(shared.is_err(), "the calling thread took no piece");
            let after = ran.load(Ordering::Relaxed);
            std::thread::yield_now();
            assert_eq!(ran.load(Ordering::Relaxed), after);
        }
    }
}
