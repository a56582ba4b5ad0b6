//! A file in PTX, and what is said of its lines.

use std::path::PathBuf;

use crate::frontend::llvm_ir::DeclaredKernel;

/// A `.ptx` file, and how it is to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PtxSource {
    /// The file, absolute.
    pub path: PathBuf,
    /// The file as people know it, for example `kernels/saxpy.ptx`.
    pub display: String,
    /// The folder of the package, absolute.
    pub package_root: PathBuf,
    /// Its text.
    pub text: String,
    /// The kernels whose parameters are declared, of this file and of others.
    pub declared: Vec<DeclaredKernel>,
}

/// A text about a place of a file, as compilers write it.
pub(super) fn fault(display: &str, line: u32, message: &str) -> String {
    match line {
        0 => format!("{display}: error: {message}"),
        line => format!("{display}:{line}: error: {message}"),
    }
}
