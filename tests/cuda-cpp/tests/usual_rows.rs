//! Blocks whose rows have 16 threads, which have a function of their own, and other blocks: vectorised, not vectorised, and on
//! the emulator.

use std::sync::LazyLock;

use cuda_cpp::{Launch, ThreeWays, Value, numbers, test_on_older_processors};
use kernelmill_compiler::{Pass, PassFact, PassOutcome};

const BLOCKS: u32 = 2;

static WAYS: LazyLock<ThreeWays> = LazyLock::new(|| ThreeWays::of("usual_rows"));

const SHAPES: [[u32; 3]; 11] = [
    [16, 16, 1],
    [16, 1, 1],
    [16, 5, 1],
    [16, 3, 2],
    [16, 8, 8],
    [15, 16, 1],
    [17, 4, 1],
    [32, 8, 1],
    [8, 16, 1],
    [1, 16, 1],
    [48, 3, 1],
];

fn compare(kernel: &str, shapes: &[[u32; 3]]) {
    for &shape in shapes {
        for argument in [0, 1, 2, 3, 7, 30] {
            let words = BLOCKS * shape.iter().product::<u32>();
            let launch = Launch { grid: [BLOCKS, 1, 1], block: shape, shared: 0 };
            let out = Value::Words(vec![0xabcd; words as usize]);
            let values = [out, Value::Words(numbers(words, argument)), Value::of(argument)];
            let what = format!("{kernel} in blocks of {shape:?} with {argument}");
            WAYS.compare((kernel, &what), launch, (&values, 1), true);
        }
    }
}

/// Kernels of two dimensions with barriers have it, and the list of passes says so.
#[test]
fn kernels_of_planes_with_barriers_have_a_function_for_usual_rows() {
    for report in WAYS.vectorized.passes.iter().filter(|it| it.pass == Pass::UsualRows) {
        let kernel = report.kernel.as_deref().unwrap();
        let has = !["alone", "line"].contains(&kernel);
        let fact = has.then_some(PassFact::RowThreads { threads: 16 });
        let outcome = if has { PassOutcome::Changed } else { PassOutcome::Unchanged };
        assert_eq!((report.outcome, &report.fact), (outcome, &fact), "{kernel}");
    }
    let reports = WAYS.vectorized.passes.iter().filter(|it| it.pass == Pass::UsualRows);
    assert_eq!(reports.count(), 7);
}

#[test]
fn blocks_that_exchange_elements() {
    for kernel in ["exchanged", "sums", "alone"] {
        compare(kernel, &SHAPES);
    }
    compare("line", &[[16, 1, 1], [64, 1, 1], [17, 1, 1]]);
}

/// All warps are whole: a collective names all lanes.
#[test]
fn warps_across_rows() {
    let is_whole = |it: &[u32; 3]| it.iter().product::<u32>().is_multiple_of(32);
    let shapes: Vec<_> = SHAPES.into_iter().filter(is_whole).collect();
    assert!(shapes.len() > 4);
    for kernel in ["warps", "some_warps"] {
        compare(kernel, &shapes);
    }
}

#[test]
fn threads_that_leave_before_a_barrier() {
    compare("fewer", &SHAPES);
}

/// The same for what is compiled for processors with shorter vectors, and with none.
#[test]
fn older_processors() {
    test_on_older_processors(&|_| Vec::new());
}
