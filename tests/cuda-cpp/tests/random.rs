//! Random kernels: clang for the CPU, clang and nvcc to PTX on the emulator, and plain Rust agree.
//! `KERNELMILL_SEED` chooses others.

use std::{env, time::Duration};

use cuda_cpp::random::{Compilation, check_for, reproducer};

/// How long to go on, and how long to look for a smaller kernel that fails.
const TIME: Duration = Duration::from_secs(15);
const SHRINKING: Duration = Duration::from_secs(60);

#[test]
fn every_road_gives_what_plain_rust_gives() {
    let seed = env::var("KERNELMILL_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let (count, failures) = check_for(seed, TIME, 8, &Compilation::ALL);
    println!("{count} random kernels of seed {seed}");
    if let Some((compilation, (number, failure))) = failures.first_key_value() {
        let small = reproducer(seed, *number, *compilation, SHRINKING);
        panic!("seed {seed}, kernel {number}, by {compilation}: {}\n\n{small}", failure.reason);
    }
    assert!(count >= 8, "there was time for none");
}
