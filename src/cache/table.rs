//! The table of the module cache, over any type of key and of module.
//!
//! Invariants: the table's lock is never held while a module is loaded or unloaded; a slot with uses is in
//! the table, or among those that were forgotten; a slot without uses has its module. Whoever remembers its
//! [`Visit`] of a slot uses it again without that lock. Checked by models in `tests/models`.

use std::{collections::HashMap, hash::Hash};

use super::slot::{Again, Entry, Loading, Slot, Visit};
use crate::sync::{
    Arc, AtomicBool, AtomicU64, Mutex, MutexGuard, Ordering, PoisonError, model_fence,
};

/// What a module cache holds, and what it did so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheStatistics {
    /// Modules that are loaded now.
    pub loaded: u64,
    /// Of these, those in use.
    pub held: u64,
    /// Bytes of the binaries that are loaded now. Kernels for the processor are a part of the application, and
    /// count as none.
    pub bytes: u64,
    /// Modules loaded so far.
    pub loads: u64,
    /// Modules unloaded so far, for whatever reason.
    pub unloads: u64,
    /// Of these, those that had to go because there were too many modules or too many bytes.
    pub evictions: u64,
    /// Requests that found their module loaded, or waited for somebody else to load it.
    pub hits: u64,
    /// Loads that failed.
    pub failures: u64,
}

pub(super) struct Table<K, M> {
    state: Mutex<State<K, M>>,
    /// Whether modules wait for their last use to end, to be unloaded.
    overdue: AtomicBool,
    /// How many modules were asked for under the lock.
    epoch: AtomicU64,
    /// Whether work of a module that nobody uses is in flight. Called under the lock.
    is_busy: fn(&M) -> bool,
}

struct State<K, M> {
    entries: HashMap<K, Entry<K, M>>,
    /// What was forgotten while it was used: unloaded with the last use.
    forgotten: Vec<Entry<K, M>>,
    capacity: usize,
    byte_budget: u64,
    /// What the cache did, without the hits of entries that are there.
    done: CacheStatistics,
}

/// A use of a module; dropping it ends the use.
pub(super) struct Hold<'t, K: Copy + Eq + Hash, M> {
    table: &'t Table<K, M>,
    visit: Arc<Visit<K, M>>,
}

/// A load that is going on. Where it is dropped, the load has failed.
struct Attempt<'a, K: Copy + Eq + Hash, M> {
    table: &'a Table<K, M>,
    visit: &'a Visit<K, M>,
    loading: MutexGuard<'a, Loading>,
}

impl<K: Copy + Eq + Hash, M> Table<K, M> {
    /// A table that keeps at most `capacity` modules, of any number of bytes.
    pub(super) fn new(capacity: usize, is_busy: fn(&M) -> bool) -> Self {
        let state = State {
            entries: HashMap::new(),
            forgotten: Vec::new(),
            capacity,
            byte_budget: u64::MAX,
            done: CacheStatistics::default(),
        };
        let (overdue, epoch) = (AtomicBool::new(false), AtomicU64::new(0));
        Self { state: Mutex::new(state), overdue, epoch, is_busy }
    }

