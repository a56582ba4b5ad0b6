//! A kernel source: one file, or one package of kernels.

use crate::settings::resolved::Settings;
use kernelmill_artifact::{DeviceFunction, Parameter, Signature, Target};
use std::{path::PathBuf, sync::Arc};

/// A source with at least one kernel, or one that only its compiler can say something about.
#[derive(Debug)]
pub(crate) struct Source {
    /// The file, or the package's folder; absolute.
    pub(crate) path: PathBuf,
    /// The path relative to the package, as messages and keys have it.
    pub(crate) display: String,
    pub(crate) kind: SourceKind,
    /// Its kernels; `None` where the text is not Rust, which rustc will say better, and for C and
    /// C++ until it has been compiled.
    pub(crate) signatures: Option<Vec<Signature>>,
    /// The functions that kernels can be given; those of CUDA C++ once it has been compiled.
    pub(crate) functions: Vec<DeviceFunction>,
    /// How long compiling it takes next to others, where that is known.
    pub(crate) weight: u64,
    /// The text of its files, by how messages name them.
    pub(crate) texts: Vec<(String, Arc<str>)>,
    /// The launch state of its kernels that have some, by their symbols.
    pub(crate) states: Vec<(String, Vec<Parameter>)>,
}

/// How a source is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SourceKind {
    /// By rustc, in place.
    File,
    /// By cargo.
    Package,
    /// CUDA C++, by nvcc or clang.
    Cuda,
    /// OpenCL C, by clang.
    OpenCl,
}

impl SourceKind {
    /// Whether it is in C or C++: its signatures are known once it has been compiled.
    pub(crate) fn is_c_family(self) -> bool {
        matches!(self, Self::Cuda | Self::OpenCl)
    }
}

impl Source {
    /// The kernels that could be read.
    pub(crate) fn kernels(&self) -> &[Signature] {
        self.signatures.as_deref().unwrap_or_default()
    }

    /// A kernel with its launch state, which has the symbol of one of those that could be read.
    pub(crate) fn with_state(&self, kernel: &Signature, symbol: &str) -> Signature {
        let mut kernel = kernel.clone();
        if let Some((_, states)) = self.states.iter().find(|(known, _)| known == symbol) {
            kernel.parameters.to_mut().extend(states.iter().cloned());
        }
        kernel
    }

    /// Whether there is a kernel, as far as is known.
    pub(crate) fn is_any(&self) -> bool {
        self.signatures.as_ref().is_none_or(|signatures| !signatures.is_empty())
    }

    /// Whether it has no kernel, and is there for the functions it has for other sources.
    pub(crate) fn is_for_others(&self) -> bool {
        self.signatures.as_ref().is_some_and(Vec::is_empty)
    }

    /// Whether it has functions for kernels and no kernel, and its compiler has not to say so.
    pub(crate) fn has_functions(&self) -> bool {
        let is_known = !self.kind.is_c_family() || !self.functions.is_empty();
        self.is_for_others() && is_known
    }

    /// Whether there is something to compile for a target, as far as is known.
    pub(crate) fn is_for(&self, target: &Target, settings: &Settings) -> bool {
        let wanted = |signatures: &Vec<Signature>| {
            signatures.iter().any(|signature| settings.wants(signature, target))
        };
        self.signatures.as_ref().is_none_or(wanted)
    }
}
