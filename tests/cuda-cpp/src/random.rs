//! Random kernels by every compilation, compared with what plain Rust says they compute.

use std::{
    collections::BTreeMap,
    fmt,
    time::{Duration, Instant},
};

use kernelmill_compiler::{Artifact, Config, Params};
use ptx_emulator::Order;
use random_cuda::{BLOCKS, COUNT, Memory, Program, generate, inputs, interpret, shrink, source};

use crate::{Launch, OnCpu, OnEmulator, Source, Value, lower, nvcc, written};

/// How a kernel is compiled and run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Compilation {
    /// clang, for the CPU, scalar.
    Scalar,
    /// clang, for the CPU, vectorised.
    Vectorized,
    /// clang, to PTX on the emulator.
    ClangPtx,
    /// nvcc, to PTX on the emulator.
    NvccPtx,
}

impl Compilation {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Scalar, Self::Vectorized, Self::ClangPtx, Self::NvccPtx];
}

impl fmt::Display for Compilation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Scalar => "clang and scalar code of the CPU",
            Self::Vectorized => "clang and vectorised code of the CPU",
            Self::ClangPtx => "clang and PTX",
            Self::NvccPtx => "nvcc and PTX",
        })
    }
}

/// What went wrong with a kernel.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Where.
    pub compilation: Compilation,
    /// What.
    pub reason: String,
}

/// Compares the kernels of these numbers of a seed, all in one file, by each compilation; for each that is
/// wrong its number and what is.
///
/// # Panics
///
/// Where files cannot be written.
#[must_use]
pub fn check(
    seed: u64,
    numbers: std::ops::Range<u64>,
    compilations: &[Compilation],
) -> Vec<(u64, Failure)> {
    let name = format!("random_{seed}_{}", numbers.start);
    let programs: Vec<_> = numbers.clone().map(|number| generate(seed, number)).collect();
    let programs: Vec<_> = programs.iter().collect();
    let failures =
        compilations.iter().flat_map(|compilation| by_compilation(&name, &programs, *compilation));
    failures.map(|(index, failure)| (numbers.start + index as u64, failure)).collect()
}

/// A kernel that is as wrong as the one of this number, and as small as could be found in the time,
/// with what is wrong with it.
#[must_use]
pub fn reproducer(seed: u64, number: u64, compilation: Compilation, time: Duration) -> String {
    let program = generate(seed, number);
    let name = format!("shrunk_{seed}_{number}");
    let begun = Instant::now();
    let fails = |program: &Program| !by_compilation(&name, &[program], compilation).is_empty();
    let small = shrink(&program, fails, || begun.elapsed() < time);
    let failure = by_compilation(&name, &[&small], compilation).pop();
    let reason = failure.map_or("it does not fail alone".to_owned(), |(_, it)| it.reason);
    format!(
        "seed {seed}, kernel {number}, by {compilation}: {reason}\nIt is launched with {BLOCKS} blocks of {:?} \
         threads and n = {COUNT}.\n{}",
        small.block,
        source(&[&small])
    )
}

/// The programs that are wrong by a compilation.
fn by_compilation(
    name: &str,
    programs: &[&Program],
    compilation: Compilation,
) -> Vec<(usize, Failure)> {
    let compiled = match compile(name, programs, compilation) {
        Ok(Some(compiled)) => compiled,
        Ok(None) => return Vec::new(),
        Err(reason) if programs.len() == 1 => return vec![(0, Failure { compilation, reason })],
        Err(_) => {
            // One by one, to say which it is.
            let each = programs.iter().enumerate().flat_map(|(index, program)| {
                by_compilation(name, &[program], compilation)
                    .into_iter()
                    .map(move |(_, it)| (index, it))
            });
            return each.collect();
        }
    };
    let run = |program: &&Program| compiled.check(program).err();
    let failures = programs.iter().map(run).enumerate();
    failures.filter_map(|(at, it)| Some((at, Failure { compilation, reason: it? }))).collect()
}

