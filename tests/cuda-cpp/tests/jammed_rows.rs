//! Kernels whose rows are run several at once: vectorised, not vectorised, and on the emulator, for blocks of many shapes.

use std::sync::LazyLock;

use cuda_cpp::{Launch, ThreeWays, Value, numbers, test_on_older_processors};

const BLOCKS: u32 = 2;

static WAYS: LazyLock<ThreeWays> = LazyLock::new(|| ThreeWays::of("jammed_rows"));

/// Blocks with whole vectors and not, and with numbers of rows of all remainders.
const SHAPES: [[u32; 3]; 13] = [
    [32, 8, 1],
    [16, 16, 1],
    [32, 1, 1],
    [16, 3, 1],
    [17, 4, 1],
    [32, 5, 2],
    [8, 6, 3],
    [40, 7, 1],
    [1, 9, 1],
    [3, 40, 1],
    [64, 2, 2],
    [15, 11, 1],
    [128, 8, 1],
];

/// Runs a kernel in blocks of all shapes, for each of some arguments.
fn compare(kernel: &str, arguments: &[u32]) {
    for shape in SHAPES {
        for &argument in arguments {
            let words = BLOCKS * shape.iter().product::<u32>();
            let launch = Launch { grid: [BLOCKS, 1, 1], block: shape, shared: 0 };
            let out = Value::Words(vec![0xabcd; words as usize]);
            let values = [out, Value::Words(numbers(words, 1)), Value::of(argument)];
            let what = format!("{kernel} in blocks of {shape:?} with {argument}");
            WAYS.compare((kernel, &what), launch, (&values, 1), true);
        }
    }
}

/// The name of a kernel says whether its rows are jammed.
#[test]
fn rows_are_jammed_where_they_take_the_same_way() {
    let (mut jammed, mut single) = (0, 0);
    for kernel in &WAYS.vectorized.kernels {
        let strategy = kernel.strategy.as_ref().unwrap();
        if kernel.name.contains("jammed_") {
            jammed += 1;
            assert_eq!(strategy.jammed_rows, 4, "{}: {strategy}", kernel.name);
            assert!(strategy.to_string().ends_with(", 4 jammed rows"), "{strategy}");
        } else {
            single += 1;
            assert_eq!(strategy.jammed_rows, 0, "{}: {strategy}", kernel.name);
        }
    }
    assert_eq!([jammed, single], [6, 8]);
}

#[test]
fn rows_that_share_what_they_read() {
    compare("jammed_product", &[0, 1, 6, 7, 1000]);
    compare("jammed_in_memory", &[0, 2, 5, 1000]);
}

#[test]
fn rows_that_go_other_ways() {
    compare("jammed_between", &[0, 1, 2, 3, 4, 9, 1000, u32::MAX - 1]);
    compare("jammed_lanes", &[0, 1, 3, 4, 8]);
}

#[test]
fn sums_of_rows() {
    compare("jammed_sums", &[0, 3, 18]);
}

#[test]
fn numbers_that_wrap() {
    compare("jammed_wraps", &[0, 5, 100, 1 << 31]);
}

#[test]
fn rows_that_are_run_one_by_one() {
    for kernel in ["triangle", "data", "diagonal", "atomic", "volatile", "array", "pass"] {
        compare(&format!("single_{kernel}"), &[0, 5]);
    }
    compare("single_trap", &[1000]);
}

/// A thread that ends the launch is the first of its row, though rows before it would be run with it.
#[test]
fn a_thread_that_fails_is_named() {
    for argument in [1, 3] {
        let launch = Launch { grid: [1, 1, 1], block: [16, 8, 1], shared: 0 };
        let out = Value::Words(vec![0; 128]);
        let values = [out, Value::Words(numbers(128, 1)), Value::of(argument)];
        let [vectors, _] = WAYS.errors_on_cpu("single_trap", launch, &values);
        let panic = match vectors {
            Some(kernelmill::Error::KernelPanic(panic)) => panic,
            other => panic!("{other:?}"),
        };
        assert_eq!(panic.thread, [0, argument * 2, 0], "{argument}");
    }
}

/// The same for what is compiled for processors with shorter vectors, and with none.
#[test]
fn older_processors() {
    test_on_older_processors(&|_| Vec::new());
}
