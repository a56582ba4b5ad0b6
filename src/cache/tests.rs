//! The table, with modules that count how often they are loaded and unloaded.

use std::{
    convert::Infallible,
    sync::{
        Arc, Barrier,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use super::{
    slot::Visit,
    table::{Hold, Table},
};

/// A context number and a module number.
type Key = (u32, u32);

#[derive(Default)]
struct Driver {
    loaded: AtomicU64,
    unloaded: AtomicU64,
}

struct Module<'d> {
    key: Key,
    driver: &'d Driver,
}

impl Driver {
    fn load(&self, key: Key) -> Module<'_> {
        self.loaded.fetch_add(1, Ordering::SeqCst);
        Module { key, driver: self }
    }

    fn counts(&self) -> (u64, u64) {
        (self.loaded.load(Ordering::SeqCst), self.unloaded.load(Ordering::SeqCst))
    }
}

impl Drop for Module<'_> {
    fn drop(&mut self) {
        self.driver.unloaded.fetch_add(1, Ordering::SeqCst);
    }
}

fn hold<'t, 'd>(
    table: &'t Table<Key, Module<'d>>,
    driver: &'d Driver,
    key: Key,
) -> Hold<'t, Key, Module<'d>> {
    match table.hold(key, || Ok::<_, Infallible>((driver.load(key), BYTES))) {
        Ok(hold) => hold,
    }
}

/// A table whose modules have no work in flight.
fn new_table<'d>(capacity: usize) -> Table<Key, Module<'d>> {
    Table::new(capacity, |_| false)
}

/// The bytes of each module.
const BYTES: u64 = 100;

/// Acceptance: S4.1, S4.3, S4.6, S4.8, C25.
#[test]
fn many_kernels_are_each_loaded_once_warm_and_again_after_release() {
    let driver = Driver::default();
    let table = new_table(1000);
    let sum = || (0..70).map(|id| hold(&table, &driver, (0, id)).module().key.1 + 1).sum::<u32>();
    assert_eq!(sum(), 2485);
    assert_eq!(driver.counts(), (70, 0));
    assert_eq!(sum(), 2485);
    assert_eq!(driver.counts(), (70, 0));
    assert_eq!((table.statistics().loaded, table.statistics().hits), (70, 70));
    table.release_unused();
    assert_eq!(driver.counts(), (70, 70));
    table.release_unused();
    assert_eq!(driver.counts(), (70, 70));
    assert_eq!(sum(), 2485);
    drop(table);
    assert_eq!(driver.counts(), (140, 140));
}

/// Acceptance: S4.2, S4.6.
#[test]
fn one_binary_in_two_contexts_is_two_modules_and_one_context_goes_alone() {
    let driver = Driver::default();
    let table = new_table(10);
    assert_eq!(hold(&table, &driver, (1, 7)).module().key, (1, 7));
    assert_eq!(hold(&table, &driver, (2, 7)).module().key, (2, 7));
    table.forget(|key| key.0 == 1);
    assert_eq!(driver.counts(), (2, 1));
    hold(&table, &driver, (2, 7));
    assert_eq!(driver.counts(), (2, 1));
    hold(&table, &driver, (1, 7));
    assert_eq!(driver.counts(), (3, 1));
}

/// Acceptance: S3.1, S4.5, S4.7.
#[test]
fn held_modules_survive_their_context_and_go_with_their_last_use() {
    let driver = Driver::default();
    let table = new_table(10);
    let first = hold(&table, &driver, (1, 1));
    let second = hold(&table, &driver, (1, 1));
    table.forget(|key| key.0 == 1);
    assert_eq!(first.module().key, (1, 1));
    drop(first);
    assert_eq!(driver.counts(), (1, 0));
    drop(second);
    assert_eq!(driver.counts(), (1, 1));
    assert_eq!(table.statistics().loaded, 0);
}

