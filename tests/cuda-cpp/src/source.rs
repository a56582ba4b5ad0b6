//! Sources in CUDA C++: files of this package or of a test, lowered and compiled.

use std::path::Path;

use kernelmill_artifact::{NvidiaArch, Signature};
use kernelmill_compiler::{
    Artifact, Config, Error, Job, JobSource, Params,
    frontend::{
        Architecture,
        cuda::{CudaSource, clang::CudaLowered},
    },
};
use test_support::{InFolder, temporary_folder, write_file};

use crate::{
    stored,
    tools::{clang, compiler},
};

/// A file in CUDA C++ that has been lowered.
#[derive(Debug)]
pub struct Source {
    /// What the front end made of it.
    pub lowered: CudaLowered,
    /// Its name without the extension.
    pub name: String,
}

/// Describes a file of the folder `kernels`.
#[must_use]
pub fn source(name: &str) -> CudaSource {
    described(Path::new(env!("CARGO_MANIFEST_DIR")), name)
}

/// Describes a file that is written for the test, with this text.
///
/// # Panics
///
/// Where it cannot be written.
#[must_use]
pub fn written(name: &str, text: &str) -> InFolder<CudaSource> {
    let folder = temporary_folder();
    write_file(&folder, format!("kernels/{name}.cu"), text);
    let source = described(folder.path(), name);
    InFolder::new(folder, source)
}

fn described(root: &Path, name: &str) -> CudaSource {
    let display = format!("kernels/{name}.cu");
    CudaSource {
        path: root.join(&display),
        display,
        package_root: root.to_owned(),
        includes: Vec::new(),
        defines: Vec::new(),
        arguments: Vec::new(),
        instances: Vec::new(),
    }
}

/// Lowers a source.
///
/// # Errors
///
/// Those of the compiler.
pub fn lower(source: &CudaSource) -> Result<Source, Error> {
    lower_for(source, None)
}

/// Lowers a source that is told of an architecture of NVIDIA's.
///
/// # Errors
///
/// Those of the compiler.
pub fn lower_for(source: &CudaSource, arch: Option<NvidiaArch>) -> Result<Source, Error> {
    let lowered =
        compiler().lower_cuda(clang(), source, arch.map(Architecture::Nvidia).as_ref())?;
    let name = source.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Source { lowered, name })
}

impl Source {
    /// The signatures of its kernels that nothing keeps from a target.
    #[must_use]
    pub fn signatures(&self, target: &str) -> Vec<Signature> {
        let target = target.parse().expect("a target");
        let unsupported = &self.lowered.unsupported;
        let kernels = self.lowered.kernels.iter().filter(|kernel| kernel.unsupported.is_empty());
        kernels
            .map(|kernel| kernel.signature.clone())
            .filter(|kernel| {
                !unsupported
                    .iter()
                    .any(|feature| feature.symbol == kernel.symbol && feature.concerns(&target))
            })
            .collect()
    }

    /// Compiles the kernels that can be for a target.
    ///
    /// # Errors
    ///
    /// Those of the compiler.
    pub fn compile(&self, target: &str) -> Result<Artifact, Error> {
        self.compile_with(target, Params::default())
    }

    /// As [`Source::compile`], with parameters.
    ///
    /// # Errors
    ///
    /// Those of the compiler.
    pub fn compile_with(&self, target: &str, params: Params) -> Result<Artifact, Error> {
        let config = Config { params, ..Config::new(target.parse().expect("a target")) };
        let source = JobSource {
            lowered: &self.lowered.lowered,
            signatures: &self.signatures(target),
            unit: &self.name,
        };
        stored::compile(&Job { source, config: &config })
    }
}
