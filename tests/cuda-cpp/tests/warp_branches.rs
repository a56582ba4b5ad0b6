//! Warp collectives under divergent branches and in loops of different lengths: vectorised, as coroutines, and on
//! the emulator, for blocks of many shapes.

use std::{
    collections::BTreeMap,
    env,
    process::Command,
    sync::{LazyLock, OnceLock},
};

use cuda_cpp::{Launch, OnCpu, OnEmulator, Source, Value, lower, source};
use kernelmill_compiler::{Artifact, Lowering, Params, Pass, PassReport};

#[path = "warp_branches/random.rs"]
mod random;

fn branches() -> &'static Source {
    static SOURCE: OnceLock<Source> = OnceLock::new();
    let read = || lower(&source("warp_branches")).unwrap_or_else(|error| panic!("{error}"));
    SOURCE.get_or_init(read)
}

fn compiled(source: &Source, target: &str, vectorize: bool) -> Artifact {
    let params = Params { vectorize, ..Params::default() };
    source.compile_with(target, params).unwrap_or_else(|error| panic!("{target}: {error}"))
}

static VECTORIZED: LazyLock<Artifact> = LazyLock::new(|| compiled(branches(), "cpu", true));

/// Numbers that look random.
fn numbers(count: usize, seed: u32) -> Vec<u32> {
    let mix = |i: u32| {
        let value = (i ^ seed.wrapping_mul(0x9e37_79b9)).wrapping_mul(0x85eb_ca6b);
        (value ^ (value >> 13)).wrapping_mul(0xc2b2_ae35) >> 5
    };
    (0..count as u32).map(mix).collect()
}

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

/// The compilations of a source.
struct Runs {
    source: &'static Source,
    vectorized: OnCpu,
    coroutines: OnCpu,
    emulated: OnEmulator,
}

impl Runs {
    fn new(source: &'static Source, vectorized: &Artifact) -> Self {
        let load =
            |artifact| OnCpu::new(artifact, &source.signatures("cpu"), &source.name).unwrap();
        Self {
            source,
            vectorized: load(vectorized),
            coroutines: load(&compiled(source, "cpu", false)),
            emulated: OnEmulator::new(&compiled(source, "compute_80", true)),
        }
    }

    /// Runs a kernel by each for a block of this shape. What lanes that there are not give is not defined on the
    /// emulator, nor what those give that have returned.
    fn compare(&self, kernel: &str, shape: [u32; 3], n: u32, is_emulated: bool) {
        let symbol = |target: &str| {
            let signatures = self.source.signatures(target);
            signatures.into_iter().find(|it| it.name == kernel).unwrap().symbol.to_string()
        };
        let launch = Launch { grid: [3, 1, 1], block: shape, shared: 0 };
        let threads = 3 * shape.iter().product::<u32>() as usize;
        let values = [
            Value::Words(vec![0xabcd; threads]),
            Value::Words(numbers(threads, shape[0] + n)),
            Value::of(n),
        ];
        let what = format!("{kernel} in blocks of {shape:?} with {n}");
        let runs = [&self.vectorized, &self.coroutines].map(|run| {
            let after = run.run(&symbol("cpu"), launch, &values);
            after.unwrap_or_else(|error| panic!("{what}: {error}"))[0].words().to_vec()
        });
        assert_eq!(runs[0], runs[1], "{what}: vectorised, and as coroutines");
        if is_emulated && threads.is_multiple_of(96) {
            let options = ptx_emulator::Options::default();
            let after = self.emulated.run(&symbol("compute_80"), launch, &values, &options);
            let after = after.unwrap_or_else(|fault| panic!("{what}: {fault}"));
            assert_eq!(runs[0], after[0].words(), "{what}: on the CPU, and on the emulator");
        }
    }
}

fn runs() -> &'static Runs {
    static RUNS: OnceLock<Runs> = OnceLock::new();
    RUNS.get_or_init(|| Runs::new(branches(), &VECTORIZED))
}

#[test]
fn branches_of_warps() {
    for shape in SHAPES {
        for n in 1..5 {
            for kernel in ["branch_first_warp", "branch_both", "branch_nested", "branch_returns"] {
                runs().compare(kernel, shape, n, true);
            }
            // Elsewhere the row is no whole warp.
            if shape[0] == 32 || shape[1..] == [1, 1] {
                runs().compare("branch_row", shape, n, true);
            }
        }
    }
}