/// Compiled kernels, and what runs them.
enum Compiled {
    Cpu(OnCpu),
    Emulator(OnEmulator),
}

/// Compiles programs; `None` where the compiler is missing.
fn compile(
    name: &str,
    programs: &[&Program],
    compilation: Compilation,
) -> Result<Option<Compiled>, String> {
    let mut file = written(name, &source(programs));
    let params = Params {
        contract: false,
        vectorize: compilation == Compilation::Vectorized,
        ..Params::default()
    };
    let by_clang = |target: &str| -> Result<(Source, Artifact), String> {
        let lowered = lower(&file).map_err(|error| error.to_string())?;
        let artifact = lowered.compile_with(target, params.clone());
        Ok((lowered, artifact.map_err(|error| error.to_string())?))
    };
    Ok(Some(match compilation {
        Compilation::Scalar | Compilation::Vectorized => {
            let (source, artifact) = by_clang("cpu")?;
            let loaded = OnCpu::new(&artifact, &source.signatures("cpu"), &source.name);
            Compiled::Cpu(loaded.map_err(|error| error.to_string())?)
        }
        Compilation::ClangPtx => Compiled::Emulator(OnEmulator::new(&by_clang("compute_80")?.1)),
        Compilation::NvccPtx => {
            let Some(nvcc) = nvcc() else { return Ok(None) };
            file.arguments.push("-w".to_owned());
            let target = "compute_80".parse().expect("a target");
            let compiled = nvcc.compile(&file, &Config { params, ..Config::new(target) }, &[]);
            Compiled::Emulator(OnEmulator::new(&compiled.map_err(|error| error.to_string())?.0))
        }
    }))
}

impl Compiled {
    /// Runs a kernel and compares all it wrote; on the emulator in three orders, of which the last
    /// looks for races.
    fn check(&self, program: &Program) -> Result<(), String> {
        let expected = interpret(program, BLOCKS, COUNT).ok_or("it takes too long")?;
        let before = Memory::before(BLOCKS * program.threads());
        let memory = [inputs(), before.out, before.bins, before.slots].map(Value::Words);
        let arguments: Vec<_> = [Value::of(COUNT)].into_iter().chain(memory).collect();
        let [x, y] = program.block;
        let launch = Launch { grid: [BLOCKS as u32, 1, 1], block: [x, y, 1], shared: 0 };
        match self {
            Self::Cpu(cpu) => {
                let after = cpu.run(&program.name, launch, &arguments);
                expected.check(written_by(&after.map_err(|error| error.to_string())?))
            }
            Self::Emulator(emulator) => {
                let orders =
                    [(Order::Forward, false), (Order::Reverse, false), (Order::Random(7), true)];
                orders.into_iter().try_for_each(|(order, detect_races)| {
                    let options =
                        ptx_emulator::Options { order, detect_races, ..Default::default() };
                    let after = emulator.run(&program.name, launch, &arguments, &options);
                    let after = after.map_err(|fault| format!("{order:?}: {fault}"))?;
                    let written = written_by(&after);
                    expected.check(written).map_err(|error| format!("{order:?}: {error}"))
                })
            }
        }
    }
}

/// What a kernel wrote, of its arguments after a launch.
fn written_by(arguments: &[Value]) -> [&[u32]; 3] {
    [2, 3, 4].map(|index| arguments[index].words())
}

/// Files of kernels, one after the other, until the time is over; how many kernels were compared,
/// and the first failure by each compilation.
#[must_use]
pub fn check_for(
    seed: u64,
    time: Duration,
    per_file: u64,
    compilations: &[Compilation],
) -> (u64, BTreeMap<Compilation, (u64, Failure)>) {
    let begun = Instant::now();
    let (mut next, mut failures) = (0, BTreeMap::new());
    while begun.elapsed() < time {
        for (number, failure) in check(seed, next..next + per_file, compilations) {
            failures.entry(failure.compilation).or_insert((number, failure));
        }
        next += per_file;
    }
    (next, failures)
}
