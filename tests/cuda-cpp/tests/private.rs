//! Arrays of single threads: vectorised, not vectorised, and on the emulator.

use cuda_cpp::{Launch, ThreeWays, Value, numbers, test_on_older_processors};

/// The words that a thread reads and writes.
const WORDS: u32 = 8;

#[test]
fn private_arrays_are_what_they_are_without_vectors() {
    let ways = ThreeWays::of("private");
    for kernel in &ways.vectorized.kernels {
        let strategy = kernel.strategy.as_ref().unwrap();
        assert!(strategy.scalar.is_none(), "{}: {strategy}", kernel.name);
    }
    let kernels = ways.source.signatures("cpu");
    assert_eq!(kernels.len(), 22);
    for kernel in kernels {
        for (threads, n) in [(1, 1), (16, 16), (64, 64), (64, 57), (100, 100), (128, 3), (7, 6)] {
            let what = format!("{} in blocks of {threads} of {n}", kernel.name);
            let blocks = 3;
            let all = blocks * threads;
            let launch = Launch { grid: [blocks, 1, 1], block: [threads, 1, 1], shared: 0 };
            let values = [
                Value::Words(vec![0; (WORDS * all) as usize]),
                Value::Words(numbers(WORDS * all, 1)),
                Value::of((blocks - 1) * threads + n),
                Value::of(5_u32),
            ];
            ways.compare((&kernel.name, &what), launch, (&values, 1), true);
        }
    }
}

/// The same for what is compiled for processors with shorter vectors, and with none.
#[test]
fn older_processors() {
    test_on_older_processors(&|_| Vec::new());
}
