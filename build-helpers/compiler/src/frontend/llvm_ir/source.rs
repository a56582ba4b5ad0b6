//! A file in LLVM's intermediate representation, and what is declared of its kernels.

use std::path::PathBuf;

use kernelmill_artifact::Parameter;

/// A `.ll` or `.bc` file, and how it is to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IrSource {
    /// The file, absolute.
    pub path: PathBuf,
    /// The file as people know it, for example `kernels/saxpy.ll`.
    pub display: String,
    /// The folder of the package, absolute.
    pub package_root: PathBuf,
    /// The kernels whose parameters are declared, of this file and of others.
    pub declared: Vec<DeclaredKernel>,
    /// Whether variables and types stay in the debug information.
    pub full_debug: bool,
}

/// A kernel whose parameters are declared in the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredKernel {
    /// The name that the settings have for it.
    pub key: String,
    /// Its parameters; a pointer into shared memory is declared as [`kernelmill_artifact::ParameterKind::Pointer`].
    pub parameters: Vec<Parameter>,
}

impl DeclaredKernel {
    /// Whether it is the kernel with this symbol in this file.
    pub(crate) fn is(&self, display: &str, symbol: &str) -> bool {
        use crate::frontend::cuda::signature::{is_named, wrapper_name};
        self.key.split_once("::") == Some((display, symbol))
            || is_named(symbol, &self.key)
            || wrapper_name(symbol) == self.key
    }
}
