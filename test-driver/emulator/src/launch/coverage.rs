//! Which instructions of a module have run.

use std::collections::BTreeMap;
use std::sync::Arc;

/// An instruction of the module, with how often it ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Covered {
    /// Function it is in.
    pub function: Arc<str>,
    /// PTX line, from 1.
    pub line: u32,
    /// File and line of the source, where the PTX has `.loc` directives.
    pub source: Option<(Arc<str>, u32)>,
    /// Mnemonic with modifiers, such as `ld.global.b32`.
    pub mnemonic: Arc<str>,
    /// Times it ran, all threads together.
    pub count: u64,
}

/// How often each instruction ran, in one launch or in several that were [merged](Coverage::merge).
///
/// ```
/// use ptx_emulator::{Device, Launch, Module, Options, Properties};
/// let text = ".version 6.3\n.target sm_75\n.entry k()\n{\n\tret;\n\ttrap;\n}\n";
/// let module = Module::parse(text).unwrap();
/// let device = Device::new(Properties::default());
/// let loaded = device.load(&module).unwrap();
/// let report = device.launch(&loaded, "k", &Launch::default(), &Options::default()).unwrap();
/// let missed: Vec<u32> = report.coverage.unexecuted().map(|found| found.line).collect();
/// assert_eq!(missed, [6]);
/// assert_eq!(report.coverage.by_mnemonic()["trap"], 0);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    pub(crate) instructions: Vec<Covered>,
}

impl Coverage {
    /// All instructions, by function and line.
    pub fn instructions(&self) -> &[Covered] {
        &self.instructions
    }

    /// The instructions that no thread has run.
    pub fn unexecuted(&self) -> impl Iterator<Item = &Covered> {
        self.instructions.iter().filter(|covered| covered.count == 0)
    }

    /// How often instructions of each mnemonic ran.
    pub fn by_mnemonic(&self) -> BTreeMap<&str, u64> {
        let mut counts = BTreeMap::new();
        for covered in &self.instructions {
            *counts.entry(&*covered.mnemonic).or_insert(0) += covered.count;
        }
        counts
    }

    /// Adds the counts of another launch, of the same module or of another one.
    pub fn merge(&mut self, other: &Coverage) {
        let key =
            |covered: &Covered| (covered.function.clone(), covered.line, covered.mnemonic.clone());
        let places: BTreeMap<_, usize> = self
            .instructions
            .iter()
            .enumerate()
            .map(|(index, covered)| (key(covered), index))
            .collect();
        for covered in &other.instructions {
            match places.get(&key(covered)) {
                Some(&index) => self.instructions[index].count += covered.count,
                None => self.instructions.push(covered.clone()),
            }
        }
    }
}
