//! The tests that are run at length, each with its share of the time.

use super::options::Options;

/// A test of a package.
pub(super) struct Run {
    /// What it is called on the page.
    pub(super) title: &'static str,
    pub(super) package: &'static str,
    /// The arguments of cargo that name the tests' program.
    pub(super) target: &'static [&'static str],
    /// The test in that program.
    pub(super) test: &'static str,
    amount: Amount,
    /// Hundredths of the time. What is before the first case, and tests that have no number of cases, take what
    /// they need.
    share: u64,
}

/// What a run is told to try.
enum Amount {
    /// A part of the kills.
    Faults(u64),
    /// Every compilation.
    Compilations,
    /// A part of the inputs.
    Inputs(u64),
    /// All there is.
    All,
}

const IN_BUILDS: &[&str] = &["--lib"];

const fn faults(
    title: &'static str,
    target: &'static [&'static str],
    part: u64,
    share: u64,
) -> Run {
    Run { title, package: "faults", target, test: "", amount: Amount::Faults(part), share }
}

const fn fuzzer(title: &'static str, test: &'static str, part: u64, share: u64) -> Run {
    let amount = Amount::Inputs(part);
    Run { title, package: "kernelmill-build", target: IN_BUILDS, test, amount, share }
}

const fn emulator(title: &'static str, target: &'static [&'static str], share: u64) -> Run {
    Run { title, package: "ptx-emulator", target, test: "", amount: Amount::Inputs(1), share }
}

/// In the order of the page.
pub(super) const RUNS: [Run; 16] = [
    faults("kill -9 of a build", &["--test", "kills"], 1, 24),
    faults("store", &["--test", "damage"], 1, 12),
    faults("builds at once", &["--test", "at_once"], 20, 6),
    faults("no room", &["--test", "disk"], 4, 6),
    faults("times", &["--test", "times"], 4, 4),
    faults("a second user", &["--test", "users"], 1, 2),
    Run {
        title: "whole compilations",
        package: "faults",
        target: &["--test", "compilations"],
        test: "",
        amount: Amount::Compilations,
        share: 20,
    },
    Run {
        title: "driver",
        package: "cuda-backend",
        target: &["--test", "failures"],
        test: "",
        amount: Amount::All,
        share: 2,
    },
    fuzzer("fuzzer of kernels in Rust", "sources_in_rust_are_read_or_refused", 1, 4),
    fuzzer("fuzzer of settings", "settings_are_read_or_refused_by_file", 1, 4),
    fuzzer("fuzzer of contracts", "contracts_are_read_or_refused", 1, 3),
    fuzzer("fuzzer of manifests", "manifests_are_read_or_refused", 1, 2),
    fuzzer("fuzzer of signatures in PTX", "ptx_of_kernels_is_read_or_refused", 1, 2),
    fuzzer("fuzzer of entries of the store", "what_the_store_gives_is_decoded_or_refused", 1, 3),
    fuzzer(
        "builds on damaged stores, without compilers",
        "a_build_on_a_damaged_store_gives_what_it_gave_before",
        100,
        2,
    ),
    emulator("PTX on the emulator", &["--test", "fuzz"], 4),
];

impl Run {
    /// The variables that say how much is tried.
    pub(super) fn variables(&self, options: &Options, seed: u64) -> Vec<(&'static str, u64)> {
        let seconds = options.minutes.map(|minutes| minutes * 60 * self.share / 100);
        let of_faults = |count| ("FAULTS_CASES", "FAULTS_SEED", "FAULTS_SECONDS", count);
        let (cases, first, limit, count) = match self.amount {
            Amount::All => return Vec::new(),
            Amount::Faults(part) => of_faults(options.kills.div_ceil(part)),
            Amount::Compilations => of_faults(options.compilations),
            Amount::Inputs(part) => (
                "KERNELMILL_FUZZ_CASES",
                "KERNELMILL_FUZZ_SEED",
                "KERNELMILL_FUZZ_SECONDS",
                options.fuzz.div_ceil(part),
            ),
        };
        let limit = seconds.map(|seconds| (limit, seconds));
        [(cases, count), (first, seed)].into_iter().chain(limit).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_are_the_whole_time() {
        assert_eq!(RUNS.iter().map(|run| run.share).sum::<u64>(), 100);
    }

    #[test]
    fn counts_and_seconds_are_told_by_variables() {
        let options =
            Options { kills: 10, compilations: 30, fuzz: 1_000, minutes: Some(10), seed: None };
        let variables = RUNS[0].variables(&options, 7);
        assert_eq!(variables, [("FAULTS_CASES", 10), ("FAULTS_SEED", 7), ("FAULTS_SECONDS", 144)]);
        let options = Options { minutes: None, ..options };
        let variables = RUNS[6].variables(&options, 7);
        assert_eq!(variables, [("FAULTS_CASES", 30), ("FAULTS_SEED", 7)]);
        let variables = RUNS[14].variables(&options, 7);
        assert_eq!(variables, [("KERNELMILL_FUZZ_CASES", 10), ("KERNELMILL_FUZZ_SEED", 7)]);
    }
}
