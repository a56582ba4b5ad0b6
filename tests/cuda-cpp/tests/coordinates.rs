//! Addresses of coordinates: vectorised, not vectorised, and on the emulator.

use cuda_cpp::{Launch, ThreeWays, Value, numbers, test_on_older_processors};

#[test]
fn elements_at_coordinates_are_what_they_are_without_vectors() {
    let ways = ThreeWays::of("coordinates");
    for kernel in &ways.vectorized.kernels {
        let strategy = kernel.strategy.as_ref().unwrap();
        assert!(strategy.scalar.is_none(), "{}: {strategy}", kernel.name);
    }
    let kernels = ways.source.signatures("cpu");
    assert_eq!(kernels.len(), 9);
    for kernel in kernels {
        for (threads, n) in [(1, 1), (64, 192), (64, 137), (100, 300), (128, 384), (7, 20)] {
            for width in [1, 2, 7, 16, 24, 32, 48, 100] {
                let what = format!("{} in blocks of {threads} of {n} by {width}", kernel.name);
                // The loop over the grid is of two blocks.
                let blocks = if kernel.name == "over_the_grid" { 2 } else { 3 };
                let values = [
                    Value::Words(vec![0xabcd; n as usize]),
                    Value::Words(numbers(n, 1)),
                    Value::of(n),
                    Value::of(width),
                ];
                let launch = Launch::linear(blocks, threads);
                if width <= n {
                    ways.compare((&kernel.name, &what), launch, (&values, 1), true);
                }
            }
        }
    }
}

/// The same for what is compiled for processors with shorter vectors, and with none; nothing is touched beside a buffer.
#[test]
fn older_processors() {
    for side in ["before", "after"] {
        test_on_older_processors(&|_| vec![("KERNELMILL_GUARD_PAGES", side)]);
    }
}
