//! The compiler's interface to a build: a narrow trait, so that the rest can be tested without one.

use kernelmill_artifact::{Parameter, Signature, Target};
use kernelmill_compiler::{
    Artifact, CodeStage, Compiler, Config, Error, Job, KernelCode, Lowered, RustSource, Symbols,
    frontend::{
        Architecture,
        cuda::{
            CudaSource,
            clang::{Clang, CudaLowered},
        },
        llvm_ir::IrSource,
        ptx::PtxSource,
    },
};
use std::collections::BTreeSet;

/// Why a unit could not be made; boxed, for it is large and rare.
pub(crate) type Failure = Box<Error>;

/// The compiler, as a build sees it.
pub(crate) trait Compile: Sync {
    /// Everything of the tools that can change a result.
    fn version(&self) -> String;
    /// Names and versions of the plugins, which can change what is made of the front end's result.
    fn plugins(&self) -> String;
    /// What a target stands for on the host: its triple, processor, features and data layout.
    fn resolved(&self, target: &Target) -> Result<String, Failure>;
    /// Runs the front end over a kernel file.
    fn lower_rust(&self, source: &RustSource) -> Result<Lowered, Failure>;
    /// Runs the front end over a file in CUDA C++, which is told of an architecture.
    fn lower_cuda(
        &self,
        clang: &Clang,
        source: &CudaSource,
        arch: Option<&Architecture>,
    ) -> Result<CudaLowered, Failure>;
    /// Runs the front end over a file in OpenCL C.
    fn lower_opencl(&self, clang: &Clang, source: &CudaSource) -> Result<CudaLowered, Failure>;
    /// Reads a file in LLVM IR.
    fn lower_ir(&self, source: &IrSource) -> Result<CudaLowered, Failure>;
    /// Makes the artifact of a file in PTX for a target.
    fn assemble_ptx(
        &self,
        source: &PtxSource,
        config: &Config,
        kernels: &[String],
    ) -> Result<Artifact, Failure>;
    /// Makes bitcode that cargo had rustc compile what the front end gives.
    fn adopt(&self, lowered: &mut Lowered, signatures: &[Signature]) -> Result<(), Failure>;
    /// Names the functions that the host can give as other packages call them.
    fn qualify(&self, lowered: &mut Lowered, package: &str) -> Result<(), Failure>;
    /// The functions that a lowered source has for others, and those that it names.
    fn symbols(&self, lowered: &Lowered) -> Result<Symbols, Failure>;
    /// The parameters for launch state of a kernel that reaches functions which nothing defines.
    fn states(&self, reached: &BTreeSet<String>) -> Vec<Parameter>;
    /// Compiles a lowered source for one target, with the code of its kernels at these stages.
    fn compile(
        &self,
        job: &Job<'_>,
        wanted: &[CodeStage],
    ) -> Result<(Artifact, Vec<KernelCode>), Failure>;
}

impl Compile for Compiler {
    fn version(&self) -> String {
        Self::version(self)
    }

    fn plugins(&self) -> String {
        Self::plugins(self)
    }

    fn resolved(&self, target: &Target) -> Result<String, Failure> {
        Self::resolved(self, target).map_err(Failure::from)
    }

    fn lower_rust(&self, source: &RustSource) -> Result<Lowered, Failure> {
        Self::lower_rust(self, source).map_err(Failure::from)
    }

    fn lower_cuda(
        &self,
        clang: &Clang,
        source: &CudaSource,
        arch: Option<&Architecture>,
    ) -> Result<CudaLowered, Failure> {
        Self::lower_cuda(self, clang, source, arch).map_err(Failure::from)
    }

    fn lower_opencl(&self, clang: &Clang, source: &CudaSource) -> Result<CudaLowered, Failure> {
        Self::lower_opencl(self, clang, source).map_err(Failure::from)
    }

    fn lower_ir(&self, source: &IrSource) -> Result<CudaLowered, Failure> {
        Self::lower_ir(self, source).map_err(Failure::from)
    }

    fn assemble_ptx(
        &self,
        source: &PtxSource,
        config: &Config,
        kernels: &[String],
    ) -> Result<Artifact, Failure> {
        Self::assemble_ptx(self, source, config, kernels).map_err(Failure::from)
    }

    fn adopt(&self, lowered: &mut Lowered, signatures: &[Signature]) -> Result<(), Failure> {
        Self::adopt(self, lowered, signatures).map_err(Failure::from)
    }

    fn qualify(&self, lowered: &mut Lowered, package: &str) -> Result<(), Failure> {
        Self::qualify(self, lowered, package).map_err(Failure::from)
    }

    fn symbols(&self, lowered: &Lowered) -> Result<Symbols, Failure> {
        Self::symbols(self, lowered).map_err(Failure::from)
    }

    fn states(&self, reached: &BTreeSet<String>) -> Vec<Parameter> {
        Self::states(self, reached)
    }

    fn compile(
        &self,
        job: &Job<'_>,
        wanted: &[CodeStage],
    ) -> Result<(Artifact, Vec<KernelCode>), Failure> {
        Self::compile_with_code(self, job, wanted).map_err(Failure::from)
    }
}
