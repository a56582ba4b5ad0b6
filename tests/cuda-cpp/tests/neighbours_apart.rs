//! Elements that are a few apart from thread to thread: vectorised, not vectorised, and on the emulator.

use cuda_cpp::{Launch, ThreeWays, Value, numbers, test_on_older_processors};

#[test]
fn elements_apart_are_what_they_are_without_vectors() {
    let ways = ThreeWays::of("neighbours_apart");
    for kernel in &ways.vectorized.kernels {
        let strategy = kernel.strategy.as_ref().unwrap();
        assert!(strategy.scalar.is_none(), "{}: {strategy}", kernel.name);
    }
    let kernels = ways.source.signatures("cpu");
    assert_eq!(kernels.len(), 7);
    for kernel in kernels {
        for (threads, n) in [(1, 1), (16, 16), (64, 64), (64, 57), (100, 100), (128, 3), (7, 6)] {
            for by in [0, 1, 2, 7, 16, 33, 70, 300] {
                let what = format!("{} in blocks of {threads} of {n} with {by}", kernel.name);
                let blocks = 3;
                let n = (blocks - 1) * threads + n;
                let launch = Launch::linear(blocks, threads);
                let values = [
                    Value::Words(vec![0xabcd; n as usize]),
                    Value::Words(numbers(3 * n, 1)),
                    Value::of(n),
                    Value::of(by),
                ];
                ways.compare((&kernel.name, &what), launch, (&values, 1), true);
            }
        }
    }
}

/// The same for what is compiled for processors with shorter vectors, and with none; nothing is read beside a buffer.
#[test]
fn older_processors() {
    for side in ["before", "after"] {
        test_on_older_processors(&|_| vec![("KERNELMILL_GUARD_PAGES", side)]);
    }
}
