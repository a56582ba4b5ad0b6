//! Warp collectives under divergent branches and in loops of different lengths: vectorised, as coroutines, and on
//! the emulator, for blocks of many shapes.

use std::{collections::BTreeMap, env, sync::LazyLock};

use cuda_cpp::{Launch, ThreeWays, Value, lower, numbers, test_on_older_processors};
use kernelmill_compiler::{Lowering, Pass, PassReport};

#[path = "warp_branches/random.rs"]
mod random;

static WAYS: LazyLock<ThreeWays> = LazyLock::new(|| ThreeWays::of("warp_branches"));

/// Blocks with rows of whole vectors and not, smaller and larger than a warp.
const SHAPES: [[u32; 3]; 13] = [
    [1, 1, 1],
    [7, 1, 1],
    [32, 1, 1],
    [33, 1, 1],
    [96, 1, 1],
    [256, 1, 1],
    [250, 1, 1],
    [1024, 1, 1],
    [16, 16, 1],
    [32, 8, 1],
    [5, 7, 3],
    [32, 3, 2],
    [3, 40, 1],
];

/// Runs a kernel by each compilation for a block of this shape. What lanes that there are not give is not defined on the
/// emulator, nor what those give that have returned.
fn compare(ways: &ThreeWays, kernel: &str, shape: [u32; 3], n: u32, is_defined: bool) {
    let launch = Launch { grid: [3, 1, 1], block: shape, shared: 0 };
    let threads = 3 * shape.iter().product::<u32>();
    let values = [
        Value::Words(vec![0xabcd; threads as usize]),
        Value::Words(numbers(threads, shape[0] + n)),
        Value::of(n),
    ];
    let what = format!("{kernel} in blocks of {shape:?} with {n}");
    let is_emulated = is_defined && threads.is_multiple_of(96);
    ways.compare((kernel, &what), launch, (&values, 1), is_emulated);
}

#[test]
fn branches_of_warps() {
    for shape in SHAPES {
        for n in 1..5 {
            for kernel in ["branch_first_warp", "branch_both", "branch_nested", "branch_returns"] {
                compare(&WAYS, kernel, shape, n, true);
            }
            // Elsewhere the row is no whole warp.
            if shape[0] == 32 || shape[1..] == [1, 1] {
                compare(&WAYS, "branch_row", shape, n, true);
            }
        }
    }
}

#[test]
fn loops_of_different_lengths() {
    for shape in SHAPES {
        for n in [0, 1, 2, 5, 40, 61] {
            compare(&WAYS, "branch_rows", shape, n, true);
        }
        for n in 0..4 {
            compare(&WAYS, "branch_rounds", shape, n, true);
        }
    }
}

#[test]
fn branches_of_lanes() {
    for shape in SHAPES {
        (0..6).for_each(|n| compare(&WAYS, "branch_lanes", shape, n, false));
        // As a coroutine, and with nothing else.
        (0..4).for_each(|n| compare(&WAYS, "branch_waits", shape, n, false));
        if shape[1..] == [1, 1] {
            compare(&WAYS, "branch_halves", shape, 3, false);
        }
        compare(&WAYS, "branch_barrier", shape, 0, true);
    }
}

/// Lanes wait for others that never come: both compilations say so.
#[test]
fn a_collective_whose_lanes_have_parted_is_a_deadlock() {
    let launch = Launch { grid: [3, 1, 1], block: [128, 1, 1], shared: 0 };
    let values = [Value::Words(vec![0; 384]), Value::Words(numbers(384, 1)), Value::of(8)];
    for error in WAYS.errors_on_cpu("branch_never", launch, &values) {
        let text = error.expect("the kernel does not end").to_string();
        assert!(text.contains("wait"), "{text}");
    }
    // All lanes go the same way.
    compare(&WAYS, "branch_never", [128, 1, 1], 0, true);
}

