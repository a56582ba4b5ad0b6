//! Slots of the module cache: a module, and who uses it.
//!
//! A distributed reference count: each [`Visit`] counts uses of its own, so that threads that use one module
//! at the same time write to no common cache line. Guaranteed: a module is taken out of its slot when nobody
//! uses it, and nobody gets it after that.
//!
//! # Why a use needs no lock
//!
//! A slot is *closed* before its module is taken out. Whoever comes again counts its use first and looks
//! afterwards whether the slot is closed; whoever takes the module out closes the slot first and looks at the
//! counts afterwards. All four accesses are sequentially consistent, so in their one order one of the two
//! looks after the other has written (store buffering, [Boehm and Adve, "Foundations of the C++ Concurrency
//! Memory Model"](https://doi.org/10.1145/1375581.1375591)): a use that is not seen is given back
//! by its own thread, which does not touch the module. The count of uses is only changed by
//! read-modify-write operations, so whoever reads that there is none sees all that earlier uses did.
//! `tests/models` runs this in every order.

use crate::sync::{
    Arc, AtomicBool, AtomicU64, AtomicUsize, Mutex, Ordering, UnsafeCell, model_fence, thread_tick,
};

/// Where a module is, or will be.
pub(super) struct Slot<M> {
    /// Held while the module is loaded.
    pub(super) loading: Mutex<Loading>,
    module: UnsafeCell<Option<M>>,
    /// Whether it takes no uses any more, or is being asked whether it has some.
    closed: AtomicBool,
}

// SAFETY: the module is shared while there are uses, and taken out by one thread when there are none.
unsafe impl<M: Send + Sync> Sync for Slot<M> {}
// SAFETY: it owns its module.
unsafe impl<M: Send> Send for Slot<M> {}

/// What became of the load of a slot.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Loading {
    NotYet,
    Loaded,
    /// The slot is dead: whoever waited for it looks for another.
    Failed,
}

/// The uses of a module by one thread, on a cache line of their own.
#[repr(align(128))]
pub(crate) struct Visit<K, M> {
    key: K,
    pub(super) slot: Arc<Slot<M>>,
    /// Uses that are not over.
    uses: AtomicUsize,
    /// Uses that found the module loaded. Written by the thread of the visit alone.
    hits: AtomicU64,
    last_used: Moment,
}

/// When something was used last: how many modules had been asked for by then, and the thread's own count.
///
/// Exact among the uses of one thread. Uses by two threads are in order where somebody has asked for a module
/// that was not at hand in between.
#[derive(Default)]
struct Moment {
    epoch: AtomicU64,
    tick: AtomicU64,
}

/// A slot that is in the table, or was forgotten while somebody used it. Changed under the table's lock.
pub(super) struct Entry<K, M> {
    pub(super) slot: Arc<Slot<M>>,
    visits: Vec<Arc<Visit<K, M>>>,
    /// The bytes of the binary, once it is loaded.
    pub(super) bytes: Option<u64>,
    /// Hits of visits that are gone.
    hits: u64,
    /// The last use by visits that are gone.
    last_used: (u64, u64),
}

impl<M> Slot<M> {
    /// # Safety
    ///
    /// The caller holds `loading`, which is `NotYet`.
    pub(super) unsafe fn store(&self, module: M) {
        // SAFETY: nobody reads the module before `loading` says that it is there.
        self.module.with_mut(|place| unsafe { *place = Some(module) });
    }

    /// # Safety
    ///
    /// The module is loaded, and the caller uses the slot, or has closed it under the table's lock.
    pub(super) unsafe fn module(&self) -> &M {
        // SAFETY: it is not taken out while somebody uses it, nor by another thread under the table's lock.
        let module = self.module.with(|place| unsafe { &*place }.as_ref());
        module.expect("promised to be loaded")
    }
}

impl<K: Copy, M> Visit<K, M> {
    pub(crate) fn key(&self) -> &K {
        &self.key
    }

    /// Counts a use, and looks whether the slot still takes uses.
    pub(super) fn begin_again(&self) -> Again {
        self.uses.fetch_add(1, Ordering::SeqCst);
        model_fence();
        if self.slot.closed.load(Ordering::SeqCst) { Again::Closed } else { Again::Begun }
    }

    /// Ends a use; whether it was the last one of the visit.
    pub(super) fn end(&self, epoch: u64) -> bool {
        self.last_used.set(epoch);
        let is_last = self.uses.fetch_sub(1, Ordering::SeqCst) == 1;
        model_fence();
        is_last
    }

    pub(super) fn count_hit(&self) {
        self.hits.store(self.hits.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }
}

/// Whether a slot has taken a use. It is counted either way, and has to be ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Again {
    Begun,
    Closed,
}

impl Moment {
    fn set(&self, epoch: u64) {
        self.epoch.store(epoch, Ordering::Relaxed);
        self.tick.store(thread_tick(), Ordering::Relaxed);
    }

    fn get(&self) -> (u64, u64) {
        (self.epoch.load(Ordering::Relaxed), self.tick.load(Ordering::Relaxed))
    }
}

impl<K: Copy, M> Entry<K, M> {
    pub(super) fn new() -> Self {
        let slot = Slot {
            loading: Mutex::new(Loading::NotYet),
            module: UnsafeCell::new(None),
            closed: AtomicBool::new(false),
        };
        Self { slot: Arc::new(slot), visits: Vec::new(), bytes: None, hits: 0, last_used: (0, 0) }
    }

    /// A visit with a use, by a thread that has none at hand.
    pub(super) fn visit(&mut self, key: K) -> Arc<Visit<K, M>> {
        let (hits, last_used) = (&mut self.hits, &mut self.last_used);
        self.visits.retain_mut(|visit| {
            // Nobody but this list knows it.
            let Some(gone) = Arc::get_mut(visit) else { return true };
            *hits += gone.hits.load(Ordering::Relaxed);
            *last_used = gone.last_used.get().max(*last_used);
            false
        });
        let visit = Arc::new(Visit {
            key,
            slot: Arc::clone(&self.slot),
            uses: AtomicUsize::new(1),
            hits: AtomicU64::new(0),
            last_used: Moment::default(),
        });
        self.visits.push(Arc::clone(&visit));
        visit
    }

    pub(super) fn is_held(&self) -> bool {
        self.visits.iter().any(|visit| visit.uses.load(Ordering::SeqCst) != 0)
    }

    /// Lets the slot take no more uses.
    pub(super) fn close(&self) {
        self.slot.closed.store(true, Ordering::SeqCst);
        model_fence();
    }

    /// Takes that back.
    pub(super) fn reopen(&self) {
        self.slot.closed.store(false, Ordering::SeqCst);
    }

    /// Takes the module out, where there is one.
    ///
    /// # Safety
    ///
    /// The slot was closed, and after that nobody held it.
    pub(super) unsafe fn take(&self) -> Option<M> {
        // SAFETY: nobody has the module, and nobody gets it any more.
        self.slot.module.with_mut(|place| unsafe { &mut *place }.take())
    }

    pub(super) fn hits(&self) -> u64 {
        let visits = self.visits.iter().map(|visit| visit.hits.load(Ordering::Relaxed));
        self.hits + visits.sum::<u64>()
    }

    pub(super) fn last_used(&self) -> (u64, u64) {
        let visits = self.visits.iter().map(|visit| visit.last_used.get());
        visits.max().unwrap_or_default().max(self.last_used)
    }
}
