//! The result of clang's front end: bitcode, kernels, and the unsupported features that keep them from
//! targets.

use kernelmill_artifact::{DeviceFunction, VariableDeclaration};

use crate::{diagnostic::Frame, frontend::cuda::source::CudaKernel, job::Lowered};

/// What the front end makes of a file in CUDA C++.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CudaLowered {
    /// Its bitcode, with an entry for each kernel that the driver finds by its symbol.
    pub lowered: Lowered,
    /// The kernels, as the compiled code describes them.
    pub kernels: Vec<CudaKernel>,
    /// The variables that the host can read and write.
    pub variables: Vec<VariableDeclaration>,
    /// What keeps kernels from targets.
    pub unsupported: Vec<UnsupportedFeature>,
    /// The functions that the host can give to kernels. Their package is empty.
    pub functions: Vec<DeviceFunction>,
}

/// Something in a kernel, or in a function it uses, that keeps it from targets.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnsupportedFeature {
    /// The symbol of the kernel.
    pub symbol: String,
    /// The file that the line is in, as clang names it.
    pub file: String,
    /// The line, from 1; 0 where it is not known.
    pub line: u32,
    /// What is there, for example ``inline PTX (`cp.async.cg.shared.global`)``.
    pub reason: String,
    /// The targets that it keeps the kernel from.
    pub scope: Scope,
    /// The way to it from the kernel, the place itself first.
    pub frames: Vec<Frame>,
}

/// Which targets an [`UnsupportedFeature`] is one for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// All but NVIDIA's.
    NotNvidia,
    /// All but AMD's.
    NotAmd,
    /// All.
    Everywhere,
    /// All for which no library of device code is given that may have it.
    Unlinked,
}

impl UnsupportedFeature {
    /// Whether it keeps the kernel from a target.
    #[must_use]
    pub fn concerns(&self, target: &kernelmill_artifact::Target) -> bool {
        use kernelmill_artifact::Target;
        match self.scope {
            Scope::NotNvidia => !matches!(target, Target::Ptx(_) | Target::Cubin(_)),
            Scope::NotAmd => !matches!(target, Target::Amd(_)),
            Scope::Everywhere | Scope::Unlinked => true,
        }
    }

    /// Says that it keeps a kernel from targets.
    #[must_use]
    pub fn message(&self, kernel: &str, targets: &[String]) -> String {
        format!("kernel `{kernel}` cannot be compiled for {}: {}", targets.join(", "), self.reason)
    }
}

impl std::fmt::Display for UnsupportedFeature {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}:{}: {}", self.file, self.line, self.reason)
    }
}
