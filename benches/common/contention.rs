//! What something costs a thread alone, each of two threads that do it at once, and each of eight.
//!
//! Eight threads on two processors hardly ever run at once: there two threads show more.

use std::{
    sync::Barrier,
    thread,
    time::{Duration, Instant},
};

/// How often it is done in one sample, which ends before the thread is preempted, and samples of each thread.
const TIMES: u32 = 1000;
const SAMPLES: usize = 100;

/// Measurements of the one and of the other, in turn.
const PAIRS: usize = 31;

/// The threads that do it at once, at most.
pub(crate) const THREADS: usize = 8;

/// Prints the nanoseconds alone and in each of several threads, by `what` of a thread with this number.
pub(crate) fn report(name: &str, what: impl Fn(usize) + Sync) {
    for threads in [2, THREADS] {
        compare(name, threads, &what);
    }
}

/// Prints them of so many threads, and the ratio: the middle of those of measurements that follow each other, so that
/// what slows the machine for a while slows both.
fn compare(name: &str, threads: usize, what: &(impl Fn(usize) + Sync)) {
    let pairs: Vec<_> = (0..=PAIRS).map(|_| (each(1, what), each(threads, what))).collect();
    // The first is for what is done once.
    let middle = |of: &dyn Fn(&(f64, f64)) -> f64| {
        let mut sorted: Vec<f64> = pairs[1..].iter().map(of).collect();
        sorted.sort_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    };
    let (alone, together) = (middle(&|it| it.0), middle(&|it| it.1));
    let ratio = middle(&|it| it.1 / it.0);
    println!(
        "{name:44} {alone:6.1} ns alone, {together:6.1} ns in each of {threads} threads, ratio {ratio:.2}"
    );
}

/// The nanoseconds in each of so many threads: the middle of the samples that the threads take of themselves.
fn each(threads: usize, what: &(impl Fn(usize) + Sync)) -> f64 {
    let start = &Barrier::new(threads);
    let of_thread = move |thread: usize| {
        what(thread);
        start.wait();
        let sample = |_| {
            let begin = Instant::now();
            (0..TIMES).for_each(|_| what(thread));
            begin.elapsed()
        };
        (0..SAMPLES).map(sample).collect::<Vec<Duration>>()
    };
    let mut samples: Vec<_> = thread::scope(|scope| {
        let spawned: Vec<_> = (0..threads).map(|it| scope.spawn(move || of_thread(it))).collect();
        spawned.into_iter().flat_map(|it| it.join().expect("it does not panic")).collect()
    });
    samples.sort();
    samples[samples.len() / 2].as_secs_f64() * 1e9 / f64::from(TIMES)
}
