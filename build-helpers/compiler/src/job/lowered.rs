//! The result of a front end: bitcode for the host, and what it was read from.

use std::path::PathBuf;

use super::{functions::TableFunction, overrides::Override};
use crate::base::bytes::{Reader, Writer, contains};

/// What the front end makes of a source: bitcode for the host, not optimised.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lowered {
    /// The modules, the kernels' own first.
    pub modules: Vec<Vec<u8>>,
    /// Every file that was read, absolute.
    pub inputs: Vec<PathBuf>,
    /// The environment variables that were read, by `env!` and `option_env!`.
    pub variables: Vec<String>,
    /// What rustc printed although it succeeded.
    pub warnings: String,
    /// Other sources, for the functions that this one names.
    pub children: Vec<Child>,
    /// Functions of sources that are not given, each with its source: for messages.
    pub known: Vec<(String, String)>,
    /// The functions that the host can give to its kernels.
    pub functions: Vec<TableFunction>,
    /// What stands for stages of its kernels.
    pub overrides: Vec<Override>,
}

/// A source that is given with another, for the functions it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Child {
    /// The source as people know it.
    pub display: String,
    /// As the front end left it.
    pub lowered: Lowered,
}

impl Lowered {
    /// Whether the source, or one whose functions it names, may call a function with a name that starts
    /// so: names stand in bitcode as they are.
    pub(crate) fn names(&self, prefix: &str) -> bool {
        self.modules.iter().any(|module| contains(module, prefix.as_bytes()))
            || self.children.iter().any(|child| child.lowered.names(prefix))
    }

    /// The modules as bytes for a store: what comes after depends on nothing else. What was read
    /// and printed is for whoever keeps the store to remember.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.number(self.modules.len() as u64);
        for module in &self.modules {
            writer.bytes(module);
        }
        writer.finish()
    }

    /// Reads what [`Lowered::to_bytes`] wrote; `None` where it is not that.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let modules = reader.list(|reader| reader.bytes().map(<[u8]>::to_vec))?;
        reader.end()?;
        Some(Self { modules, ..Self::default() })
    }
}
