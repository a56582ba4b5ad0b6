//! Structures in a row, read and written by their fields: vectorised, not vectorised, and on the emulator.

use cuda_cpp::{Launch, ThreeWays, Value, numbers, test_on_older_processors};
use kernelmill_compiler::Lowering;

/// The largest number of words of a structure, and of those that a thread writes.
const WORDS: u32 = 8;

#[test]
fn structures_are_what_they_are_without_vectors() {
    let ways = ThreeWays::of("fields");
    for kernel in &ways.vectorized.kernels {
        let strategy = kernel.strategy.as_ref().unwrap();
        assert!(matches!(strategy.lowering, Lowering::ThreadLoop), "{}: {strategy}", kernel.name);
        assert!(strategy.scalar.is_none(), "{}: {strategy}", kernel.name);
    }
    let kernels = ways.source.signatures("cpu");
    assert_eq!(kernels.len(), 14);
    for kernel in kernels {
        for (threads, n) in [(1, 1), (16, 16), (64, 64), (64, 57), (100, 100), (128, 3), (7, 6)] {
            let what = format!("{} in blocks of {threads} of {n}", kernel.name);
            let blocks = 3;
            let all = blocks * threads;
            // `again` and `between` read where their own structure is.
            let input = match &*kernel.name {
                "again" | "between" => (0..WORDS * all).collect(),
                _ => numbers(WORDS * all, 1),
            };
            let launch = Launch { grid: [blocks, 1, 1], block: [threads, 1, 1], shared: 0 };
            let values = [
                Value::Words(numbers(WORDS * all + 3, 1)),
                Value::Words(input),
                Value::of((blocks - 1) * threads + n),
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
