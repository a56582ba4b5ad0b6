//! Neighbouring blocks that are run as one: which kernels' are, and that these do the same as block by block, which is how
//! they run where they are not vectorised, and on the emulator.

use std::sync::LazyLock;

use cuda_cpp::{Launch, ThreeWays, Value, numbers, test_on_older_processors};
use kernelmill_compiler::{JoinRefusal, Pass, PassFact, PassOutcome};

static WAYS: LazyLock<ThreeWays> = LazyLock::new(|| ThreeWays::of("joined_blocks"));

const LINES: [&str; 5] = ["line", "wide_line", "strides", "shifted", "counters"];

/// Runs a kernel in blocks of a shape, on fewer elements than there are threads, on as many, and on none.
fn compare(kernel: &str, grid: [u32; 3], block: [u32; 3], is_emulated: bool) {
    let threads = (0..3).map(|axis| grid[axis] * block[axis]).product();
    for count in [threads, threads - threads / 7 - 1, 3] {
        let out = Value::Words(vec![0xabcd; threads as usize]);
        let values = [out, Value::Words(numbers(threads, 3)), Value::of(count)];
        let what = format!("{kernel}: {grid:?} blocks of {block:?}, {count} elements");
        let launch = Launch { grid, block, shared: 0 };
        WAYS.compare((kernel, &what), launch, (&values, 1), is_emulated);
    }
}

/// What is said of each kernel, in the order of the source.
fn facts() -> Vec<(String, PassFact)> {
    let reports = WAYS.vectorized.passes.iter().filter(|it| it.pass == Pass::JoinedBlocks);
    reports
        .map(|report| {
            let fact = report.fact.clone().unwrap();
            let is_joined = matches!(fact, PassFact::Joined { .. });
            assert_eq!(report.outcome == PassOutcome::Changed, is_joined, "{report}");
            (report.kernel.clone().unwrap(), fact)
        })
        .collect()
}

/// For each ground there is a kernel that is refused for it alone.
#[test]
fn blocks_are_joined_where_no_thread_sees_it() {
    use JoinRefusal::{BlockFacts, Indices, MemoryOrder, Scalar, SharedMemory, StatedBlock};
    let joined = |axis| PassFact::Joined { axis };
    let not = |because| PassFact::NotJoined { because };
    let torn = not(Indices { axis: 0 });
    let order = not(MemoryOrder);
    let mut others = Vec::new();
    for (kernel, fact) in facts() {
        let expected = match &*kernel {
            "line" | "wide_line" | "strides" | "shifted" | "rows" | "solid" | "counters"
            | "traps" => joined(0),
            "columns" | "column_traps" => joined(1),
            "uses_thread" | "uses_block" | "uses_block_size" | "uses_grid_size"
            | "constant_size" | "backwards" | "dealt" | "short_product" | "mixed_axes"
            | "signed_sum" => torn.clone(),
            "shares" | "shares_dynamic" => not(SharedMemory),
            "waits" | "shuffles" => not(JoinRefusal::Waits),
            "lanes" => not(BlockFacts),
            "bounded" => not(StatedBlock),
            "tickets" | "watches" | "fences" => order.clone(),
            "recursive" => not(Scalar),
            "prints" => not(JoinRefusal::UnknownCall),
            _ => panic!("{kernel} is expected to be nothing"),
        };
        others.extend((fact != expected).then(|| format!("{kernel}: {fact}")));
    }
    assert!(others.is_empty(), "{others:#?}");
}

#[test]
fn blocks_along_x() {
    for kernel in LINES {
        for (blocks, threads) in [(2048, 4), (1024, 1), (1152, 7), (1920, 31), (2047, 8), (512, 32)]
        {
            compare(kernel, [blocks, 1, 1], [threads, 1, 1], blocks * threads < 10_000);
        }
    }
}

#[test]
fn blocks_of_planes() {
    for kernel in ["rows", "columns"] {
        for block in [[4, 4, 1], [2, 32, 1], [32, 2, 1], [1, 5, 1], [3, 3, 1]] {
            for grid in [[48, 40, 1], [1, 2048, 1], [1024, 1, 1], [37, 36, 1]] {
                compare(kernel, grid, block, block == [4, 4, 1]);
            }
        }
    }
}

#[test]
fn blocks_of_three_axes() {
    for block in [[4, 2, 3], [1, 1, 9], [8, 4, 2], [5, 3, 1]] {
        for grid in [[24, 7, 5], [512, 1, 3], [6, 33, 9]] {
            compare("solid", grid, block, block == [5, 3, 1]);
        }
    }
    for kernel in LINES {
        compare(kernel, [2048, 1, 1], [2, 3, 2], false);
    }
}

/// A thread that ends the launch is named by its block and its place there, as if that had run alone.
#[test]
fn threads_that_fail_are_named() {
    for (kernel, block, grid, place) in [
        ("traps", [4, 4, 1], [512, 4, 1], [1001, 6]),
        ("traps", [3, 2, 1], [1024, 1, 1], [3071, 1]),
        ("column_traps", [4, 4, 1], [4, 512, 1], [5, 1003]),
        ("column_traps", [2, 5, 1], [1, 1024, 1], [1, 4999]),
    ] {
        let [width, height] = [0, 1].map(|axis| grid[axis] * block[axis]);
        let at = match kernel {
            "traps" => place[1] * width + place[0],
            _ => place[0] * height + place[1],
        };
        let mut elements = numbers(width * height, 5);
        elements.iter_mut().for_each(|it| *it |= 1);
        elements[at as usize] = 0;
        let out = Value::Words(vec![0; elements.len()]);
        let values = [out, Value::Words(elements), Value::of(width * height)];
        for error in WAYS.errors_on_cpu(kernel, Launch { grid, block, shared: 0 }, &values) {
            let Some(kernelmill::Error::KernelPanic(panic)) = error else { panic!("{error:?}") };
            let expected =
                [0, 1].map(|axis| (place[axis] / block[axis], place[axis] % block[axis]));
            assert_eq!(panic.block, [expected[0].0, expected[1].0, 0], "{kernel}");
            assert_eq!(panic.thread, [expected[0].1, expected[1].1, 0], "{kernel}");
        }
    }
}

/// The same for what is compiled for processors with shorter vectors, and with none.
#[test]
fn older_processors() {
    test_on_older_processors(&|_| vec![("RAYON_NUM_THREADS", "2")]);
}
