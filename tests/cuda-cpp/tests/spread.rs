//! Strided accesses, and stores to one address: vectorised, not vectorised, and on the emulator.

use std::sync::LazyLock;

use cuda_cpp::{Launch, ThreeWays, Value, numbers, test_on_older_processors};

/// The words that so many threads of a kernel write at most, up to the last one.
fn written(kernel: &str, threads: u32) -> u32 {
    match kernel {
        "pairs" | "second" | "shifted" | "read_back" | "neighbours" => 2 * threads,
        "backwards" => 2 * threads - 1,
        "third" => 3 * threads - 2,
        "halves" => 4 * threads - 2,
        _ => 8 * threads,
    }
}

static WAYS: LazyLock<ThreeWays> = LazyLock::new(|| ThreeWays::of("spread"));

/// Launches kernels in blocks of several sizes.
fn compare(kernels: &[&str]) {
    for kernel in kernels {
        for (threads, n) in [(1, 1), (16, 7), (64, 31), (57, 40), (100, 99), (256, 130), (3, 0)] {
            for seed in [1, 2] {
                let what = format!("{kernel} in blocks of {threads} with {n}, {seed}");
                let blocks = 3;
                let all = blocks * threads;
                let launch = Launch { grid: [blocks, 1, 1], block: [threads, 1, 1], shared: 0 };
                let values = [
                    Value::Words(vec![0xabcd_ef01; written(kernel, all) as usize]),
                    Value::Words(numbers(2 * all, seed)),
                    Value::of(n),
                ];
                WAYS.compare((kernel, &what), launch, (&values, 1), true);
            }
        }
    }
}

#[test]
fn all_kernels_are_vectorised() {
    for kernel in &WAYS.vectorized.kernels {
        let strategy = kernel.strategy.as_ref().unwrap();
        assert!(strategy.scalar.is_none(), "{}: {strategy}", kernel.name);
    }
    assert_eq!(WAYS.source.signatures("cpu").len(), 20);
}

#[test]
fn structures_that_some_threads_write() {
    compare(&["pairs", "colours", "longs", "quads"]);
}

#[test]
fn one_field_of_structures_is_written() {
    compare(&["second", "fourth", "fifth", "backwards"]);
}

#[test]
fn one_field_is_written_by_some_threads() {
    compare(&["third", "halves"]);
}

#[test]
fn elements_are_read_between_stores() {
    compare(&["shifted", "read_back", "neighbours"]);
}

#[test]
fn threads_write_to_one_address() {
    compare(&["chosen", "in_turns", "agreed"]);
}

#[test]
fn fields_that_some_threads_read() {
    compare(&["read_pairs", "read_thirds", "read_ends", "read_before"]);
}

/// The same for what is compiled for AVX2 and, where there is that, AVX-512; nothing is touched beside a buffer. Scalar code is
/// what is compared with.
#[test]
fn older_processors() {
    for side in ["before", "after"] {
        test_on_older_processors(&|processor| {
            let vectors = if processor == "baseline" { "avx512" } else { "avx2" };
            vec![("KERNELMILL_CPU", vectors), ("KERNELMILL_GUARD_PAGES", side)]
        });
    }
}
