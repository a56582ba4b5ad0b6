//! Compares random kernels of many seeds:
//!
//! ```text
//! cargo run --release -p cuda-cpp --example random -- FIRST_SEED SEEDS KERNELS [vectorized]
//! ```
//!
//! For each seed so many kernels, in files of ten; each that is wrong is printed as the smallest
//! kernel that could be found to be wrong by the same compilation.

use cuda_cpp::random::{Compilation, check, reproducer};
use std::time::Duration;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let numbers: Vec<u64> = arguments.iter().filter_map(|it| it.parse().ok()).collect();
    let [first, seeds, kernels] = numbers[..] else {
        eprintln!("usage: random FIRST_SEED SEEDS KERNELS [vectorized]");
        std::process::exit(2);
    };
    let vectorized = [Compilation::Vectorized];
    let is_vectorized = arguments.iter().any(|it| it == "vectorized");
    let compilations = if is_vectorized { &vectorized[..] } else { &Compilation::ALL[..] };
    for seed in first..first + seeds {
        let mut wrong = 0;
        for start in (0..kernels).step_by(10) {
            for (number, failure) in check(seed, start..(start + 10).min(kernels), compilations) {
                wrong += 1;
                println!(
                    "seed {seed}, kernel {number}, by {}: {}",
                    failure.compilation, failure.reason
                );
                println!(
                    "{}",
                    reproducer(seed, number, failure.compilation, Duration::from_secs(60))
                );
            }
        }
        println!("seed {seed}: {kernels} kernels, {wrong} wrong");
    }
}
