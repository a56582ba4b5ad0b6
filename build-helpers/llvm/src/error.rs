//! Reasons why an LLVM library, or a module, cannot be used.

use std::path::PathBuf;

use crate::Version;

/// Why an LLVM library cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The toolchain has no shared LLVM library: a distribution's `rustc` links its own, and on
    /// Windows LLVM is part of `rustc_driver`.
    #[error(
        "the Rust toolchain at {} has no shared LLVM library (looked for {} in {}); \
         install a toolchain with rustup, or set KERNELMILL_LLVM to the shared library of the LLVM that \
         `rustc --version --verbose` names, for example /usr/lib/llvm-22/lib/libLLVM.so",
        sysroot.display(), Error::PATTERN,
        folders.iter().map(|it| it.display().to_string()).collect::<Vec<_>>().join(", ")
    )]
    NotInToolchain {
        /// The toolchain's folder, as `rustc --print sysroot` gives it.
        sysroot: PathBuf,
        /// Where it was looked for.
        folders: Vec<PathBuf>,
    },
    /// The system's loader refused the file.
    #[error("cannot open the LLVM library {}: {}", path.display(), with_reason(source))]
    Open {
        /// The library.
        path: PathBuf,
        /// What the loader said.
        source: libloading::Error,
    },
    /// The library lacks functions that the compiler calls.
    #[error(
        "the LLVM library {} (version {version}) has no function {}; kernelmill needs LLVM 20 or \
         later: use a newer Rust toolchain, or set KERNELMILL_LLVM to another library",
        path.display(), missing.join(", ")
    )]
    MissingFunctions {
        /// The library.
        path: PathBuf,
        /// Its version.
        version: String,
        /// The functions it lacks.
        missing: Vec<&'static str>,
    },
    /// The library is older than the bindings.
    #[error(
        "the LLVM library {} is version {version}; kernelmill needs LLVM 20 or later: use Rust \
         1.95 or later, or set KERNELMILL_LLVM to another library",
        path.display()
    )]
    TooOld {
        /// The library.
        path: PathBuf,
        /// Its version.
        version: Version,
    },
    /// The library has other enumerators than the bindings.
    #[error(
        "the LLVM library {} is version {version}, which this kernelmill cannot read ({what}): \
         update kernelmill, use an older Rust toolchain, or set KERNELMILL_LLVM to another library",
        path.display()
    )]
    Codes {
        /// The library.
        path: PathBuf,
        /// Its version.
        version: Version,
        /// What differs.
        what: String,
    },
    /// The process has another library open; the table of functions can be filled once.
    #[error(
        "this process already uses the LLVM library {}; {} cannot be opened as well",
        open.display(), wanted.display()
    )]
    AnotherIsOpen {
        /// The library in use.
        open: PathBuf,
        /// The library asked for.
        wanted: PathBuf,
    },
    /// The library has an instruction that this crate does not know.
    #[error(
        "this kernelmill does not know the instruction `{instruction}` of LLVM {version} in \
         {function}: update kernelmill, or use an older Rust toolchain"
    )]
    UnknownInstruction {
        /// The instruction, in LLVM's notation.
        instruction: String,
        /// The symbol of the function it is in.
        function: String,
        /// The library's version.
        version: Version,
    },
    /// LLVM itself reported an error.
    #[error("LLVM: {0}")]
    Llvm(String),
}

impl Error {
    /// How toolchains name the library.
    pub(crate) const PATTERN: &'static str = if cfg!(windows) {
        "LLVM-C.dll"
    } else if cfg!(target_os = "macos") {
        "libLLVM*.dylib"
    } else {
        "libLLVM*.so*"
    };

    /// Keeps a message of LLVM.
    pub(crate) fn llvm(message: impl ToString) -> Self {
        Self::Llvm(message.to_string())
    }
}

/// What the loader said, with the reason that the system gave, which libloading keeps apart.
fn with_reason(error: &libloading::Error) -> String {
    match std::error::Error::source(error) {
        Some(reason) => format!("{error}: {reason}"),
        None => error.to_string(),
    }
}
