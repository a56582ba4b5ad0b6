//! A source compiled three ways, which have to give the same: vectorised for the CPU, not vectorised (a loop over threads,
//! or coroutines), and as PTX on the emulator.

use std::{env, process::Command};

use kernelmill_compiler::{Artifact, Params};

use crate::{Launch, OnCpu, OnEmulator, Source, Value, lower, source};

/// The compilations of a source.
pub struct ThreeWays {
    /// The source.
    pub source: Source,
    /// What was compiled for the CPU, vectorised.
    pub vectorized: Artifact,
    vectors: OnCpu,
    threads: OnCpu,
    emulated: OnEmulator,
}

impl ThreeWays {
    /// Compiles a file of `kernels`, by its name without `.cu`.
    ///
    /// # Panics
    ///
    /// Where it does not compile.
    #[must_use]
    pub fn of(name: &str) -> Self {
        Self::new(lower(&source(name)).unwrap_or_else(|error| panic!("{name}: {error}")))
    }

    /// Compiles a source.
    ///
    /// # Panics
    ///
    /// Where it does not compile.
    #[must_use]
    pub fn new(source: Source) -> Self {
        let compiled = |target: &str, vectorize: bool| {
            let params = Params { vectorize, ..Params::default() };
            source.compile_with(target, params).unwrap_or_else(|error| panic!("{target}: {error}"))
        };
        let load = |artifact: &Artifact| {
            OnCpu::new(artifact, &source.signatures("cpu"), &source.name)
                .unwrap_or_else(|error| panic!("{error}"))
        };
        let vectorized = compiled("cpu", true);
        let (vectors, threads) = (load(&vectorized), load(&compiled("cpu", false)));
        let emulated = OnEmulator::new(&compiled("compute_80", true));
        Self { source, vectorized, vectors, threads, emulated }
    }

    /// Launches a kernel by each, and compares what is in its first `written` arguments afterwards. On the emulator only
    /// where what it does is defined there.
    ///
    /// # Panics
    ///
    /// Where a launch fails, or two of them differ; `what` says which launch it is.
    pub fn compare(
        &self,
        (kernel, what): (&str, &str),
        launch: Launch,
        (values, written): (&[Value], usize),
        is_emulated: bool,
    ) {
        let words = |after: Vec<Value>| -> Vec<Vec<u32>> {
            after[..written].iter().map(|it| it.words().to_vec()).collect()
        };
        let on_cpu = self.symbol("cpu", kernel);
        let [vectors, threads] = [&self.vectors, &self.threads].map(|run| {
            words(
                run.run(&on_cpu, launch, values).unwrap_or_else(|error| panic!("{what}: {error}")),
            )
        });
        assert_eq!(vectors, threads, "{what}: vectorised, and not");
        if is_emulated {
            let options = ptx_emulator::Options::default();
            let after =
                self.emulated.run(&self.symbol("compute_80", kernel), launch, values, &options);
            let after = words(after.unwrap_or_else(|fault| panic!("{what}: {fault}")));
            assert_eq!(vectors, after, "{what}: on the CPU, and on the emulator");
        }
    }

    /// What a launch on the CPU fails with, by each compilation.
    #[must_use]
    pub fn errors_on_cpu(
        &self,
        kernel: &str,
        launch: Launch,
        values: &[Value],
    ) -> [Option<kernelmill::Error>; 2] {
        let symbol = self.symbol("cpu", kernel);
        [&self.vectors, &self.threads].map(|run| run.run(&symbol, launch, values).err())
    }

    fn symbol(&self, target: &str, kernel: &str) -> String {
        let signatures = self.source.signatures(target);
        let found = signatures.into_iter().find(|it| it.name == kernel);
        found.unwrap_or_else(|| panic!("{target} has no {kernel}")).symbol.to_string()
    }
}

/// Numbers that look random.
#[must_use]
pub fn numbers(count: u32, seed: u32) -> Vec<u32> {
    let mix = |i: u32| {
        let value = (i ^ seed.wrapping_mul(0x9e37_79b9)).wrapping_mul(0x85eb_ca6b);
        (value ^ (value >> 13)).wrapping_mul(0xc2b2_ae35) >> 5
    };
    (0..count).map(mix).collect()
}

/// Runs the other tests of this program with what is compiled for processors with shorter vectors, and with none. The test
/// that calls it is `older_processors`.
///
/// # Panics
///
/// Where one of them fails, or there is none.
pub fn test_on_older_processors(variables: &dyn Fn(&str) -> Vec<(&'static str, &'static str)>) {
    for processor in ["baseline", "avx2"] {
        let mut command = Command::new(env::current_exe().expect("a test knows its program"));
        command.args(["--skip", "older_processors"]).env("KERNELMILL_CPU", processor);
        let output = command.envs(variables(processor)).output().expect("it runs again");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && !text.contains(" 0 passed"), "{processor}: {text}");
    }
}
