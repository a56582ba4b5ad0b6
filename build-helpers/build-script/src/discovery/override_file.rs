//! A file that stands for one stage of a kernel.

use kernelmill_artifact::Target;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// A file that stands for one stage of a kernel.
#[derive(Clone, Debug)]
pub(crate) struct KernelOverride {
    /// The symbol of the kernel in its source.
    pub(crate) symbol: String,
    /// The name of its wrapper.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    /// The file as messages have it.
    pub(crate) display: String,
    pub(crate) form: Form,
    pub(crate) text: Arc<str>,
}

/// What is in such a file, by its ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `.ll`: LLVM's IR, as the stage `ir` has it.
    Ir,
    /// `.cu`: another source, in CUDA C++.
    Cuda,
    /// `.ptx`.
    Ptx,
}

impl Form {
    pub(super) fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "ll" => Some(Self::Ir),
            "cu" => Some(Self::Cuda),
            "ptx" => Some(Self::Ptx),
            _ => None,
        }
    }

    /// Whether code for a target goes through this form.
    pub(crate) fn is_for(self, target: &Target) -> bool {
        match target {
            Target::Ptx(_) | Target::Cubin(_) => true,
            Target::Cpu | Target::Amd(_) => self != Self::Ptx,
            _ => false,
        }
    }

    /// What it stands for, for messages.
    pub(super) fn subject(self) -> &'static str {
        match self {
            Self::Ir => "its code from the front end",
            Self::Cuda => "its source",
            Self::Ptx => "its PTX",
        }
    }
}