/// Acceptance: S4.3.
#[test]
fn a_load_that_fails_leaves_no_entry() {
    let driver = Driver::default();
    let table = new_table(10);
    for _ in 0..3 {
        let failed = table.hold((1, 1), || Err::<(Module<'_>, u64), _>("refused"));
        assert_eq!(failed.err(), Some("refused"));
        assert_eq!((table.statistics().loaded, table.statistics().held), (0, 0));
    }
    assert_eq!(table.statistics().failures, 3);
    hold(&table, &driver, (1, 1));
    assert_eq!(driver.counts(), (1, 0));
}

/// Acceptance: S4.3.
#[test]
fn a_load_that_panics_leaves_no_entry() {
    let driver = Driver::default();
    let table = new_table(10);
    let attempt = std::panic::AssertUnwindSafe(|| {
        let _ = table.hold((1, 1), || -> Result<_, Infallible> { panic!("in the driver") });
    });
    assert!(std::panic::catch_unwind(attempt).is_err());
    assert_eq!(hold(&table, &driver, (1, 1)).module().key, (1, 1));
    assert_eq!(driver.counts(), (1, 0));
}

/// Acceptance: S4.13.
#[test]
fn the_one_unused_for_longest_goes_first_and_held_ones_stay() {
    let driver = Driver::default();
    let table = new_table(2);
    let held = hold(&table, &driver, (0, 1));
    for id in [2, 3, 2, 4] {
        hold(&table, &driver, (0, id));
    }
    // 1 is held, so there is room for one more at a time.
    assert_eq!(driver.counts(), (5, 3));
    hold(&table, &driver, (0, 4));
    hold(&table, &driver, (0, 1));
    assert_eq!(driver.counts(), (5, 3));
    table.set_capacity(0);
    assert_eq!(driver.counts(), (5, 4));
    drop(held);
    assert_eq!(driver.counts(), (5, 5));
    drop(table);
    let table = new_table(10);
    for id in (0..10).chain((1..10).rev()) {
        hold(&table, &driver, (0, id));
    }
    // 0 was used first, then 9 to 1: they go in this order.
    for gone in [0, 9, 8, 7] {
        hold(&table, &driver, (0, 100 + gone));
        let before = driver.counts().0;
        for id in (1..gone.min(9)).rev() {
            hold(&table, &driver, (0, id));
        }
        assert_eq!(driver.counts().0, before, "{gone} goes, nothing smaller");
    }
}

/// Acceptance: S4.9.
#[test]
fn threads_that_race_load_once() {
    for _ in 0..20 {
        let driver = Driver::default();
        let table = new_table(10);
        let start = Barrier::new(8);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    start.wait();
                    let slow = || {
                        thread::sleep(Duration::from_millis(1));
                        Ok::<_, Infallible>((driver.load((1, 1)), BYTES))
                    };
                    let Ok(hold) = table.hold((1, 1), slow);
                    assert_eq!(hold.module().key, (1, 1));
                });
            }
        });
        assert_eq!(driver.counts(), (1, 0));
        assert_eq!((table.statistics().hits, table.statistics().held), (7, 0));
    }
}

/// Acceptance: S4.9.
#[test]
fn threads_that_wait_for_a_load_that_fails_try_for_themselves() {
    let driver = Driver::default();
    let table = new_table(10);
    let (start, attempts) = (Barrier::new(8), AtomicU64::new(0));
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                start.wait();
                let result = table.hold((1, 1), || {
                    thread::sleep(Duration::from_millis(1));
                    match attempts.fetch_add(1, Ordering::SeqCst) {
                        0..3 => Err("refused"),
                        _ => Ok((driver.load((1, 1)), BYTES)),
                    }
                });
                result.map(|hold| assert_eq!(hold.module().key, (1, 1))).is_ok()
            });
        }
    });
    assert_eq!(attempts.load(Ordering::SeqCst), 4);
    assert_eq!(driver.counts(), (1, 0));
    assert_eq!(table.statistics().failures, 3);
}

/// Acceptance: S4.9.
#[test]
fn loading_one_module_does_not_hold_up_another() {
    let driver = Driver::default();
    let table = new_table(10);
    let _outer = table.hold((1, 1), || {
        let inner = hold(&table, &driver, (1, 2));
        table.release_unused();
        assert_eq!(inner.module().key, (1, 2));
        Ok::<_, Infallible>((driver.load((1, 1)), BYTES))
    });
    assert_eq!(driver.counts(), (2, 0));
}

/// Acceptance: S4.8, C25.
#[test]
fn many_contexts_on_many_threads_end_with_as_many_unloads_as_loads() {
    let driver = Driver::default();
    let table = new_table(16);
    thread::scope(|scope| {
        for thread in 0..4u32 {
            let (table, driver) = (&table, &driver);
            scope.spawn(move || {
                for round in 0..10 {
                    // Two threads share each context.
                    let context = (thread / 2) * 100 + round;
                    let holds: Vec<_> =
                        (1..=3).map(|id| hold(table, driver, (context, id))).collect();
                    assert_eq!(holds.iter().map(|hold| hold.module().key.1).sum::<u32>(), 6);
                    table.forget(|key| key.0 == context);
                    drop(holds);
                }
            });
        }
    });
    table.release_unused();
    let (loaded, unloaded) = driver.counts();
    assert_eq!(loaded, unloaded);
    let statistics = table.statistics();
    assert_eq!((statistics.loads, statistics.unloads, statistics.loaded), (loaded, unloaded, 0));
}

