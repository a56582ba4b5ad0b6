//! Kernels in blocks that are narrow along x: vectorised, not vectorised, and on the emulator, for blocks of many shapes.

use std::{
    env,
    process::Command,
    sync::{LazyLock, OnceLock},
};

use cuda_cpp::{Launch, OnCpu, OnEmulator, Source, Value, lower, source};
use kernelmill_compiler::{Artifact, Lowering, Params};

const BLOCKS: u32 = 2;

/// The elements for each thread.
const ELEMENTS: u32 = 3;

fn narrow() -> &'static Source {
    static SOURCE: OnceLock<Source> = OnceLock::new();
    SOURCE.get_or_init(|| lower(&source("narrow_blocks")).unwrap_or_else(|error| panic!("{error}")))
}

fn compiled(target: &str, vectorize: bool) -> Artifact {
    let params = Params { vectorize, ..Params::default() };
    narrow().compile_with(target, params).unwrap_or_else(|error| panic!("{target}: {error}"))
}

static VECTORIZED: LazyLock<Artifact> = LazyLock::new(|| compiled("cpu", true));

/// Blocks of one to three threads along x, with columns of whole vectors and not, and others.
fn shapes() -> Vec<[u32; 3]> {
    let heights = [1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 40, 64, 100];
    let narrow = [1, 2, 3].into_iter().flat_map(|width| heights.map(|height| [width, height, 1]));
    let deep = [[1, 20, 3], [2, 9, 5], [3, 17, 2], [5, 7, 3], [1, 1, 40], [2, 33, 4]];
    let wide = [[4, 64, 1], [7, 40, 1], [9, 8, 1], [15, 17, 1], [16, 5, 1], [33, 3, 1]];
    narrow.chain(deep).chain(wide).collect()
}

fn loaded(artifact: &Artifact) -> OnCpu {
    OnCpu::new(artifact, &narrow().signatures("cpu"), "narrow_blocks").unwrap()
}

fn symbol(target: &str, kernel: &str) -> String {
    let signatures = narrow().signatures(target);
    signatures.into_iter().find(|it| it.name == kernel).unwrap().symbol.to_string()
}

/// Numbers that look random.
fn numbers(count: u32) -> Vec<u32> {
    let mix = |i: u32| {
        let value = (i ^ 0x9e37_79b9).wrapping_mul(0x85eb_ca6b);
        (value ^ (value >> 13)).wrapping_mul(0xc2b2_ae35) >> 5
    };
    (0..count).map(mix).collect()
}

/// Runs a kernel in blocks of all shapes, for each of some arguments.
fn compare(kernel: &str, arguments: &[u32]) {
    static RUNS: OnceLock<[OnCpu; 2]> = OnceLock::new();
    static EMULATED: OnceLock<OnEmulator> = OnceLock::new();
    let runs = RUNS.get_or_init(|| [loaded(&VECTORIZED), loaded(&compiled("cpu", false))]);
    let emulated = EMULATED.get_or_init(|| OnEmulator::new(&compiled("compute_80", true)));
    let (on_cpu, on_emulator) = (symbol("cpu", kernel), symbol("compute_80", kernel));
    for shape in shapes() {
        for &argument in arguments {
            let words = ELEMENTS * BLOCKS * shape.iter().product::<u32>();
            let launch = Launch { grid: [BLOCKS, 1, 1], block: shape, shared: 0 };
            let out = Value::Words(vec![0xabcd; words as usize]);
            let values = [out, Value::Words(numbers(words)), Value::of(argument)];
            let what = format!("{kernel} in blocks of {shape:?} with {argument}");
            let [vectors, threads] = runs.each_ref().map(|run| {
                let after = run.run(&on_cpu, launch, &values);
                after.unwrap_or_else(|error| panic!("{what}: {error}"))[0].words().to_vec()
            });
            assert_eq!(vectors, threads, "{what}: vectorised, and not");
            // What a shuffle gives from a lane that the block does not have is not defined there.
            if kernel == "narrow_warps" && shape.iter().product::<u32>() % 32 != 0 {
                continue;
            }
            let options = ptx_emulator::Options::default();
            let after = emulated.run(&on_emulator, launch, &values, &options);
            let after = after.unwrap_or_else(|fault| panic!("{what}: {fault}"));
            assert_eq!(vectors, after[0].words(), "{what}: on the CPU, and on the emulator");
        }
    }
}

/// All are kernels with vectors in both directions, of each lowering that has vectors.
#[test]
fn vectors_go_along_y_in_narrow_blocks() {
    for kernel in &VECTORIZED.kernels {
        let strategy = kernel.strategy.as_ref().unwrap();
        assert!(strategy.narrow_along_y, "{}: {strategy}", kernel.name);
        assert!(strategy.to_string().contains(", along y in narrow blocks"), "{strategy}");
    }
    let lowerings = VECTORIZED.kernels.iter().map(|it| &it.strategy.as_ref().unwrap().lowering);
    let (mut plain, mut regions, mut collectives, mut exits) = (0, 0, 0, 0);
    for lowering in lowerings {
        match lowering {
            Lowering::ThreadLoop => plain += 1,
            Lowering::BarrierRegions { warp_collectives, early_exits, .. } => {
                regions += 1;
                collectives += u32::from(*warp_collectives > 0);
                exits += u32::from(*early_exits > 0);
            }
            Lowering::Coroutine(_) => panic!("{lowering}"),
        }
    }
    assert_eq!([plain, regions, collectives, exits], [4, 6, 1, 1]);
}

#[test]
fn loops_without_barriers() {
    compare("narrow_rows", &[0, 11, 1000]);
    compare("narrow_columns", &[3]);
    compare("narrow_strides", &[0, 1, ELEMENTS]);
    compare("narrow_row_strides", &[0, 1, ELEMENTS]);
}

#[test]
fn shared_memory_and_barriers() {
    compare("narrow_tile", &[1, 2, 40]);
    compare("narrow_scan", &[5]);
}

#[test]
fn threads_that_exit_before_barriers() {
    compare("narrow_exits", &[0, 1, 7, 1000]);
}

#[test]
fn warp_collectives() {
    compare("narrow_warps", &[0, 9]);
}

#[test]
fn arrays_of_threads_over_barriers() {
    compare("narrow_arrays", &[0, 4]);
}

/// A thread that ends the launch is named by its place, before a barrier and after one.
#[test]
fn threads_that_fail_are_named() {
    let run = loaded(&VECTORIZED);
    for (shape, thread) in [([1, 40, 1], [0, 37, 0]), ([3, 33, 2], [1, 20, 1])] {
        let [width, height, depth] = shape;
        let mut elements = numbers(width * height * depth);
        elements.iter_mut().for_each(|it| *it |= 1);
        elements[((thread[2] * width + thread[0]) * height + thread[1]) as usize] = 0;
        for after in [0, 1] {
            let out = Value::Words(vec![0; elements.len()]);
            let values = [out, Value::Words(elements.clone()), Value::of(after)];
            let launch = Launch { grid: [1, 1, 1], block: shape, shared: 0 };
            let error = run.run(&symbol("cpu", "narrow_traps"), launch, &values).unwrap_err();
            let kernelmill::Error::KernelPanic(panic) = error else { panic!("{error}") };
            assert_eq!(panic.thread, thread, "{shape:?}, {after}");
        }
    }
}

/// The same for what is compiled for processors with shorter vectors, and with none.
#[test]
fn older_processors() {
    for processor in ["baseline", "avx2"] {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--skip", "older_processors"]).env("KERNELMILL_CPU", processor);
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && !text.contains(" 0 passed"), "{processor}: {text}");
    }
}