#[test]
fn loops_of_different_lengths() {
    for shape in SHAPES {
        for n in [0, 1, 2, 5, 40, 61] {
            runs().compare("branch_rows", shape, n, true);
        }
        for n in 0..4 {
            runs().compare("branch_rounds", shape, n, true);
        }
    }
}

#[test]
fn branches_of_lanes() {
    for shape in SHAPES {
        (0..6).for_each(|n| runs().compare("branch_lanes", shape, n, false));
        // As a coroutine, and with nothing else.
        (0..4).for_each(|n| runs().compare("branch_waits", shape, n, false));
        if shape[1..] == [1, 1] {
            runs().compare("branch_halves", shape, 3, false);
        }
        runs().compare("branch_barrier", shape, 0, true);
    }
}

/// Lanes wait for others that never come: both compilations say so.
#[test]
fn a_collective_whose_lanes_have_parted_is_a_deadlock() {
    let runs = runs();
    for (kernel, n) in [("branch_never", 8), ("branch_barrier", 2)] {
        let signatures = runs.source.signatures("cpu");
        let symbol = signatures.iter().find(|it| it.name == kernel).unwrap().symbol.to_string();
        let launch = Launch { grid: [3, 1, 1], block: [128, 1, 1], shared: 0 };
        let values = [Value::Words(vec![0; 384]), Value::Words(numbers(384, 1)), Value::of(n)];
        for run in [&runs.vectorized, &runs.coroutines] {
            let error = run.run(&symbol, launch, &values).err().map(|it| it.to_string());
            let text = error.unwrap_or_else(|| panic!("{kernel} has ended"));
            assert!(text.contains("wait"), "{kernel}: {text}");
        }
        // All lanes go the same way.
        runs.compare(kernel, [128, 1, 1], 0, true);
    }
}

#[test]
fn what_is_no_coroutine_any_more_and_what_is_one() {
    let mut found = BTreeMap::new();
    for report in VECTORIZED.passes.iter().filter(|it| it.pass == Pass::Linearization) {
        let said = report.fact.as_ref().map(ToString::to_string);
        found.insert(report.kernel.clone().unwrap(), said.unwrap_or_default());
    }
    let expected = [
        ("branch_barrier", "kept: a barrier of the block is under a divergent branch"),
        ("branch_both", "2"),
        ("branch_first_warp", "1"),
        ("branch_halves", "kept: lanes of a warp part before a collective that names all of them"),
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
    for kernel in &VECTORIZED.kernels {
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
        let name = format!("warp_branches_{}_{file}", std::process::id());
        let text = random::text(&kernels);
        println!("seed {seed}, file {file}:\n{text}");
        let path = cuda_cpp::written(&name, &text);
        let source: &'static Source =
            Box::leak(Box::new(lower(&path).unwrap_or_else(|error| panic!("{error}"))));
        let vectorized = compiled(source, "cpu", true);
        let is_of_branches =
            |it: &&PassReport| [Pass::EarlyExits, Pass::Linearization].contains(&it.pass);
        for report in vectorized.passes.iter().filter(is_of_branches) {
            println!("{report}");
        }
        let is_linearized =
            |lowering: &Lowering| matches!(lowering, Lowering::BarrierRegions { joins: 1.., .. });
        let strategies = vectorized.kernels.iter().filter_map(|it| it.strategy.as_ref());
        linearized += strategies.filter(|it| is_linearized(&it.lowering)).count();
        let runs = Runs::new(source, &vectorized);
        for kernel in &kernels {
            for shape in [[96, 1, 1], [250, 1, 1], [32, 3, 2], [5, 7, 3]] {
                runs.compare(&kernel.name, shape, 3, kernel.is_defined);
            }
            runs.compare(&kernel.name, [16, 16, 1], 0, kernel.is_defined);
        }
    }
    let all = files as usize * random::KERNELS as usize;
    // In the others the ways of a loop out of its middle lead to different places.
    assert!(linearized * 4 > all, "{linearized} of {all} kernels are linearised");
}

/// The same for what is compiled for older processors, with fewer random kernels, and others.
#[test]
fn older_processors() {
    for (processor, seed) in [("baseline", "2"), ("avx2", "3")] {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--skip", "older_processors"]).env("KERNELMILL_CPU", processor);
        command.envs([("KERNELMILL_SEED", seed), ("KERNELMILL_RANDOM_FILES", "1")]);
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && !text.contains(" 0 passed"), "{processor}: {text}");
    }
}
