//! A file that stands for one stage of a kernel.

use kernelmill_artifact::Target;
use kernelmill_store::digest;
use std::{
    borrow::Cow,
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
    pub(crate) content: Arc<[u8]>,
}

impl KernelOverride {
    /// Its text, for all forms but SPIR-V.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.content)
    }

    /// What keys have of it, wherever it lies.
    pub(crate) fn key(&self) -> String {
        format!("{} {:?} {}", self.symbol, self.form, digest(&self.content))
    }
}

/// What is in such a file, by its ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `.ll`: LLVM's IR, as the stage `ir` has it.
    Ir,
    /// `.cu`: another source, in CUDA C++.
    Cuda,
    /// `.cl`: another source, in OpenCL C.
    OpenCl,
    /// `.wgsl`: another source, in WGSL.
    Wgsl,
    /// `.ptx`.
    Ptx,
    /// `.spv`: SPIR-V for OpenCL devices.
    Spirv,
}

impl Form {
    pub(super) fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "ll" => Some(Self::Ir),
            "cu" => Some(Self::Cuda),
            "cl" => Some(Self::OpenCl),
            "wgsl" => Some(Self::Wgsl),
            "ptx" => Some(Self::Ptx),
            "spv" => Some(Self::Spirv),
            _ => None,
        }
    }

    /// Whether code for a target goes through this form.
    pub(crate) fn is_for(self, target: &Target) -> bool {
        match target {
            Target::Ptx(_) | Target::Cubin(_) => !matches!(self, Self::Wgsl | Self::Spirv),
            Target::Cpu | Target::Amd(_) => matches!(self, Self::Ir | Self::Cuda | Self::OpenCl),
            Target::Spirv64 => !matches!(self, Self::Wgsl | Self::Ptx),
            Target::OpenClC => self == Self::OpenCl,
            Target::Vulkan => !matches!(self, Self::Ptx | Self::Spirv),
            _ => false,
        }
    }

    /// What it stands for, for messages.
    pub(super) fn subject(self) -> &'static str {
        match self {
            Self::Ir => "the code from the front end",
            Self::Cuda | Self::OpenCl | Self::Wgsl => "the source",
            Self::Ptx => "the PTX",
            Self::Spirv => "the SPIR-V",
        }
    }
}
