//! The table, with modules that count how often they are loaded and unloaded.

use std::{
    convert::Infallible,
    sync::{
        Barrier,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use super::table::{Hold, Table};

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
    match table.hold(key, || Ok::<_, Infallible>(driver.load(key))) {
        Ok(hold) => hold,
    }
}

#[test]
fn many_kernels_are_each_loaded_once_warm_and_again_after_release() {
    let driver = Driver::default();
    let table = Table::new(1000);
    let sum = || (0..70).map(|id| hold(&table, &driver, (0, id)).module().key.1 + 1).sum::<u32>();
    assert_eq!(sum(), 2485);
    assert_eq!(driver.counts(), (70, 0));
    assert_eq!(sum(), 2485);
    assert_eq!(driver.counts(), (70, 0));
    assert_eq!((table.statistics().loaded, table.statistics().hits), (70, 70));
    table.release(|_| true, false);
    assert_eq!(driver.counts(), (70, 70));
    table.release(|_| true, false);
    assert_eq!(driver.counts(), (70, 70));
    assert_eq!(sum(), 2485);
    drop(table);
    assert_eq!(driver.counts(), (140, 140));
}

#[test]
fn one_binary_in_two_contexts_is_two_modules_and_one_context_goes_alone() {
    let driver = Driver::default();
    let table = Table::new(10);
    assert_eq!(hold(&table, &driver, (1, 7)).module().key, (1, 7));
    assert_eq!(hold(&table, &driver, (2, 7)).module().key, (2, 7));
    table.release(|key| key.0 == 1, true);
    assert_eq!(driver.counts(), (2, 1));
    hold(&table, &driver, (2, 7));
    assert_eq!(driver.counts(), (2, 1));
    hold(&table, &driver, (1, 7));
    assert_eq!(driver.counts(), (3, 1));
}

#[test]
fn held_modules_survive_their_context_and_go_with_their_last_use() {
    let driver = Driver::default();
    let table = Table::new(10);
    let first = hold(&table, &driver, (1, 1));
    let second = hold(&table, &driver, (1, 1));
    table.release(|key| key.0 == 1, true);
    assert_eq!(first.module().key, (1, 1));
    drop(first);
    assert_eq!(driver.counts(), (1, 0));
    drop(second);
    assert_eq!(driver.counts(), (1, 1));
    assert_eq!(table.statistics().loaded, 0);
}

#[test]
fn a_load_that_fails_leaves_no_entry() {
    let driver = Driver::default();
    let table = Table::new(10);
    for _ in 0..3 {
        let failed = table.hold((1, 1), || Err::<Module<'_>, _>("refused"));
        assert_eq!(failed.err(), Some("refused"));
        assert_eq!((table.statistics().loaded, table.statistics().held), (0, 0));
    }
    assert_eq!(table.statistics().failures, 3);
    hold(&table, &driver, (1, 1));
    assert_eq!(driver.counts(), (1, 0));
}

#[test]
fn a_load_that_panics_leaves_no_entry() {
    let driver = Driver::default();
    let table: Table<Key, Module<'_>> = Table::new(10);
    let attempt = std::panic::AssertUnwindSafe(|| {
        let _ = table.hold((1, 1), || -> Result<_, Infallible> { panic!("in the driver") });
    });
    assert!(std::panic::catch_unwind(attempt).is_err());
    assert_eq!(hold(&table, &driver, (1, 1)).module().key, (1, 1));
    assert_eq!(driver.counts(), (1, 0));
}

#[test]
fn the_one_unused_for_longest_goes_first_and_held_ones_stay() {
    let driver = Driver::default();
    let table = Table::new(2);
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
    let table = Table::new(10);
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

#[test]
fn threads_that_race_load_once() {
    for _ in 0..20 {
        let driver = Driver::default();
        let table = Table::new(10);
        let start = Barrier::new(8);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    start.wait();
                    let slow = || {
                        thread::sleep(Duration::from_millis(1));
                        Ok::<_, Infallible>(driver.load((1, 1)))
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

#[test]
fn threads_that_wait_for_a_load_that_fails_try_for_themselves() {
    let driver = Driver::default();
    let table = Table::new(10);
    let (start, attempts) = (Barrier::new(8), AtomicU64::new(0));
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                start.wait();
                let result = table.hold((1, 1), || {
                    thread::sleep(Duration::from_millis(1));
                    match attempts.fetch_add(1, Ordering::SeqCst) {
                        0..3 => Err("refused"),
                        _ => Ok(driver.load((1, 1))),
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

#[test]
fn loading_one_module_does_not_hold_up_another() {
    let driver = Driver::default();
    let table = Table::new(10);
    let _outer = table.hold((1, 1), || {
        let inner = hold(&table, &driver, (1, 2));
        table.release(|_| true, false);
        assert_eq!(inner.module().key, (1, 2));
        Ok::<_, Infallible>(driver.load((1, 1)))
    });
    assert_eq!(driver.counts(), (2, 0));
}

#[test]
fn many_contexts_on_many_threads_end_with_as_many_unloads_as_loads() {
    let driver = Driver::default();
    let table = Table::new(16);
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
                    table.release(|key| key.0 == context, true);
                    drop(holds);
                }
            });
        }
    });
    table.release(|_| true, false);
    let (loaded, unloaded) = driver.counts();
    assert_eq!(loaded, unloaded);
    let statistics = table.statistics();
    assert_eq!((statistics.loads, statistics.unloads, statistics.loaded), (loaded, unloaded, 0));
}
