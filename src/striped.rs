//! Striped reference counts: a value that many threads take and give back at once, and no cache line that all of them write.
//!
//! Each stripe is a reference-counted copy of the value, whose count is on a cache line of its own. A thread always uses
//! the same stripe, and as many threads as there are stripes use different ones where they have begun one after the other.
//! The idea is that of [sloppy counters](https://pdos.csail.mit.edu/papers/linux:osdi10.pdf).

use std::{
    cell::Cell,
    ops::Deref,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};

/// The stripes of a value.
const STRIPES: usize = 16;

/// A value whose stripes are made when a thread first asks for one.
#[derive(Debug)]
pub(crate) struct Striped<T>([OnceLock<Arc<Stripe<T>>>; STRIPES]);

/// A value that begins a cache line, so that its reference count is alone on another.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Stripe<T>(T);

impl<T> Striped<T> {
    pub(crate) const fn new() -> Self {
        Self([const { OnceLock::new() }; STRIPES])
    }

    /// The value for the calling thread, made by `copy` where it is the first of its stripe. All copies are the same.
    #[inline]
    pub(crate) fn get(&self, copy: impl FnOnce() -> T) -> Arc<Stripe<T>> {
        Arc::clone(self.0[own_stripe()].get_or_init(|| Stripe::new(copy())))
    }
}

impl<T> Stripe<T> {
    pub(crate) fn new(value: T) -> Arc<Self> {
        Arc::new(Self(value))
    }
}

impl<T> Deref for Stripe<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// The stripe of the calling thread: threads get them in turn.
#[inline]
fn own_stripe() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static OWN: Cell<usize> = const { Cell::new(STRIPES) };
    }
    let own = |own: &Cell<usize>| {
        if own.get() == STRIPES {
            own.set(NEXT.fetch_add(1, Ordering::Relaxed) % STRIPES);
        }
        own.get()
    };
    // A thread that ends has none any more.
    OWN.try_with(own).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{collections::BTreeSet, sync::Barrier, thread};

    #[test]
    fn threads_of_different_stripes_share_no_line() {
        let striped = Striped::new();
        let (all_have_one, all_have_counted) = (Barrier::new(8), Barrier::new(8));
        let take = || {
            let (one, again) = (striped.get(|| 7), striped.get(|| unreachable!("it is there")));
            assert!(**one == 7 && Arc::ptr_eq(&one, &again));
            all_have_one.wait();
            let count = Arc::strong_count(&one);
            all_have_counted.wait();
            (own_stripe(), Arc::as_ptr(&one).addr(), count)
        };
        let taken: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(take)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        // Threads of other tests have stripes too, so that two of these may have the same one.
        let stripes: BTreeSet<_> = taken.iter().map(|(stripe, ..)| stripe).collect();
        assert!(stripes.len() > 1, "{taken:?}");
        for (stripe, address, count) in &taken {
            let same = taken.iter().filter(|(other, ..)| other == stripe);
            // Two of each thread, and that of the list.
            assert_eq!(*count, 2 * same.count() + 1);
            // A count is before its value, on a line that nothing else is on.
            assert!(address.is_multiple_of(128), "{taken:?}");
            assert!(taken.iter().all(|it| (it.0 == *stripe) == (it.1 == *address)), "{taken:?}");
        }
    }

    #[test]
    fn what_is_taken_outlives_the_list() {
        let value = Arc::new(());
        let striped = Striped::new();
        let taken = striped.get(|| Arc::clone(&value));
        drop(striped);
        assert_eq!(Arc::strong_count(&value), 2);
        drop(taken);
        assert_eq!(Arc::strong_count(&value), 1);
    }
}
