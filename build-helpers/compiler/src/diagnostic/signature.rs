//! Faults of the debug information that signatures of C++ kernels are read from.

/// Why compiled code says nothing about its kernels.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// The compiler was built without the feature `cuda-cpp`.
    #[error(
        "{file}: this compiler was built without the feature `cuda-cpp`: enable this feature of kernelmill-build in Cargo.toml"
    )]
    NoReader {
        /// The source.
        file: String,
    },
    /// The code has kernels and no debug information.
    #[error("{file}: the compiled code has no debug information")]
    NoDebugInformation {
        /// The source.
        file: String,
    },
    /// The compiled code cannot be read.
    #[error("{file}: cannot read the debug information of the compiled code: {reason}")]
    Malformed {
        /// The source.
        file: String,
        /// What is wrong.
        reason: String,
    },
    /// Functions that the host can give take or return what they cannot, each with file and line.
    #[error("{}", .0.join("\n"))]
    Functions(Vec<String>),
}
