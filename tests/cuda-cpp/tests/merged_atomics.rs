//! Atomic operations that are merged, in loops and across the threads of a vector: vectorised, not vectorised, and on the
//! emulator.

use std::sync::LazyLock;

use cuda_cpp::{Launch, ThreeWays, Value, numbers, test_on_older_processors};
use kernelmill_compiler::{Pass, PassFact};

static WAYS: LazyLock<ThreeWays> = LazyLock::new(|| ThreeWays::of("merged_atomics"));

/// Blocks with whole vectors and not.
const BLOCKS: [u32; 4] = [64, 16, 37, 1];

/// Runs a kernel that has so many numbers for each thread, in blocks of all sizes.
fn compare(kernel: &str, of_thread: u32, arguments: &[u32]) {
    for threads in BLOCKS {
        for &argument in arguments {
            let words = (2 * threads * of_thread).max(40);
            let launch = Launch::linear(2, threads);
            let values = [
                Value::Words(numbers(words, 3)),
                Value::Words(numbers(64, 1)),
                Value::of(argument),
            ];
            let what = format!("{kernel} in blocks of {threads} with {argument}");
            WAYS.compare((kernel, &what), launch, (&values, 1), true);
        }
    }
}

/// Nine loops of one, two of three, four in two and one in each of the others; what is unrolled has more.
#[test]
fn operations_of_loops_are_merged() {
    let reports = &WAYS.vectorized.passes;
    let merged = reports.iter().find(|it| it.pass == Pass::MergedAtomics).expect("it runs");
    let Some(PassFact::Count { count }) = merged.fact else { panic!("{merged}") };
    assert_eq!(count, 25, "{merged}");
}

#[test]
fn loops_of_one_operation() {
    for kernel in [("merged_each", 9), ("merged_wide", 6)] {
        compare(kernel.0, kernel.1, &[0, 1, 2, 33, 100]);
    }
}

#[test]
fn loops_of_several_operations() {
    for kernel in ["merged_divergent", "merged_nested", "merged_sums"] {
        compare(kernel, 1, &[0, 1, 5, 40]);
    }
}

/// Where the operation is never done there is no memory.
#[test]
fn loops_that_come_to_no_operation() {
    compare("merged_nowhere", 1, &[0, 1, 40, 41, 50]);
}

#[test]
fn operations_that_are_seen() {
    compare("kept_all", 2, &[0, 1, 9]);
}

#[test]
fn all_threads_on_one_address() {
    compare("one_each", 1, &[0, 1, 77, u32::MAX]);
    compare("one_in_block", 1, &[0, 1, 2, 9]);
}

#[test]
fn some_threads_on_one_address() {
    compare("one_of_some", 1, &[0, 1, 2, 3, 8, 20]);
}

#[test]
fn each_thread_has_a_ticket() {
    compare("kept_tickets", 1, &[0]);
}

/// The same for what is compiled for processors with shorter vectors, and with none.
#[test]
fn older_processors() {
    test_on_older_processors(&|_| Vec::new());
}