/// Some warps wait inside of the branch, and the others behind it.
#[test]
fn whole_warps_wait_at_barriers_of_their_own() {
    (0..5).for_each(|n| compare(&WAYS, "branch_barrier", [128, 1, 1], n, true));
}

#[test]
fn what_is_no_coroutine_any_more_and_what_is_one() {
    let mut found = BTreeMap::new();
    for report in WAYS.vectorized.passes.iter().filter(|it| it.pass == Pass::Linearization) {
        let said = report.fact.as_ref().map(ToString::to_string);
        found.insert(report.kernel.clone().unwrap(), said.unwrap_or_default());
    }
    let expected = [
        ("branch_barrier", "kept: a barrier of the block is under a divergent branch"),
        ("branch_both", "2"),
        ("branch_first_warp", "1"),
        (
            "branch_halves",
            "kept: lanes of a warp diverge before a warp collective whose mask names all of them",
        ),
        ("branch_lanes", "1"),
        ("branch_nested", "6"),
        ("branch_never", "1"),
        ("branch_returns", "1"),
        ("branch_rounds", "3"),
        ("branch_row", "2"),
        ("branch_rows", "2"),
        ("branch_waits", "kept: a loop under a divergent branch may wait for other threads"),
    ];
    assert_eq!(found, expected.map(|(kernel, said)| (kernel.to_owned(), said.to_owned())).into());
    for kernel in &WAYS.vectorized.kernels {
        let strategy = kernel.strategy.as_ref().unwrap();
        let stays = ["branch_barrier", "branch_halves", "branch_waits"];
        let stays = stays.iter().any(|it| kernel.name.contains(it));
        assert_eq!(strategy.widths.is_empty(), stays, "{}: {strategy}", kernel.name);
        assert_eq!(matches!(strategy.lowering, Lowering::Coroutine(_)), stays, "{strategy}");
    }
}

#[test]
fn random_kernels() {
    let number = |name, default| env::var(name).ok().map_or(default, |it| it.parse().unwrap());
    let seed = number("KERNELMILL_SEED", 1);
    let mut linearized = 0;
    let files = number("KERNELMILL_RANDOM_FILES", random::FILES);
    for file in 0..files {
        let kernels = random::kernels(seed, file);
        let name = format!("warp_branches_{seed}_{file}");
        let text = random::text(&kernels);
        println!("seed {seed}, file {file}:\n{text}");
        let path = cuda_cpp::written(&name, &text);
        let ways = ThreeWays::new(lower(&path).unwrap_or_else(|error| panic!("{error}")));
        let is_of_branches =
            |it: &&PassReport| [Pass::EarlyExits, Pass::Linearization].contains(&it.pass);
        for report in ways.vectorized.passes.iter().filter(is_of_branches) {
            println!("{report}");
        }
        let is_linearized =
            |lowering: &Lowering| matches!(lowering, Lowering::BarrierRegions { joins: 1.., .. });
        let strategies = ways.vectorized.kernels.iter().filter_map(|it| it.strategy.as_ref());
        linearized += strategies.filter(|it| is_linearized(&it.lowering)).count();
        for kernel in &kernels {
            for shape in [[96, 1, 1], [250, 1, 1], [32, 3, 2], [5, 7, 3]] {
                compare(&ways, &kernel.name, shape, 3, kernel.is_defined);
            }
            compare(&ways, &kernel.name, [16, 16, 1], 0, kernel.is_defined);
        }
    }
    let all = files as usize * random::KERNELS as usize;
    // In the others the ways of a loop out of its middle lead to different places.
    assert!(linearized * 4 > all, "{linearized} of {all} kernels are linearised");
}

/// The same for what is compiled for older processors, with fewer random kernels, and others.
#[test]
fn older_processors() {
    test_on_older_processors(&|processor| {
        let seed = if processor == "baseline" { "2" } else { "3" };
        vec![("KERNELMILL_SEED", seed), ("KERNELMILL_RANDOM_FILES", "1")]
    });
}