/// Acceptance: S4.4.
#[test]
fn a_visit_is_used_again_without_the_table_until_its_module_is_gone() {
    let driver = Driver::default();
    let table = new_table(10);
    let first = hold(&table, &driver, (1, 1));
    let visit = Arc::clone(first.visit());
    drop(first);
    let again = table.again(&visit).unwrap();
    assert_eq!(again.module().key, (1, 1));
    let statistics = table.statistics();
    assert_eq!((statistics.hits, statistics.held, statistics.loads), (1, 1, 1));
    table.release_unused();
    assert_eq!(driver.counts(), (1, 0), "it is in use");
    drop(again);
    assert!(table.again(&visit).is_some(), "nobody has taken the module");
    table.release_unused();
    assert_eq!(driver.counts(), (1, 1), "remembering keeps nothing loaded");
    assert!(table.again(&visit).is_none());
    let statistics = table.statistics();
    assert_eq!((statistics.hits, statistics.held, statistics.loaded), (2, 0, 0));
}

#[test]
fn uses_of_many_threads_are_all_seen() {
    let driver = Driver::default();
    let table = new_table(10);
    let (ready, done) = (Barrier::new(5), Barrier::new(5));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let visit: Arc<Visit<_, _>> = Arc::clone(hold(&table, &driver, (1, 1)).visit());
                let mut again = table.again(&visit);
                (0..100).for_each(|_| again = table.again(&visit));
                ready.wait();
                done.wait();
                assert_eq!(again.unwrap().module().key, (1, 1));
            });
        }
        ready.wait();
        let statistics = table.statistics();
        assert_eq!((statistics.loads, statistics.hits, statistics.held), (1, 3 + 4 * 101, 1));
        table.release_unused();
        assert_eq!(driver.counts(), (1, 0));
        done.wait();
    });
    // Visits that nobody remembers are folded into one number.
    hold(&table, &driver, (1, 1));
    assert_eq!(table.statistics().hits, 3 + 4 * 101 + 1);
    table.release_unused();
    assert_eq!((driver.counts(), table.statistics().hits), ((1, 1), 3 + 4 * 101 + 1));
}

#[test]
fn what_is_used_again_is_not_the_oldest() {
    let driver = Driver::default();
    let table = new_table(3);
    let visits = [1, 2, 3].map(|id| Arc::clone(hold(&table, &driver, (0, id)).visit()));
    for used in [&visits[1], &visits[0]] {
        drop(table.again(used));
    }
    // 3 is the oldest now, then 2.
    hold(&table, &driver, (0, 4));
    assert!(table.again(&visits[2]).is_none());
    hold(&table, &driver, (0, 5));
    assert!(table.again(&visits[1]).is_none());
    assert!(table.again(&visits[0]).is_some());
    assert_eq!(table.statistics().evictions, 2);
}

/// Acceptance: S4.13.
#[test]
fn modules_go_when_their_bytes_are_beyond_the_budget() {
    let driver = Driver::default();
    let table = new_table(10);
    let held = hold(&table, &driver, (0, 1));
    let Ok(_) = table.hold((0, 2), || Ok::<_, Infallible>((driver.load((0, 2)), 0)));
    for id in [3, 4, 5] {
        hold(&table, &driver, (0, id));
    }
    assert_eq!(table.statistics().bytes, 4 * BYTES);
    table.set_byte_budget(3 * BYTES);
    let statistics = table.statistics();
    assert_eq!((statistics.bytes, statistics.evictions, statistics.loaded), (3 * BYTES, 1, 4));
    table.set_byte_budget(BYTES - 1);
    // One is in use, another has no bytes.
    let statistics = table.statistics();
    assert_eq!((statistics.bytes, statistics.evictions, statistics.loaded), (BYTES, 3, 2));
    drop(held);
    let statistics = table.statistics();
    assert_eq!((statistics.bytes, statistics.evictions, statistics.loaded), (0, 4, 1));
    assert_eq!((statistics.loads, statistics.unloads), (5, 4));
}

