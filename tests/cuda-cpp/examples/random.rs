//! Compares random kernels of many seeds:
//!
//! ```text
//! cargo run --release -p cuda-cpp --example random -- FIRST_SEED SEEDS KERNELS [lanes]
//! ```
//!
//! For each seed so many kernels, in files of ten; each that is wrong is printed as the smallest
//! kernel that could be found to be wrong by the same road.

use cuda_cpp::random::{Road, check, reproducer};
use std::time::Duration;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let numbers: Vec<u64> = arguments.iter().filter_map(|it| it.parse().ok()).collect();
    let [first, seeds, kernels] = numbers[..] else {
        eprintln!("usage: random FIRST_SEED SEEDS KERNELS [lanes]");
        std::process::exit(2);
    };
    let lanes = [Road::Lanes];
    let is_lanes = arguments.iter().any(|it| it == "lanes");
    let roads = if is_lanes { &lanes[..] } else { &Road::ALL[..] };
    for seed in first..first + seeds {
        let mut wrong = 0;
        for start in (0..kernels).step_by(10) {
            for (number, failure) in check(seed, start..(start + 10).min(kernels), roads) {
                wrong += 1;
                println!("seed {seed}, kernel {number}, by {}: {}", failure.road, failure.reason);
                println!("{}", reproducer(seed, number, failure.road, Duration::from_secs(60)));
            }
        }
        println!("seed {seed}: {kernels} kernels, {wrong} wrong");
    }
}
