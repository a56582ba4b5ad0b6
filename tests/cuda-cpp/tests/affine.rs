//! Quotients and remainders by a number that all threads share, in addresses: vectorised, not vectorised, and on the emulator.

use std::sync::LazyLock;

use cuda_cpp::{Launch, ThreeWays, Value, numbers, test_on_older_processors};
use kernelmill_compiler::{Pass, PassFact, PassOutcome};

static WAYS: LazyLock<ThreeWays> = LazyLock::new(|| ThreeWays::of("affine"));

/// Kernels of which no value is affine.
const REFUSED: [&str; 3] = ["after_effects", "by_threads", "of_two_ways"];

/// Launches a kernel on `n` threads that count from a number.
fn compare(kernel: &str, (threads, n): (u32, u32), from: u64, width: u32) {
    let what = format!("{kernel} in blocks of {threads} of {n} from {from:#x} by {width}");
    let values = [
        // One more, which threads count in.
        Value::Words(vec![0xabcd; n as usize + 1]),
        Value::Words(numbers(n, 1)),
        Value::of(n),
        Value::of(from),
        Value::of(u64::from(width)),
    ];
    let launch = Launch::linear(n.div_ceil(threads), threads);
    WAYS.compare((kernel, &what), launch, (&values, 1), true);
}

const BLOCKS: [(u32, u32); 6] = [(1, 1), (64, 192), (64, 137), (100, 300), (128, 384), (7, 20)];
const WIDTHS: [u32; 9] = [1, 2, 7, 16, 32, 48, 64, 100, 137];

/// Numbers below which few others are, and beside which lanes wrap, or doubles have no integers.
fn starts() -> Vec<u64> {
    let limits = [0, 1 << 31, 1 << 32, 1 << 49, 1 << 50, 1 << 53, 1 << 62, 1 << 63];
    limits.into_iter().flat_map(|it: u64| [it, it.wrapping_sub(20), it.wrapping_add(30)]).collect()
}

#[test]
fn every_kernel_has_affine_values_but_those_that_cannot() {
    for report in WAYS.vectorized.passes.iter().filter(|it| it.pass == Pass::AffineValues) {
        let kernel = report.kernel.as_deref().unwrap();
        let is_refused = REFUSED.contains(&kernel);
        let outcome = if is_refused { PassOutcome::Unchanged } else { PassOutcome::Changed };
        assert_eq!(report.outcome, outcome, "{kernel}");
        let Some(PassFact::Count { count }) = report.fact else { panic!("{kernel}: no count") };
        assert_eq!(count == 0, is_refused, "{kernel}");
    }
    let reports = WAYS.vectorized.passes.iter().filter(|it| it.pass == Pass::AffineValues);
    assert_eq!(reports.count(), WAYS.source.signatures("cpu").len());
    // So that there is a kernel with affine values in one of two regions.
    let mut interchanges =
        WAYS.vectorized.passes.iter().filter(|it| it.pass == Pass::LoopInterchange);
    let in_turns = interchanges.find(|it| it.kernel.as_deref() == Some("masked_in_turns")).unwrap();
    assert_eq!(in_turns.outcome, PassOutcome::Changed);
}

#[test]
fn numbers_from_anywhere() {
    let kernels = [
        "unsigned_words",
        "signed_words",
        "unsigned_wide",
        "signed_wide",
        "down_words",
        "down_wide",
        "steps_of_four",
        "large_steps",
        "huge_steps",
        "negative",
        "extended",
        "extended_before",
        "narrowed",
    ];
    for kernel in kernels {
        for from in starts() {
            for width in [1, 7, 32, 64, 100, 137] {
                compare(kernel, (64, 192), from, width);
            }
        }
    }
}

#[test]
fn elements_at_coordinates() {
    let kernels = [
        "flipped",
        "masked",
        "masked_in_turns",
        "around_a_barrier",
        "chosen",
        "nowhere",
        "written",
        "of_all_sizes",
        "own",
        "to_the_first",
    ];
    kernels.into_iter().for_each(elements_of);
}

#[test]
fn kernels_without_affine_values() {
    REFUSED.into_iter().for_each(elements_of);
}

fn elements_of(kernel: &str) {
    for (threads, n) in BLOCKS {
        for from in [0, 1, 2, 3, 4] {
            for width in WIDTHS.into_iter().filter(|width| *width <= n) {
                compare(kernel, (threads, n), from, width);
            }
        }
    }
}

#[test]
fn threads_that_are_not_there_divide_by_nothing() {
    for (threads, n) in BLOCKS {
        for from in [0, 1, 3, 16, 50, 1 << 31, 1 << 32] {
            compare("not_by_zero", (threads, n), from, n.min(24));
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
