//! Faults of which an error has several, or whose parts callers read.

use kernelmill_artifact::Target;

/// A reference to an external device function that does not lead to one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeferredFault {
    /// What is wrong, with file and line.
    pub text: String,
    /// Whether no source that was compiled has the function. One whose front end fails may have it.
    pub is_missing: bool,
}

/// A part of a signature that has another type than the one that was read from its source.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{file}:{line}: {part} of {what} is read as {read}, and rustc compiles {compiled}: a `#[cfg(..)]` \
     or a macro decides the type after the source is read; write the type out, or choose it by a feature \
     of the package"
)]
pub struct TypeMismatch {
    /// The source.
    pub file: String,
    /// The line of the kernel or function.
    pub line: u32,
    /// The kernel or function.
    pub what: String,
    /// The parameter, or the field of one.
    pub part: String,
    /// What rustc compiles: a type in backquotes, or words.
    pub compiled: String,
    /// What the source is read as.
    pub read: String,
}

/// A kernel that rustc compiles, and that is nowhere in the text of its source.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{source_name}: kernel `{kernel}` is written by a macro of another crate{}, and the build cannot read its \
     parameters: write `#[kernel]` and the function in the source itself, or by a `macro_rules!` of it",
    place.as_ref().map(|(file, line)| format!(" ({file}:{line})")).unwrap_or_default()
)]
pub struct HiddenKernel {
    /// The source whose code has it.
    pub source_name: String,
    /// Its symbol.
    pub kernel: String,
    /// The file and the line that rustc gives for it.
    pub place: Option<(String, u32)>,
}

/// A parameter whose type is not laid out as its source was read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{file}:{line}: parameter `{parameter}` of kernel `{kernel}` has size and alignment \
     {compiled:?} in the compiled code, but {written:?} as its source is read: define its type in \
     this file as #[repr(C)], with fields of scalars, arrays and such structs"
)]
pub struct LayoutMismatch {
    /// The source.
    pub file: String,
    /// The line of the kernel.
    pub line: u32,
    /// The kernel.
    pub kernel: String,
    /// The parameter.
    pub parameter: String,
    /// Size and alignment in bytes as compiled.
    pub compiled: (u64, u64),
    /// Size and alignment in bytes as read.
    pub written: (u64, u64),
}

/// A feature of PTX that no version has which the tools know.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the target {target}: {feature} need PTX {version}, and {}, or leave the target out",
    match ptxas {
        Some(ptxas) => format!(
            "neither it nor a later version is known to both LLVM {llvm} and {ptxas}: install a newer CUDA \
             toolkit (`cargo kernelmill toolchain install cuda`) or a newer Rust toolchain"
        ),
        None => format!(
            "LLVM {llvm} knows neither it nor a later version: install a newer Rust toolchain"
        ),
    }
)]
pub struct NoPtxVersion {
    /// The target.
    pub target: Target,
    /// What needs the version, in the plural.
    pub feature: String,
    /// The oldest version of PTX that has it, for example `8.1`.
    pub version: String,
    /// The version of the LLVM library.
    pub llvm: String,
    /// For a cubin, ptxas with its release, path, and the newest version of PTX that it reads.
    pub ptxas: Option<String>,
}

/// A kernel whose parameters take more space than there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterSpace {
    /// The source.
    pub file: String,
    /// The line of the kernel.
    pub line: u32,
    /// The kernel.
    pub kernel: String,
    /// The bytes that its parameters take, with what is between them.
    pub bytes: u64,
    /// Name, type and size in bytes of each parameter.
    pub parameters: Vec<(String, String, u64)>,
}