#[test]
fn modules_with_work_in_flight_are_not_evicted() {
    static BUSY: AtomicU64 = AtomicU64::new(1);
    let driver = Driver::default();
    let busy = |module: &Module<'_>| u64::from(module.key.1) == BUSY.load(Ordering::SeqCst);
    let table = Table::new(2, busy);
    for id in [1, 2, 3] {
        hold(&table, &driver, (0, id));
    }
    let id_of = |hold: &Hold<'_, Key, Module<'_>>| hold.module().key.1;
    let visit = Arc::clone(hold(&table, &driver, (0, 1)).visit());
    assert_eq!((driver.counts(), id_of(&table.again(&visit).unwrap())), ((3, 1), 1));
    table.set_capacity(0);
    assert_eq!(driver.counts(), (3, 2));
    // Its work is done: it goes with the next use of the table.
    BUSY.store(0, Ordering::SeqCst);
    drop(table.again(&visit));
    assert_eq!((driver.counts(), table.statistics().evictions), ((3, 3), 3));
}

/// A module in flight that is larger than the budget: it stays, what nobody uses goes for it, and it goes with the
/// first use of the table that ends after its work.
#[test]
fn a_module_in_flight_may_be_larger_than_the_budget() {
    static BUSY: AtomicU64 = AtomicU64::new(1);
    let driver = Driver::default();
    let busy = |module: &Module<'_>| u64::from(module.key.1) == BUSY.load(Ordering::SeqCst);
    let table = Table::new(10, busy);
    table.set_byte_budget(2 * BYTES);
    let large = || Ok::<_, Infallible>((driver.load((0, 1)), 3 * BYTES));
    let Ok(hold_of_large) = table.hold((0, 1), large);
    assert_eq!((driver.counts(), table.statistics().bytes), ((1, 0), 3 * BYTES), "in use");
    drop(hold_of_large);
    assert_eq!((driver.counts(), table.statistics().bytes), ((1, 0), 3 * BYTES), "in flight");
    let used = hold(&table, &driver, (0, 2));
    drop(hold(&table, &driver, (0, 3)));
    // What is in use stays, what is not goes; the large one is found, not loaded again.
    assert_eq!((driver.counts(), table.statistics().bytes), ((3, 1), 4 * BYTES));
    let Ok(again) =
        table.hold((0, 1), || -> Result<(Module<'_>, u64), Infallible> { unreachable!() });
    drop(again);
    assert_eq!(table.statistics().evictions, 1);
    BUSY.store(0, Ordering::SeqCst);
    assert_eq!(table.statistics().loaded, 2, "nothing looks at the table");
    drop(used);
    let statistics = table.statistics();
    assert_eq!((driver.counts(), statistics.bytes, statistics.loaded), ((3, 2), BYTES, 1));
    assert_eq!((statistics.evictions, statistics.failures), (2, 0));
}

#[test]
fn what_is_forgotten_while_in_use_is_loaded_again_beside_it() {
    let driver = Driver::default();
    let table = new_table(10);
    let (old, _) = (hold(&table, &driver, (1, 1)), hold(&table, &driver, (1, 2)));
    let visit = Arc::clone(old.visit());
    table.forget(|_| true);
    assert_eq!(driver.counts(), (2, 1));
    assert!(table.again(&visit).is_none());
    let new = hold(&table, &driver, (1, 1));
    assert!(!std::ptr::eq(old.module(), new.module()));
    assert_eq!((driver.counts(), table.statistics().held), ((3, 1), 2));
    drop(old);
    assert_eq!((driver.counts(), table.statistics().loaded), ((3, 2), 1));
    drop(new);
    assert_eq!(driver.counts(), (3, 2));
}

#[test]
fn a_module_that_is_forgotten_while_it_is_loaded_goes_with_its_use() {
    let driver = Driver::default();
    let table = new_table(10);
    let load = || {
        table.forget(|_| true);
        Ok::<_, Infallible>((driver.load((1, 1)), BYTES))
    };
    let Ok(hold) = table.hold((1, 1), load);
    assert_eq!((hold.module().key, table.statistics().bytes), ((1, 1), BYTES));
    drop(hold);
    assert_eq!((driver.counts(), table.statistics().bytes), ((1, 1), 0));
    let fails = || {
        table.forget(|_| true);
        Err::<(Module<'_>, u64), _>("refused")
    };
    assert!(table.hold((1, 1), fails).is_err());
    assert_eq!((table.statistics().loaded, table.statistics().failures), (0, 1));
}
