//! Settings that take one of a few names.

use kernelmill_compiler::{MathLibrary, PanicLevel};

/// Who compiles kernels in CUDA C++ for NVIDIA's targets. The other targets are clang's always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CudaCompiler {
    /// nvcc where it is there, clang where it is not.
    #[default]
    Auto,
    /// nvcc; without it the build ends with an error.
    Nvcc,
    /// clang, then kernelmill's own compiler, so that plugins, deferred references and launch limits
    /// in the settings work for NVIDIA's targets too.
    Clang,
}

impl CudaCompiler {
    /// The names, for messages.
    pub(crate) const NAMES: &str = "`auto`, `nvcc` or `clang`";

    /// The one of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let all = [("auto", Self::Auto), ("nvcc", Self::Nvcc), ("clang", Self::Clang)];
        all.iter().find(|(known, _)| *known == name).map(|(_, compiler)| *compiler)
    }
}

/// Whose arguments: each has the prefix that makes an argument its own alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArgumentsOf {
    /// rustc's, `rustc:-Copt-level=1`.
    Rustc,
    /// Those of nvcc and clang for CUDA C++, `cuda:-std=c++20`.
    Cuda,
    /// Those of clang for OpenCL C, `opencl:-cl-std=CL1.2`.
    OpenCl,
}

impl ArgumentsOf {
    pub(super) const ALL: [Self; 3] = [Self::Rustc, Self::Cuda, Self::OpenCl];

    /// Whether an argument, as it is written, is for these.
    pub(super) fn is_for(self, written: &str) -> bool {
        let mut others = Self::ALL.into_iter().filter(|it| *it != self);
        !others.any(|other| written.starts_with(other.prefix()))
    }

    pub(super) fn prefix(self) -> &'static str {
        match self {
            Self::Rustc => "rustc:",
            Self::Cuda => "cuda:",
            Self::OpenCl => "opencl:",
        }
    }

    /// An argument of these without the prefix.
    pub(crate) fn of(self, written: &str) -> &str {
        written.strip_prefix(self.prefix()).unwrap_or(written)
    }
}

/// The libraries, for messages.
pub(crate) const MATH_LIBRARIES: &str = "`own` or `vendor`";

/// The library of this name.
pub(crate) fn math_library(name: &str) -> Option<MathLibrary> {
    MathLibrary::ALL.iter().find(|(known, _)| *known == name).map(|(_, library)| *library)
}

/// The levels, for messages.
pub(crate) const PANIC_LEVELS: &str = "`none`, `message` or `backtrace`";

/// The level of this name.
pub(crate) fn panic_level(name: &str) -> Option<PanicLevel> {
    PanicLevel::ALL.iter().find(|(known, _)| *known == name).map(|(_, level)| *level)
}

/// What a build does about kernels whose spills are more than `max-spills` allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ExcessSpills {
    /// Warns of each.
    #[default]
    Warn,
    /// Ends with an error that names them all.
    Error,
}

impl ExcessSpills {
    /// The names, for messages.
    pub(crate) const NAMES: &str = "`warn` or `error`";

    /// The one of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let all = [("warn", Self::Warn), ("error", Self::Error)];
        all.iter().find(|(known, _)| *known == name).map(|(_, choice)| *choice)
    }
}
