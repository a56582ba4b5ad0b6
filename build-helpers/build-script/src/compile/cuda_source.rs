//! CUDA C++ sources as nvcc and clang take them.

use crate::{
    base::paths,
    discovery::source::Source,
    settings::{
        package::Package,
        resolved::{ArgumentsOf, Settings},
    },
};
use kernelmill_compiler::frontend::cuda::CudaSource;

/// A source as C++ compilers take it.
pub(crate) fn cuda_source(package: &Package, settings: &Settings, source: &Source) -> CudaSource {
    let folder = |folder: &String| paths::normal(&package.root.join(folder));
    CudaSource {
        path: source.path.clone(),
        display: source.display.clone(),
        package_root: package.root.clone(),
        includes: settings.includes.iter().map(folder).collect(),
        defines: settings.defines.clone().into_iter().collect(),
        arguments: settings.arguments_for(ArgumentsOf::Cuda),
    }
}
