//! Models of the module cache.

use std::{
    convert::Infallible,
    sync::atomic::{AtomicUsize, Ordering},
};

use loom::{cell::UnsafeCell, sync::Arc, thread};

use crate::table::Table;

/// What was loaded and unloaded. `std`'s numbers: they are no part of the model.
#[derive(Default)]
struct Driver {
    loads: AtomicUsize,
    unloads: AtomicUsize,
}

/// A module, whose contents are written by who loads it and by who unloads it.
struct Module {
    contents: UnsafeCell<u32>,
    driver: std::sync::Arc<Driver>,
}

// SAFETY: the contents are written before the module is shared, and loom checks that.
unsafe impl Sync for Module {}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: nobody reads any more, and loom checks that.
        self.contents.with_mut(|contents| unsafe { *contents = 0 });
        self.driver.unloads.fetch_add(1, Ordering::Relaxed);
    }
}

fn table(capacity: usize) -> Table<u32, Module> {
    Table::new(capacity, |_| false)
}

fn load(driver: &std::sync::Arc<Driver>) -> Module {
    driver.loads.fetch_add(1, Ordering::Relaxed);
    let module = Module { contents: UnsafeCell::new(0), driver: std::sync::Arc::clone(driver) };
    // SAFETY: nobody else has the module.
    module.contents.with_mut(|contents| unsafe { *contents = 7 });
    module
}

fn read(module: &Module) -> u32 {
    // SAFETY: the contents are not written any more.
    module.contents.with(|contents| unsafe { *contents })
}

#[test]
fn a_module_is_loaded_once_and_whole_before_anybody_has_it() {
    loom::model(|| {
        let driver = std::sync::Arc::<Driver>::default();
        let table = Arc::new(table(4));
        let hold = |table: &Table<u32, Module>, driver: &std::sync::Arc<Driver>| {
            let hold = table.hold(1, || Ok::<_, Infallible>((load(driver), 1)));
            let Ok(hold) = hold;
            assert_eq!(read(hold.module()), 7);
        };
        let (of_thread, own) = (Arc::clone(&table), std::sync::Arc::clone(&driver));
        let thread = thread::spawn(move || hold(&of_thread, &own));
        hold(&table, &driver);
        thread.join().expect("no panic");
        assert_eq!(driver.loads.load(Ordering::Relaxed), 1);
        let statistics = table.statistics();
        assert_eq!((statistics.loads, statistics.hits, statistics.held), (1, 1, 0));
    });
}

#[test]
fn who_waits_for_a_load_that_fails_tries_again() {
    loom::model(|| {
        let driver = std::sync::Arc::<Driver>::default();
        let table = Arc::new(table(4));
        let of_thread = Arc::clone(&table);
        let thread = thread::spawn(move || of_thread.hold(1, || Err(())).map(drop).is_err());
        let hold =
            table.hold(1, || Ok::<_, ()>((load(&driver), 1))).expect("this load does not fail");
        assert_eq!(read(hold.module()), 7);
        drop(hold);
        // It fails, or finds the module that was loaded here.
        let failed = thread.join().expect("no panic");
        let statistics = table.statistics();
        assert_eq!((statistics.loads, statistics.failures), (1, u64::from(failed)));
    });
}

#[test]
fn a_module_in_use_is_not_unloaded() {
    loom::model(|| {
        let driver = std::sync::Arc::<Driver>::default();
        let table = Arc::new(table(0));
        let of_thread = Arc::clone(&table);
        let thread = thread::spawn(move || of_thread.release_unused());
        let Ok(hold) = table.hold(1, || Ok::<_, Infallible>((load(&driver), 1)));
        assert_eq!(driver.unloads.load(Ordering::Relaxed), 0);
        assert_eq!(read(hold.module()), 7);
        drop(hold);
        thread.join().expect("no panic");
        let [loads, unloads] =
            [&driver.loads, &driver.unloads].map(|count| count.load(Ordering::Relaxed));
        assert_eq!((loads, unloads), (1, 1), "the capacity is none");
    });
}

#[test]
fn the_module_of_a_context_that_goes_away_goes_with_its_last_use() {
    loom::model(|| {
        let driver = std::sync::Arc::<Driver>::default();
        let table = Arc::new(table(4));
        let Ok(hold) = table.hold(1, || Ok::<_, Infallible>((load(&driver), 1)));
        let of_thread = Arc::clone(&table);
        let thread = thread::spawn(move || of_thread.forget(|_| true));
        drop(hold);
        thread.join().expect("no panic");
        assert_eq!(driver.unloads.load(Ordering::Relaxed), 1);
        assert_eq!(table.statistics().loaded, 0);
    });
}

#[test]
fn who_comes_again_has_the_module_or_knows_that_it_is_gone() {
    loom::model(|| {
        let driver = std::sync::Arc::<Driver>::default();
        let table = Arc::new(table(4));
        let Ok(hold) = table.hold(1, || Ok::<_, Infallible>((load(&driver), 1)));
        let visit = Arc::clone(hold.visit());
        drop(hold);
        let of_thread = Arc::clone(&table);
        let thread = thread::spawn(move || of_thread.release_unused());
        let again = table.again(&visit);
        let found = again.is_some();
        if let Some(again) = &again {
            assert_eq!(read(again.module()), 7);
            assert_eq!(driver.unloads.load(Ordering::Relaxed), 0);
        }
        drop(again);
        thread.join().expect("no panic");
        let gone = driver.unloads.load(Ordering::Relaxed) == 1;
        assert!(found || gone || table.again(&visit).is_some());
        assert_eq!(table.again(&visit).is_none(), gone);
    });
}

#[test]
fn a_module_that_is_forgotten_goes_with_the_last_use_without_the_lock() {
    loom::model(|| {
        let driver = std::sync::Arc::<Driver>::default();
        let table = Arc::new(table(4));
        let Ok(hold) = table.hold(1, || Ok::<_, Infallible>((load(&driver), 1)));
        let visit = Arc::clone(hold.visit());
        drop(hold);
        let of_thread = Arc::clone(&table);
        let thread = thread::spawn(move || of_thread.forget(|_| true));
        if let Some(again) = table.again(&visit) {
            assert_eq!(read(again.module()), 7);
        }
        thread.join().expect("no panic");
        assert_eq!(driver.unloads.load(Ordering::Relaxed), 1);
        assert!(table.again(&visit).is_none());
    });
}

#[test]
fn the_last_of_two_uses_without_the_lock_lets_a_module_go_that_has_to() {
    loom::model(|| {
        let driver = std::sync::Arc::<Driver>::default();
        let table = Arc::new(table(4));
        let visits = [(); 2].map(|()| {
            let Ok(hold) = table.hold(1, || Ok::<_, Infallible>((load(&driver), 1)));
            Arc::clone(hold.visit())
        });
        let [own, other] = visits;
        let of_thread = Arc::clone(&table);
        let thread = thread::spawn(move || drop(of_thread.again(&other)));
        let again = table.again(&own).expect("nobody takes the module");
        table.set_capacity(0);
        assert_eq!(driver.unloads.load(Ordering::Relaxed), 0);
        assert_eq!(read(again.module()), 7);
        drop(again);
        thread.join().expect("no panic");
        assert_eq!(driver.unloads.load(Ordering::Relaxed), 1);
    });
}
