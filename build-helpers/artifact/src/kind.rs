//! Binary formats of artifacts, and the version of the interface that carries them.

use std::fmt;

/// The version of the interface between generated bindings, embedded binaries and the run time.
/// Part of every fingerprint; the run time refuses bindings of another version.
pub const FORMAT_VERSION: u32 = 13;

/// The binary format of an artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ArtifactKind {
    /// A native object, linked into the application.
    Object,
    /// NVIDIA PTX, text that the driver compiles for the device when it is loaded.
    Ptx,
    /// An NVIDIA cubin, machine code of one architecture.
    Cubin,
    /// A linked AMD code object.
    CodeObject,
    /// A SPIR-V module.
    Spirv,
    /// OpenCL C, text without includes that the device's compiler compiles when it is loaded.
    OpenClC,
    /// LLVM bitcode, which the program compiles when it runs: [`Bitcode`](crate::Bitcode).
    Bitcode,
}

impl ArtifactKind {
    /// The file name extension of the artifact in `OUT_DIR`, without a dot.
    #[must_use]
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Object => "o",
            Self::Ptx => "ptx",
            Self::Cubin => "cubin",
            Self::CodeObject => "hsaco",
            Self::Spirv => "spv",
            Self::OpenClC => "cl",
            Self::Bitcode => "kmbc",
        }
    }
}

impl fmt::Display for ArtifactKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Object => "native object",
            Self::Ptx => "PTX",
            Self::Cubin => "cubin",
            Self::CodeObject => "AMD code object",
            Self::Spirv => "SPIR-V",
            Self::OpenClC => "OpenCL C",
            Self::Bitcode => "LLVM bitcode",
        })
    }
}
