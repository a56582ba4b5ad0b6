//! Kernels that compute little, of which four vectors are run at once, and others: vectorised, not vectorised, and on the emulator.

use std::sync::LazyLock;

use cuda_cpp::{Launch, ThreeWays, Value, numbers, test_on_older_processors};
use kernelmill_compiler::{Pass, PassFact, PassOutcome};

static WAYS: LazyLock<ThreeWays> = LazyLock::new(|| ThreeWays::of("long_vectors"));

const TAKEN: [&str; 17] = [
    "copied",
    "inner",
    "in_place",
    "wide_numbers",
    "bytes",
    "wrapped",
    "plane",
    "chosen",
    "read_apart",
    "over_grid",
    "over_grid_signed",
    "over_grid_wide",
    "over_grid_wrapped",
    "over_grid_at_least_once",
    "over_grid_read_apart",
    "over_grid_summed",
    "over_grid_until",
];

const REFUSED: [&str; 13] = [
    "refused_read_by_quotient",
    "refused_over_grid_twice",
    "refused_over_block",
    "refused_over_grid_read",
    "refused_over_grid_barrier",
    "refused_loop",
    "refused_gather",
    "refused_steps",
    "refused_branch",
    "refused_volatile",
    "refused_atomic",
    "refused_barrier",
    "refused_long",
];

/// Blocks that have no long vector, one, and one with a rest of whole and of shorter vectors.
const BLOCKS: [[u32; 3]; 9] = [
    [1, 1, 1],
    [32, 4, 1],
    [63, 1, 1],
    [64, 3, 2],
    [100, 1, 1],
    [128, 2, 1],
    [144, 1, 1],
    [200, 1, 1],
    [256, 1, 1],
];

/// Where threads begin: at the first one, within a vector, behind it, and so that an index wraps.
const FROM: [u32; 6] = [0, 1, 17, 70, u32::MAX, u32::MAX - 76];

fn compare(kernel: &str) {
    for mut block in BLOCKS {
        if kernel == "in_place" {
            // Threads of different rows would write one element.
            block = [block[0], 1, 1];
        }
        let width = block[0] * 2;
        let words = width * block[1] * block[2];
        // All threads have an element, all but one, and most have none.
        let mut counts = vec![words, words - 1, words.min(70)];
        if kernel.contains("over_") {
            // One thread takes another iteration of a loop over the grid.
            counts.push(words + 1);
        }
        for n in counts {
            for from in FROM {
                let from = if kernel == "refused_loop" { from % 40 } else { from };
                let launch = Launch { grid: [2, 1, 1], block, shared: 0 };
                let values = [
                    Value::Words(numbers(words + 2, 3)),
                    Value::Words(numbers(words + 40, from)),
                    Value::of(n),
                    Value::of(from),
                ];
                let what = format!("{kernel} in blocks of {block:?}, {n} from {from:#x}");
                WAYS.compare((kernel, &what), launch, (&values, 1), true);
            }
        }
    }
}

#[test]
fn kernels_that_compute_little_have_long_vectors() {
    let mut seen = 0;
    for report in WAYS.vectorized.passes.iter().filter(|it| it.pass == Pass::LongVectors) {
        let kernel = report.kernel.as_deref().unwrap();
        let is_taken = TAKEN.contains(&kernel);
        assert_ne!(is_taken, REFUSED.contains(&kernel), "{kernel}");
        // Vectors of NEON are too short.
        let has = is_taken && cfg!(target_arch = "x86_64");
        let fact = has.then_some(PassFact::VectorThreads { threads: 64 });
        let outcome = if has { PassOutcome::Changed } else { PassOutcome::Unchanged };
        assert_eq!((report.outcome, &report.fact), (outcome, &fact), "{kernel}");
        seen += 1;
    }
    assert_eq!(seen, TAKEN.len() + REFUSED.len());
}

/// The loops over the grid that blocks have a version without, whose threads take one iteration.
#[test]
fn loops_over_the_grid_have_versions_for_one_iteration() {
    for report in WAYS.vectorized.passes.iter().filter(|it| it.pass == Pass::SingleIterations) {
        let kernel = report.kernel.as_deref().unwrap();
        let count = match kernel {
            "refused_over_grid_twice" => 2,
            _ if kernel.starts_with("over_grid") => 1,
            _ => 0,
        };
        assert_eq!(report.fact, Some(PassFact::Count { count }), "{kernel}");
        assert_eq!(report.outcome == PassOutcome::Changed, count > 0, "{kernel}");
    }
}

#[test]
fn four_vectors_at_once() {
    TAKEN.into_iter().for_each(compare);
}

/// Blocks with fewer threads along x than the four vectors have, which are joined to larger ones.
#[test]
fn joined_blocks() {
    for kernel in TAKEN.into_iter().filter(|it| *it != "in_place") {
        let (grid, block) = match kernel.starts_with("over_") {
            true => ([640, 1, 1], [32, 1, 1]),
            false => ([8, 80, 1], [32, 8, 1]),
        };
        let words = grid.iter().chain(&block).product::<u32>();
        for (n, from) in [(words, 0), (words - 1, 1), (200, 70), (words, u32::MAX - 76)] {
            let values = [
                Value::Words(numbers(words + 2, 3)),
                Value::Words(numbers(words + 40, from)),
                Value::of(n),
                Value::of(from),
            ];
            let what = format!("{kernel} in joined blocks, {n} from {from:#x}");
            // So many threads take the emulator long.
            let launch = Launch { grid, block, shared: 0 };
            WAYS.compare((kernel, &what), launch, (&values, 1), false);
        }
    }
}

#[test]
fn kernels_without_long_vectors() {
    REFUSED.into_iter().for_each(compare);
}

/// The same for what is compiled for processors with shorter vectors, and with none; nothing is touched beside a buffer.
#[test]
fn older_processors() {
    for side in ["before", "after"] {
        test_on_older_processors(&|_| vec![("KERNELMILL_GUARD_PAGES", side)]);
    }
}
