//! Seeds: how many cases a test tries, and with which it begins.

use std::{
    env,
    panic::{AssertUnwindSafe, catch_unwind},
    time::{Duration, Instant},
};

use test_support::Random;

/// Tries the cases of as many seeds as `FAULTS_CASES` says, or else `cases`, until `FAULTS_SECONDS` have gone.
///
/// # Panics
///
/// Where a case failed, with the seeds of those that did.
pub fn for_seeds(name: &str, cases: u64, mut try_one: impl FnMut(u64, &mut Random)) {
    let (cases, first) = (setting("FAULTS_CASES", cases), setting("FAULTS_SEED", 1));
    let limit = Duration::from_secs(setting("FAULTS_SECONDS", u64::MAX));
    let (start, mut tried, mut failed) = (Instant::now(), 0, Vec::new());
    for seed in first..first.saturating_add(cases) {
        if start.elapsed() > limit {
            break;
        }
        tried += 1;
        let one = || try_one(seed, &mut Random::new(seed));
        if catch_unwind(AssertUnwindSafe(one)).is_err() {
            eprintln!("failed: FAULTS_SEED={seed}");
            failed.push(seed);
        }
    }
    count(name, tried, failed.len() as u64);
    assert!(failed.is_empty(), "FAULTS_SEED of the cases that failed: {failed:?}");
}

/// Prints how many cases were tried, for `cargo xtask soak`.
pub fn count(name: &str, tried: u64, failed: u64) {
    println!("counted: {name}: {tried} tried, {failed} failed");
}

fn setting(variable: &str, otherwise: u64) -> u64 {
    env::var(variable).map_or(otherwise, |text| {
        text.parse().unwrap_or_else(|_| panic!("{variable} is `{text}`, no number"))
    })
}
