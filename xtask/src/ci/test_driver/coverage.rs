//! Which instructions of the kernels were executed.

use anyhow::{Context as _, Result, bail, ensure};
use std::collections::{BTreeMap, BTreeSet};

/// The instructions of the kernels, by kernel and place.
#[derive(Default)]
pub(super) struct Coverage {
    kernels: BTreeMap<String, Instructions>,
}

/// The instructions of a kernel and of what it calls, by line of the PTX and mnemonic.
pub(super) type Instructions = BTreeMap<(usize, String), Instruction>;

/// What is known of an instruction.
#[derive(Default)]
pub(super) struct Instruction {
    /// File and line of its source.
    pub(super) source: Option<String>,
    /// How often threads have run it.
    pub(super) count: u64,
}

impl Coverage {
    /// Adds what the driver has appended to the file of `FAKE_CUDA_COVERAGE`, in several runs: a
    /// line is kernel, line of the PTX, source, mnemonic and count.
    pub(super) fn add(&mut self, text: &str) -> Result<()> {
        for line in text.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let [kernel, place, source, mnemonic, count] = fields[..] else {
                bail!(
                    "the coverage of the fake driver has the line `{line}`, which is not kernel, line, source, \
                     mnemonic and count"
                );
            };
            let place = place.parse().with_context(|| line.to_owned())?;
            let instructions = self.kernels.entry(kernel.to_owned()).or_default();
            let found = instructions.entry((place, mnemonic.to_owned())).or_default();
            found.source = (source != "-").then(|| source.to_owned());
            found.count += count.parse::<u64>().with_context(|| line.to_owned())?;
        }
        Ok(())
    }

    /// Every kernel with its instructions.
    pub(super) fn kernels(&self) -> impl Iterator<Item = (&str, &Instructions)> {
        self.kernels.iter().map(|(kernel, instructions)| (kernel.as_str(), instructions))
    }

    /// The kinds of instruction that no kernel has executed.
    pub(super) fn never_executed(&self) -> BTreeSet<&str> {
        let (mut all, mut executed) = (BTreeSet::new(), BTreeSet::new());
        for ((_, mnemonic), found) in self.kernels.values().flatten() {
            all.insert(mnemonic.as_str());
            if found.count > 0 {
                executed.insert(mnemonic.as_str());
            }
        }
        &all - &executed
    }

    /// Prints how many kinds of instruction the kernels have; an error where one of them was never
    /// executed, neither by the suite nor by kernels made wrong. Those reach what correct code does
    /// not, the traps behind the invariants of `core`.
    pub(super) fn all_executed(&self, wrong: &Self) -> Result<()> {
        let kinds: BTreeSet<_> =
            self.kernels.values().flatten().map(|((_, name), _)| name).collect();
        let never = self.never_executed();
        let executed_wrong: BTreeSet<_> = wrong
            .kernels
            .values()
            .flatten()
            .filter(|(_, found)| found.count > 0)
            .map(|((_, mnemonic), _)| mnemonic.as_str())
            .collect();
        let by_wrong: Vec<_> = never.intersection(&executed_wrong).copied().collect();
        println!(
            "{} kinds of PTX instruction: {} executed by the suite, {} by kernels made wrong only {by_wrong:?}",
            kinds.len(),
            kinds.len() - never.len(),
            by_wrong.len()
        );
        let left = &never - &executed_wrong;
        for mnemonic in &left {
            let places = self.kernels().flat_map(|(kernel, found)| {
                let lines = found.keys().filter(|(_, name)| name == mnemonic);
                lines.map(move |(line, _)| format!("{kernel}:{line}"))
            });
            println!("    never executed: {mnemonic} in {}", places.collect::<Vec<_>>().join(", "));
        }
        ensure!(
            left.is_empty(),
            "{} kinds of PTX instruction in kernels were never executed: add checks to tests/conformance that execute \
             them",
            left.len()
        );
        Ok(())
    }
}