    /// The module for `key`; `load` is called if nobody has loaded it, and gives the module and the bytes
    /// of its binary. Where it fails or panics there is no entry, and whoever waited for it tries for itself.
    pub(super) fn hold<E>(
        &self,
        key: K,
        load: impl FnOnce() -> Result<(M, u64), E>,
    ) -> Result<Hold<'_, K, M>, E> {
        loop {
            let hold = self.enter(key);
            let loading = unpoisoned(&hold.visit.slot.loading);
            match *loading {
                Loading::Failed => {}
                Loading::Loaded => {
                    drop(loading);
                    hold.visit.count_hit();
                    return Ok(hold);
                }
                Loading::NotYet => {
                    let attempt = Attempt { table: self, visit: &hold.visit, loading };
                    let (module, bytes) = load()?;
                    attempt.finish(module, bytes);
                    self.sweep();
                    return Ok(hold);
                }
            }
        }
    }

    /// The module of a visit that a hold of this table has given, without a lock that others use. `None`
    /// where it is gone, or may be about to go.
    pub(super) fn again(&self, visit: &Arc<Visit<K, M>>) -> Option<Hold<'_, K, M>> {
        let again = visit.begin_again();
        let hold = Hold { table: self, visit: Arc::clone(visit) };
        if again == Again::Closed {
            return None;
        }
        visit.count_hit();
        Some(hold)
    }

    /// Takes a use of the entry for `key`, a new one if there is none.
    fn enter(&self, key: K) -> Hold<'_, K, M> {
        let mut state = self.lock();
        self.epoch.fetch_add(1, Ordering::Relaxed);
        let visit = state.entries.entry(key).or_insert_with(Entry::new).visit(key);
        Hold { table: self, visit }
    }

    /// Unloads the modules that nobody uses.
    pub(super) fn release_unused(&self) {
        let mut state = self.lock();
        let keys: Vec<K> = state.entries.keys().copied().collect();
        let removed: Vec<_> =
            keys.into_iter().filter_map(|key| state.retire(key, |_| true)).collect();
        drop(state);
        drop(removed);
    }

    /// Unloads those of some modules that nobody uses and that have no work in flight; the keys of those that have.
    pub(super) fn release_idle(&self, keys: Vec<K>) -> Vec<K> {
        let (mut removed, mut busy) = (Vec::new(), Vec::new());
        let mut state = self.lock();
        for key in keys {
            removed.extend(state.retire(key, |module| !(self.is_busy)(module)));
            if state.entries.get(&key).is_some_and(|it| it.bytes.is_some() && !it.is_held()) {
                busy.push(key);
            }
        }
        drop(state);
        drop(removed);
        busy
    }

    /// Forgets the entries whose key is `chosen`: their modules are unloaded, those in use with their last
    /// use, and whoever asks for one of them from now on loads it again.
    pub(super) fn forget(&self, chosen: impl Fn(&K) -> bool) {
        let mut state = self.lock();
        let gone: Vec<_> = state.entries.extract_if(|key, _| chosen(key)).collect();
        for (_, entry) in gone {
            entry.close();
            state.forgotten.push(entry);
        }
        drop(state);
        self.sweep();
    }

    pub(super) fn set_capacity(&self, capacity: usize) {
        self.lock().capacity = capacity;
        self.sweep();
    }

    pub(super) fn set_byte_budget(&self, bytes: u64) {
        self.lock().byte_budget = bytes;
        self.sweep();
    }

    /// Unloads what was forgotten and is not in use any more. Then unloads unused modules, the one unused for
    /// longest first, until the rest is within the limits.
    fn sweep(&self) {
        let mut state = self.lock();
        if !state.is_overdue() {
            self.overdue.store(false, Ordering::SeqCst);
            return;
        }
        // Whoever ends a use from now on comes here too; uses that have ended are seen below.
        self.overdue.store(true, Ordering::SeqCst);
        model_fence();
        let mut removed = state.take_forgotten();
        state.evict(self.is_busy, &mut removed);
        if !state.is_overdue() {
            self.overdue.store(false, Ordering::SeqCst);
        }
        drop(state);
        drop(removed);
    }

    pub(super) fn statistics(&self) -> CacheStatistics {
        let state = self.lock();
        let all = || state.entries.values().chain(&state.forgotten);
        let loaded = || all().filter(|entry| entry.bytes.is_some());
        CacheStatistics {
            loaded: loaded().count() as u64,
            held: loaded().filter(|entry| entry.is_held()).count() as u64,
            hits: state.done.hits + all().map(Entry::hits).sum::<u64>(),
            bytes: state.bytes(),
            ..state.done
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<K, M>> {
        unpoisoned(&self.state)
    }
}

impl<K: Copy + Eq + Hash, M> State<K, M> {
    fn bytes(&self) -> u64 {
        let all = self.entries.values().chain(&self.forgotten);
        all.filter_map(|entry| entry.bytes).sum()
    }

    fn has_too_many(&self) -> bool {
        self.entries.len() + self.forgotten.len() > self.capacity
    }

    fn is_overdue(&self) -> bool {
        !self.forgotten.is_empty() || self.has_too_many() || self.bytes() > self.byte_budget
    }

    /// Takes out what was forgotten and is not used any more. Its slots are closed.
    fn take_forgotten(&mut self) -> Vec<M> {
        let gone: Vec<_> = self.forgotten.extract_if(.., |entry| !entry.is_held()).collect();
        gone.into_iter().filter_map(|entry| self.unload(&entry)).collect()
    }

    /// Takes unused modules out, the one unused for longest first, until the rest is within the limits.
    fn evict(&mut self, is_busy: fn(&M) -> bool, removed: &mut Vec<M>) {
        let unused = |(_, entry): &(&K, &Entry<K, M>)| entry.bytes.is_some() && !entry.is_held();
        let mut unused: Vec<_> = self.entries.iter().filter(unused).collect();
        unused.sort_by_key(|(_, entry)| entry.last_used());
        let unused: Vec<_> = unused.into_iter().map(|(key, entry)| (*key, entry.bytes)).collect();
        for (key, bytes) in unused {
            let has_many_bytes = self.bytes() > self.byte_budget && bytes != Some(0);
            if (self.has_too_many() || has_many_bytes)
                && let Some(module) = self.retire(key, |module| !is_busy(module))
            {
                self.done.evictions += 1;
                removed.push(module);
            }
        }
    }

    /// Takes a module out that nobody uses and that can go; the caller drops it, without the lock.
    fn retire(&mut self, key: K, can_go: impl FnOnce(&M) -> bool) -> Option<M> {
        let entry = self.entries.get(&key).filter(|entry| entry.bytes.is_some())?;
        entry.close();
        // SAFETY: the slot is closed, its module is loaded, and this is under the lock.
        if entry.is_held() || !can_go(unsafe { entry.slot.module() }) {
            entry.reopen();
            return None;
        }
        let entry = self.entries.remove(&key)?;
        self.unload(&entry)
    }

    /// The module of an entry that is closed and that nobody holds.
    fn unload(&mut self, entry: &Entry<K, M>) -> Option<M> {
        self.done.hits += entry.hits();
        // SAFETY: as said; nobody could begin a use since.
        let module = unsafe { entry.take() };
        self.done.unloads += u64::from(module.is_some());
        module
    }

    /// The entry of a slot, wherever it is.
    fn entry(&mut self, key: K, slot: &Arc<Slot<M>>) -> Option<&mut Entry<K, M>> {
        let is_it = |entry: &&mut Entry<K, M>| Arc::ptr_eq(&entry.slot, slot);
        let in_table = self.entries.get_mut(&key).filter(is_it);
        in_table.or_else(|| self.forgotten.iter_mut().find(is_it))
    }
}

impl<K: Copy + Eq + Hash, M> Attempt<'_, K, M> {
    /// Stores what loading gave.
    fn finish(mut self, module: M, bytes: u64) {
        let mut state = self.table.lock();
        // SAFETY: `loading` is held, and was `NotYet`.
        unsafe { self.visit.slot.store(module) };
        *self.loading = Loading::Loaded;
        state.done.loads += 1;
        let entry = state.entry(*self.visit.key(), &self.visit.slot);
        entry.expect("a slot with uses is there").bytes = Some(bytes);
    }
}

