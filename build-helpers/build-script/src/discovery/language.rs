//! Languages of kernel sources, by file name.

use std::path::Path;

/// What a function in CUDA C++ that the host can give to kernels is defined with.
const DEVICE_FUNCTION: &str = "KERNELMILL_DEVICE_FN";

/// A language that kernels are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Rust,
    Cuda,
    Hip,
    OpenCl,
    LlvmIr,
    Ptx,
    Wgsl,
}

/// Whether something is text, and not bytes that were read as such.
fn is_text(text: &str) -> bool {
    !text.contains(['\0', char::REPLACEMENT_CHARACTER])
}

impl Language {
    /// The language of a file; `None` for files that are no sources: headers, fragments whose
    /// names start with an underscore, and everything else.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let language = match path.extension()?.to_str()? {
            "rs" => Self::Rust,
            "cu" => Self::Cuda,
            "hip" => Self::Hip,
            "cl" => Self::OpenCl,
            "ll" | "bc" => Self::LlvmIr,
            "ptx" => Self::Ptx,
            "wgsl" => Self::Wgsl,
            _ => return None,
        };
        (language == Self::Rust || !name.starts_with('_')).then_some(language)
    }

    /// Its name in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Rust => "Rust",
            Self::Cuda => "CUDA C++",
            Self::Hip => "HIP",
            Self::OpenCl => "OpenCL C",
            Self::LlvmIr => "LLVM IR",
            Self::Ptx => "PTX",
            Self::Wgsl => "WGSL",
        }
    }

    /// Whether files of it may be made of others, which bring kernels along.
    pub(crate) fn has_includes(self) -> bool {
        matches!(self, Self::Cuda | Self::Hip | Self::OpenCl)
    }

    /// Whether a text could hold a kernel: the word that every kernel has is in it. In C++ a macro
    /// from an included file may bring that word along.
    pub(crate) fn may_hold_kernel(self, text: &str) -> bool {
        match self {
            Self::Rust | Self::OpenCl => text.contains("kernel"),
            Self::Cuda | Self::Hip => text.contains("__global__") || text.contains(DEVICE_FUNCTION),
            // Bitcode is no text to look into.
            Self::LlvmIr => text.contains("define") || text.starts_with("BC") || !is_text(text),
            Self::Ptx => text.contains(".entry"),
            Self::Wgsl => text.contains("@compute"),
        }
    }
}
