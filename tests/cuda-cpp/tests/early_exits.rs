//! Kernels whose threads return before others reach a barrier or a shuffle: vectorised, as coroutines, and on
//! the emulator, for blocks of many shapes.

use std::{collections::BTreeMap, sync::LazyLock};

use cuda_cpp::{Launch, ThreeWays, Value, numbers, test_on_older_processors};
use kernelmill_compiler::{Lowering, Pass};

static WAYS: LazyLock<ThreeWays> = LazyLock::new(|| ThreeWays::of("early_exits"));

/// Blocks with rows of whole vectors and not, smaller and larger than a warp.
const SHAPES: [[u32; 3]; 12] = [
    [1, 1, 1],
    [7, 1, 1],
    [16, 1, 1],
    [32, 1, 1],
    [33, 1, 1],
    [96, 1, 1],
    [256, 1, 1],
    [250, 1, 1],
    [16, 16, 1],
    [5, 7, 3],
    [32, 3, 2],
    [3, 40, 1],
];

/// Runs a kernel by each compilation for a block of this shape: it has the memory that it writes, then elements,
/// then `numbers`.
fn compare(kernel: &str, shape: [u32; 3], memory: &[usize], arguments: &[u32]) {
    let grid = if kernel == "exit_twice" { [2, 2, 1] } else { [4, 1, 1] };
    let launch = Launch { grid, block: shape, shared: 0 };
    let threads = (grid.iter().product::<u32>() * shape.iter().product::<u32>()) as usize;
    let written = memory.iter().map(|count| Value::Words(vec![0xabcd; (*count).max(threads)]));
    let mut values: Vec<_> = written.collect();
    values.push(Value::Words(numbers(threads as u32, shape[0])));
    values.extend(arguments.iter().map(|number| Value::of(*number)));
    let what = format!("{kernel} in blocks of {shape:?} with {arguments:?}");
    // What a shuffle gives from a lane that has exited is not defined there.
    let whole_warps = kernel == "exit_warps" && shape.iter().product::<u32>() % 32 == 0;
    let is_emulated = whole_warps || !["exit_warps", "exit_lanes", "exit_scan"].contains(&kernel);
    WAYS.compare((kernel, &what), launch, (&values, memory.len()), is_emulated);
}

#[test]
fn a_reduction_of_the_elements_that_there_are() {
    for shape in SHAPES.into_iter().filter(|shape| shape[1..] == [1, 1]) {
        for n in [0, 1, shape[0] / 2, shape[0] * 2 + shape[0] / 3, shape[0] * 4] {
            compare("exit_reduce", shape, &[0], &[n]);
        }
    }
}

#[test]
fn exits_in_two_dimensions() {
    for shape in SHAPES.into_iter().filter(|shape| shape[2] == 1 && shape[0] % 2 == 0) {
        for [w, h] in [[0, 0], [1, 1], [shape[0] + 1, shape[1] + 1], [100, 100]] {
            compare("exit_twice", shape, &[0], &[w, h]);
        }
    }
}

#[test]
fn exits_of_loops_and_conditions() {
    for shape in SHAPES.into_iter().filter(|shape| shape[1..] == [1, 1]) {
        for n in 0..6 {
            compare("exit_in_loop", shape, &[0], &[n * 2]);
            compare("exit_without_return", shape, &[0], &[n]);
            compare("exit_inside", shape, &[0], &[n]);
            compare("exit_shared_condition", shape, &[0], &[n]);
            compare("exit_block", shape, &[0], &[n * shape[0] * 4 / 5]);
            compare("exit_mixed", shape, &[0, 32], &[n * 7]);
        }
        compare("exit_by_trips", shape, &[0], &[]);
    }
}

#[test]
fn collectives_of_the_lanes_that_are_left() {
    for shape in SHAPES {
        for n in 0..8 {
            compare("exit_warps", shape, &[0], &[n * 3]);
            compare("exit_lanes", shape, &[0], &[n]);
        }
        if shape[1..] == [1, 1] {
            [0, 2, 9, 32].into_iter().for_each(|n| compare("exit_scan", shape, &[0], &[n]));
        }
    }
}

/// A kernel that returns from the middle of another condition stays a coroutine, and one whose `return` clang
/// makes a flag of.
#[test]
fn only_what_is_divergent_without_exits_too_is_a_coroutine() {
    let mut found = BTreeMap::new();
    for report in WAYS.vectorized.passes.iter().filter(|it| it.pass == Pass::EarlyExits) {
        let said = report.fact.as_ref().map(ToString::to_string);
        found.insert(report.kernel.clone().unwrap(), said.unwrap_or_default());
    }
    let kept = "kept: control flow stays divergent without 1 early exit";
    let inside = "kept: no early exit is in uniform control flow";
    let expected = [
        ("exit_block", "2"),
        ("exit_by_trips", "2"),
        ("exit_in_loop", kept),
        ("exit_inside", inside),
        ("exit_lanes", "2"),
        ("exit_mixed", "2"),
        ("exit_reduce", "1"),
        ("exit_scan", "1"),
        ("exit_shared_condition", "1"),
        ("exit_twice", "2"),
        ("exit_warps", "1"),
        ("exit_without_return", "1"),
    ];
    assert_eq!(found, expected.map(|(kernel, said)| (kernel.to_owned(), said.to_owned())).into());
    for kernel in &WAYS.vectorized.kernels {
        let strategy = kernel.strategy.as_ref().unwrap();
        let is_vectorized = !strategy.widths.is_empty();
        let stays = ["exit_inside", "exit_in_loop"].iter().any(|it| kernel.name.contains(it));
        assert_eq!(is_vectorized, !stays, "{}: {strategy}", kernel.name);
        assert_eq!(matches!(strategy.lowering, Lowering::Coroutine(_)), stays, "{strategy}");
    }
}

/// The same for what is compiled for older processors.
#[test]
fn older_processors() {
    test_on_older_processors(&|_| Vec::new());
}
