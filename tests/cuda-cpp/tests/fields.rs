//! Structures in a row, read and written by their fields: vectorised, not vectorised, and on the emulator.

use std::{env, process::Command, sync::OnceLock};

use cuda_cpp::{Launch, OnCpu, OnEmulator, Source, Value, lower, source};
use kernelmill_compiler::{Artifact, Lowering, Params};

/// The largest number of words of a structure, and of those that a thread writes.
const WORDS: u32 = 8;

fn fields() -> &'static Source {
    static SOURCE: OnceLock<Source> = OnceLock::new();
    SOURCE.get_or_init(|| lower(&source("fields")).unwrap_or_else(|error| panic!("{error}")))
}

fn compiled(target: &str, vectorize: bool) -> Artifact {
    let params = Params { vectorize, ..Params::default() };
    fields().compile_with(target, params).unwrap_or_else(|error| panic!("{target}: {error}"))
}

fn loaded(artifact: &Artifact) -> OnCpu {
    OnCpu::new(artifact, &fields().signatures("cpu"), "fields").unwrap()
}

/// Numbers that look random.
fn numbers(count: u32) -> Vec<u32> {
    let mix = |i: u32| {
        let value = (i ^ 0x9e37_79b9).wrapping_mul(0x85eb_ca6b);
        (value ^ (value >> 13)).wrapping_mul(0xc2b2_ae35) >> 5
    };
    (0..count).map(mix).collect()
}

#[test]
fn structures_are_what_they_are_without_vectors() {
    let vectorized = compiled("cpu", true);
    for kernel in &vectorized.kernels {
        let strategy = kernel.strategy.as_ref().unwrap();
        assert!(matches!(strategy.lowering, Lowering::ThreadLoop), "{}: {strategy}", kernel.name);
        assert!(strategy.scalar.is_none(), "{}: {strategy}", kernel.name);
    }
    let runs = [loaded(&vectorized), loaded(&compiled("cpu", false))];
    let emulated = OnEmulator::new(&compiled("compute_80", true));
    let kernels = fields().signatures("cpu");
    assert_eq!(kernels.len(), 14);
    for kernel in kernels {
        for (threads, n) in [(1, 1), (16, 16), (64, 64), (64, 57), (100, 100), (128, 3), (7, 6)] {
            let what = format!("{} in blocks of {threads} of {n}", kernel.name);
            let blocks = 3;
            let all = blocks * threads;
            // `again` and `between` read where their own structure is.
            let input = match &*kernel.name {
                "again" | "between" => (0..WORDS * all).collect(),
                _ => numbers(WORDS * all),
            };
            let launch = Launch { grid: [blocks, 1, 1], block: [threads, 1, 1], shared: 0 };
            let values = [
                Value::Words(numbers(WORDS * all + 3)),
                Value::Words(input),
                Value::of((blocks - 1) * threads + n),
            ];
            let symbol = kernel.symbol.to_string();
            let [vectors, threads] = runs.each_ref().map(|run| {
                let after = run.run(&symbol, launch, &values);
                after.unwrap_or_else(|error| panic!("{what}: {error}"))[0].words().to_vec()
            });
            assert_eq!(vectors, threads, "{what}: vectorised, and not");
            let options = ptx_emulator::Options::default();
            let after = emulated.run(&symbol, launch, &values, &options);
            let after = after.unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!(vectors, after[0].words(), "{what}: on the CPU, and on the emulator");
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
