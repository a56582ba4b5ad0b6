//! A file in CUDA C++ or HIP, and its kernels.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use kernelmill_artifact::Signature;

/// A file in CUDA C++, or in HIP where its name ends in `.hip`, and how it is to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CudaSource {
    /// The file, absolute.
    pub path: PathBuf,
    /// The file as people know it, for example `kernels/saxpy.cu`.
    pub display: String,
    /// The folder of the package, absolute.
    pub package_root: PathBuf,
    /// Folders of headers, absolute, in the order in which they are searched.
    pub includes: Vec<PathBuf>,
    /// Macros to define; an empty value is `-DNAME`.
    pub defines: Vec<(String, String)>,
    /// Further arguments of the compiler.
    pub arguments: Vec<String>,
    /// Instances of its templates to compile besides those that it instantiates itself.
    pub instances: Vec<TemplateInstance>,
}

/// An instance of a template, for a kernel that the source itself need not instantiate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateInstance {
    /// The template, with its namespaces: `filters::scale`.
    pub template: String,
    /// Its arguments, as C++ has them: `float, 16`; for one of several templates of a name with the types of the
    /// parameters: `<float, 16>(float *, int)`.
    pub arguments: String,
    /// How it is written in the settings, for messages.
    pub written: String,
    /// The file and the line that list it, where it is in a file.
    pub place: Option<(String, u32)>,
}

/// A kernel as compiled code describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CudaKernel {
    /// Its signature. The name is its plain name in C++, which is that of its wrapper unless
    /// another kernel of the program has it too.
    pub signature: Signature,
    /// Its full name in C++, `filters::scale<float, 2>(float, float const*)`.
    pub full_name: String,
    /// What keeps it from having a wrapper: each parameter that cannot cross; where the kernel is defined its signature says.
    pub unsupported: Vec<UnsupportedParameter>,
}

/// Why a kernel has no wrapper: a parameter that cannot cross from host to device, or parameters that nothing describes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsupportedParameter {
    /// The parameter's name, where it is about one.
    pub parameter: Option<String>,
    /// What is wrong, with the names of the kernel and of the parameter.
    pub message: String,
    /// What to write instead.
    pub help: String,
}

impl fmt::Display for UnsupportedParameter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}; {}", self.message, self.help)
    }
}

impl CudaSource {
    /// Whether it is in HIP, which its name says.
    #[must_use]
    pub fn is_hip(&self) -> bool {
        self.path.extension().is_some_and(|extension| extension == "hip")
    }

    /// The file as compilers are given it: relative to the package where it lies in it, so that no
    /// path of a checkout gets into messages and code.
    pub(crate) fn input(&self) -> &Path {
        self.path.strip_prefix(&self.package_root).unwrap_or(&self.path)
    }
}
