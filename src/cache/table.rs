//! The table of the module cache, over any type of key and of module.
//!
//! Invariants: the table's lock is never held while a module is loaded or unloaded; an entry with
//! uses is in the table; an entry without uses has its module. Checked by models in `tests/models`.

use std::{collections::HashMap, hash::Hash};

use crate::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// What a module cache holds, and what it did so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheStatistics {
    /// Modules that are loaded now.
    pub loaded: u64,
    /// Of these, those in use.
    pub held: u64,
    /// Modules loaded so far.
    pub loads: u64,
    /// Modules unloaded so far.
    pub unloads: u64,
    /// Requests that found their module loaded, or waited for somebody else to load it.
    pub hits: u64,
    /// Loads that failed.
    pub failures: u64,
}

pub(super) struct Table<K, M> {
    state: Mutex<State<K, M>>,
}

struct State<K, M> {
    entries: HashMap<K, Entry<M>>,
    capacity: usize,
    /// Counts releases: the order in which entries were used last.
    clock: u64,
    loads: u64,
    unloads: u64,
    hits: u64,
    failures: u64,
}

struct Entry<M> {
    slot: Arc<Slot<M>>,
    uses: usize,
    last_used: u64,
    /// Its context is gone: it goes with its last use.
    orphan: bool,
}

/// Where a module is, or will be.
struct Slot<M> {
    module: OnceLock<M>,
    /// Held while the module is loaded; true: loading failed, and the slot is dead.
    failed: Mutex<bool>,
}

/// A use of a module; dropping it releases the use.
pub(super) struct Hold<'t, K: Copy + Eq + Hash, M> {
    table: &'t Table<K, M>,
    key: K,
    slot: Arc<Slot<M>>,
}

impl<K: Copy + Eq + Hash, M> Table<K, M> {
    pub(super) fn new(capacity: usize) -> Self {
        let entries = HashMap::new();
        let (clock, loads, unloads, hits, failures) = (0, 0, 0, 0, 0);
        let state = State { entries, capacity, clock, loads, unloads, hits, failures };
        Self { state: Mutex::new(state) }
    }

    /// The module for `key`; `load` is called if nobody has loaded it. Where it fails there is no
    /// entry, and whoever waited for it tries for itself.
    pub(super) fn hold<E>(
        &self,
        key: K,
        load: impl FnOnce() -> Result<M, E>,
    ) -> Result<Hold<'_, K, M>, E> {
        loop {
            let hold = self.enter(key);
            let slot = Arc::clone(&hold.slot);
            if slot.module.get().is_none() {
                let mut failed = unpoisoned(&slot.failed);
                if *failed {
                    drop(failed);
                    continue;
                }
                if slot.module.get().is_none() {
                    let result = load();
                    *failed = result.is_err();
                    self.finish(&hold, result)?;
                    drop(failed);
                    self.trim();
                    return Ok(hold);
                }
            }
            self.lock().hits += 1;
            return Ok(hold);
        }
    }

    /// Takes a use of the entry for `key`, a new one if there is none.
    fn enter(&self, key: K) -> Hold<'_, K, M> {
        let mut state = self.lock();
        let entry = state.entries.entry(key).or_insert_with(|| {
            let slot = Slot { module: OnceLock::new(), failed: Mutex::new(false) };
            Entry { slot: Arc::new(slot), uses: 0, last_used: 0, orphan: false }
        });
        entry.uses += 1;
        Hold { table: self, key, slot: Arc::clone(&entry.slot) }
    }

    /// Stores what loading gave; the entry of a failure is removed.
    fn finish<E>(&self, hold: &Hold<'_, K, M>, result: Result<M, E>) -> Result<(), E> {
        let mut state = self.lock();
        match result {
            Ok(module) => {
                state.loads += 1;
                let stored = hold.slot.module.set(module);
                debug_assert!(stored.is_ok(), "only who has the slot's lock stores");
                Ok(())
            }
            Err(error) => {
                state.failures += 1;
                state.entries.remove(&hold.key);
                Err(error)
            }
        }
    }

    /// Gives a use back.
    fn leave(&self, key: K, slot: &Arc<Slot<M>>) {
        let mut state = self.lock();
        state.clock += 1;
        let clock = state.clock;
        // The entry of a failed load is gone, and another may have taken its place.
        let Some(entry) = state.entries.get_mut(&key) else { return };
        if !Arc::ptr_eq(&entry.slot, slot) {
            return;
        }
        entry.uses -= 1;
        entry.last_used = clock;
        let unneeded = entry.uses == 0 && (entry.orphan || entry.slot.module.get().is_none());
        let removed = if unneeded { state.remove(key) } else { None };
        drop(state);
        drop(removed);
        self.trim();
    }

    /// Removes the entries that nobody uses and whose key is `chosen`; of those in use, which
    /// stay, the ones whose context is `gone` are removed with their last use.
    pub(super) fn release(&self, chosen: impl Fn(&K) -> bool, gone: bool) {
        let mut removed = Vec::new();
        let mut state = self.lock();
        let keys: Vec<K> = state.entries.keys().copied().filter(|key| chosen(key)).collect();
        for key in keys {
            if let Some(entry) = state.entries.get_mut(&key) {
                entry.orphan |= gone;
                if entry.uses == 0 {
                    removed.push(state.remove(key));
                }
            }
        }
        drop(state);
        drop(removed);
    }

    pub(super) fn set_capacity(&self, capacity: usize) {
        self.lock().capacity = capacity;
        self.trim();
    }

    /// Removes unused entries, the one unused for longest first, until the rest is within the
    /// capacity.
    fn trim(&self) {
        let mut removed = Vec::new();
        let mut state = self.lock();
        while state.entries.len() > state.capacity {
            let unused = state.entries.iter().filter(|(_, entry)| entry.uses == 0);
            let oldest = unused.min_by_key(|(_, entry)| entry.last_used).map(|(key, _)| *key);
            let Some(key) = oldest else { break };
            removed.push(state.remove(key));
        }
        drop(state);
        drop(removed);
    }

    pub(super) fn statistics(&self) -> CacheStatistics {
        let state = self.lock();
        let loaded = state.entries.values().filter(|entry| entry.slot.module.get().is_some());
        CacheStatistics {
            loaded: loaded.clone().count() as u64,
            held: loaded.filter(|entry| entry.uses > 0).count() as u64,
            loads: state.loads,
            unloads: state.unloads,
            hits: state.hits,
            failures: state.failures,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<K, M>> {
        unpoisoned(&self.state)
    }
}

impl<K: Copy + Eq + Hash, M> State<K, M> {
    /// Takes an entry out; its module is unloaded when the caller drops it, without the lock.
    fn remove(&mut self, key: K) -> Option<Entry<M>> {
        let entry = self.entries.remove(&key)?;
        self.unloads += u64::from(entry.slot.module.get().is_some());
        Some(entry)
    }
}

impl<K: Copy + Eq + Hash, M> Hold<'_, K, M> {
    pub(super) fn module(&self) -> &M {
        self.slot.module.get().expect("`hold` returns after the module is stored")
    }

    pub(super) fn key(&self) -> &K {
        &self.key
    }
}

impl<K: Copy + Eq + Hash, M> Drop for Hold<'_, K, M> {
    fn drop(&mut self) {
        self.table.leave(self.key, &self.slot);
    }
}

/// Locks, also after a panic of somebody who had it: each critical section leaves a whole state.
fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
