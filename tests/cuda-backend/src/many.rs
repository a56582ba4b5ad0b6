//! What Halide's tests of its cache of modules state (`gpu_many_kernels`, `gpu_multi_context_threaded`), for any back end.
//!
//! In both, `sum` loads and runs on a device as many modules as it is asked for, waits for them and frees what it has
//! made. The modules add their numbers, from 1 on. Nothing else in the process has used the module cache before.

use kernelmill::{CacheStatistics, Device, module_cache};
use std::{sync::Barrier, thread};

fn counts() -> (u64, u64, u64) {
    let CacheStatistics { loads, unloads, hits, .. } = module_cache().statistics();
    (loads, unloads, hits)
}

/// 70 modules: cold, warm, and after they were released. The cache's table begins smaller, and grows on the way.
///
/// # Panics
///
/// Where a sum is another, or a module is loaded or unloaded more or less often.
pub fn many_modules(device: &Device, sum: impl Fn(&Device, usize) -> f32) {
    let sum = || sum(device, 70);
    assert_eq!((sum(), counts()), (2485.0, (70, 0, 0)));
    assert_eq!((sum(), counts()), (2485.0, (70, 0, 70)));
    module_cache().release_unused();
    assert_eq!((sum(), counts()), (2485.0, (140, 70, 70)));
    module_cache().clear();
    assert_eq!((sum(), counts()), (2485.0, (210, 140, 70)));
    module_cache().set_capacity(0);
    let statistics = module_cache().statistics();
    assert_eq!((statistics.unloads, statistics.evictions, statistics.loaded), (210, 70, 0));
}

/// Two pairs of threads with ten fresh contexts each: `open` opens the device of the first or the second pair, which both
/// threads of it use. Pairs that open one device share its context: there are `contexts` of them at a time.
///
/// # Panics
///
/// Where a sum is another, or a context does not load each module once and unload it when it goes.
pub fn fresh_contexts(
    contexts: u64,
    open: impl Fn(usize) -> Device + Sync,
    sum: impl Fn(&Device, usize) -> f32 + Sync,
) {
    const ROUNDS: u64 = 10;
    const MODULES: u64 = 3;
    let (opened, dropped) = (Barrier::new(2), Barrier::new(2));
    let (open, sum) = (&open, &sum);
    let pair = |number| {
        for _ in 0..ROUNDS {
            let device = open(number);
            opened.wait();
            let sums = thread::scope(|scope| {
                let both = [(); 2].map(|()| scope.spawn(|| sum(&device, MODULES as usize)));
                both.map(|thread| thread.join().expect("the device panics nowhere"))
            });
            drop(device);
            // A context is gone when both pairs have dropped it; who opens the device then gets a fresh one.
            dropped.wait();
            assert_eq!(sums, [6.0; 2]);
        }
    };
    thread::scope(|scope| {
        for number in [0, 1] {
            let pair = &pair;
            scope.spawn(move || pair(number));
        }
    });
    let loads = ROUNDS * contexts * MODULES;
    assert_eq!(counts(), (loads, loads, ROUNDS * 4 * MODULES - loads));
    let statistics = module_cache().statistics();
    assert_eq!((statistics.loaded, statistics.bytes), (0, 0));
}