impl<K: Copy + Eq + Hash, M> Drop for Attempt<'_, K, M> {
    fn drop(&mut self) {
        if *self.loading == Loading::Loaded {
            return;
        }
        *self.loading = Loading::Failed;
        let mut state = self.table.lock();
        state.done.failures += 1;
        let is_it = |entry: &Entry<K, M>| Arc::ptr_eq(&entry.slot, &self.visit.slot);
        if state.entries.get(self.visit.key()).is_some_and(is_it) {
            state.entries.remove(self.visit.key());
        }
        state.forgotten.retain(|entry| !is_it(entry));
    }
}

impl<K: Copy + Eq + Hash, M> Hold<'_, K, M> {
    pub(super) fn module(&self) -> &M {
        // SAFETY: `hold` and `again` return after the module is stored, and this is a use.
        unsafe { self.visit.slot.module() }
    }

    pub(super) fn key(&self) -> &K {
        self.visit.key()
    }

    /// What to remember for [`Table::again`].
    pub(super) fn visit(&self) -> &Arc<Visit<K, M>> {
        &self.visit
    }
}

impl<K: Copy + Eq + Hash, M> Drop for Hold<'_, K, M> {
    fn drop(&mut self) {
        let epoch = self.table.epoch.load(Ordering::Relaxed);
        if self.visit.end(epoch) && self.table.overdue.load(Ordering::SeqCst) {
            self.table.sweep();
        }
    }
}

/// Locks, also after a panic of somebody who had it: each critical section leaves a whole state.
fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
