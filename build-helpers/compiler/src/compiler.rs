//! The compiler: front ends, the pipeline and its plugins, over one LLVM library and one toolchain.

use std::{collections::BTreeSet, path::Path, sync::Arc};

use kernelmill_artifact::{Parameter, Signature, Target};
use kernelmill_llvm::{Library, Version};

use crate::{
    Error,
    artifact::Artifact,
    base::once::Once,
    code::{CodeStage, KernelCode},
    frontend::{
        Architecture, clear_checksums,
        cuda::{
            CudaSource,
            clang::{self, Clang, CudaLowered},
        },
        llvm_ir::{self, IrSource},
        opencl,
        ptx::{self, PtxSource},
        rust::{self, DeviceCrate, RustSource},
    },
    job::{Config, Job, JobSource, Lowered, Symbols},
    passes::{deferred, dispatch, link::Libraries},
    pipeline::{self, Tools},
    plugin::{Plugin, Plugins},
    target::lookup,
    toolchain::Toolchain,
};

/// The compiler, with LLVM open. It can be used from several threads at once.
#[derive(Debug)]
pub struct Compiler {
    toolchain: Toolchain,
    llvm: Library,
    device: Once<DeviceCrate>,
    libraries: Once<Libraries>,
    plugins: Plugins,
}

impl Compiler {
    /// Opens the LLVM library that the toolchain names.
    ///
    /// # Errors
    ///
    /// [`Error::Llvm`] where there is none that fits, and [`Error::OlderLlvm`] where it cannot read what
    /// rustc writes.
    pub fn new(toolchain: Toolchain) -> Result<Self, Error> {
        let path = match &toolchain.llvm {
            Some(path) => path.clone(),
            None => kernelmill_llvm::find_library(&toolchain.sysroot, toolchain.llvm_of_rustc())?,
        };
        let llvm = Library::open(&path)?;
        if toolchain.llvm_of_rustc().is_some_and(|theirs| theirs > llvm.version().major) {
            return Err(Error::OlderLlvm {
                library: path,
                version: llvm.version().to_string(),
                rustc: toolchain.rustc,
                rustc_version: toolchain.rustc_version,
            });
        }
        let (device, libraries) = (Once::default(), Once::default());
        Ok(Self { toolchain, llvm, device, libraries, plugins: Plugins::default() })
    }

    /// What the user is to know of the tools: that the LLVM is newer than any that was tested.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let (version, newest) = (self.llvm.version(), Version::NEWEST_TESTED);
        let is_newer = version.major > newest;
        let text = || {
            format!(
                "this Rust toolchain has LLVM {version}, and this kernelmill was tested with LLVM \
                 {newest} at most: if something fails, update kernelmill or use an older toolchain"
            )
        };
        is_newer.then(text).into_iter().collect()
    }

    /// The compiler with other plugins.
    ///
    /// # Errors
    ///
    /// [`Error::Plugins`] where two have one name, or one marker and neither is the other's default.
    pub fn with_plugins(mut self, plugins: Vec<Arc<dyn Plugin>>) -> Result<Self, Error> {
        self.plugins = Plugins::new(plugins)?;
        Ok(self)
    }

    /// What the plugins are, with their versions: part of the key of every artifact, and not of the front
    /// end's.
    #[must_use]
    pub fn plugins(&self) -> String {
        self.plugins.key()
    }

    /// Everything of the tools and of kernelmill itself that can change an artifact's bytes.
    #[must_use]
    pub fn version(&self) -> String {
        format!(
            "kernelmill {} ({}); {}; LLVM {}; {}; device {}; libdevice {}; ocml {}; {}",
            env!("CARGO_PKG_VERSION"),
            env!("KERNELMILL_COMPILER_DIGEST"),
            self.toolchain.rustc_version.trim(),
            self.llvm.version(),
            self.toolchain.ptxas_version.trim(),
            rust::DEVICE_DIGEST,
            self.toolchain.libdevice.as_deref().map_or_else(String::new, rust::file_digest),
            self.toolchain.ocml.as_deref().map_or_else(String::new, rust::file_digest),
            self.toolchain.spirv_version.trim(),
        )
    }

    /// What a target stands for here, as text for keys: the triple, the processor, its features and the
    /// data layout. For [`Target::Cpu`] that is another one for each host.
    ///
    /// # Errors
    ///
    /// [`Error::Llvm`] where the library has no such target.
    pub fn resolved(&self, target: &Target) -> Result<String, Error> {
        let config = Config::new(target.clone());
        let lowered = Lowered::default();
        let source = JobSource { lowered: &lowered, signatures: &[], unit: "" };
        let backend = lookup(&self.toolchain, &Job { source, config: &config })?;
        Ok(backend.machine().description())
    }

    /// The tools in use.
    #[must_use]
    pub fn toolchain(&self) -> &Toolchain {
        &self.toolchain
    }

    /// The LLVM library in use.
    #[must_use]
    pub fn llvm(&self) -> &Library {
        &self.llvm
    }

    /// Runs the front end over a kernel file in Rust.
    ///
    /// # Errors
    ///
    /// [`Error::Rustc`] with rustc's own diagnostics, and [`Error::Layout`] where a parameter's
    /// type is not what the source seemed to say.
    pub fn lower_rust(&self, source: &RustSource) -> Result<Lowered, Error> {
        let mut lowered = rust::lower(&self.toolchain, self.device()?, source)?;
        for module in &mut lowered.modules {
            clear_checksums(module)?;
        }
        Ok(lowered)
    }

    /// Runs the front end over a file in CUDA C++ or HIP, by clang, and reads its kernels. The source is
    /// told that it is compiled for this architecture (`__CUDA_ARCH__`, `__gfx942__`); without one,
    /// which is for other targets and for sources that do not ask, for NVIDIA's 8.0.
    ///
    /// # Errors
    ///
    /// [`Error::Clang`] with clang's own diagnostics, [`Error::Start`] where it cannot be run, and
    /// [`Error::ClangBitcode`] where it is newer than LLVM.
    pub fn lower_cuda(
        &self,
        clang: &Clang,
        source: &CudaSource,
        arch: Option<&Architecture>,
    ) -> Result<CudaLowered, Error> {
        let mut cuda = clang::lower(&self.toolchain, clang, source, arch)?;
        for module in &mut cuda.lowered.modules {
            clear_checksums(module)?;
        }
        Ok(cuda)
    }

    /// Runs the front end over a file in OpenCL C, by clang, and reads its kernels.
    ///
    /// # Errors
    ///
    /// Those of [`Compiler::lower_cuda`].
    pub fn lower_opencl(&self, clang: &Clang, source: &CudaSource) -> Result<CudaLowered, Error> {
        let mut lowered = opencl::lower(&self.toolchain, clang, source)?;
        for module in &mut lowered.lowered.modules {
            clear_checksums(module)?;
        }
        Ok(lowered)
    }

    /// Reads a file in LLVM IR that another compiler wrote, and its kernels.
    ///
    /// # Errors
    ///
    /// [`Error::Ir`] with every fault, and [`Error::Signatures`] where its debug information is damaged.
    pub fn lower_ir(&self, source: &IrSource) -> Result<CudaLowered, Error> {
        let mut lowered = llvm_ir::lower(&self.toolchain, source)?;
        for module in &mut lowered.lowered.modules {
            clear_checksums(module)?;
        }
        Ok(lowered)
    }

    /// Makes the artifact of a file in PTX for a target, with these of its kernels: its text, which ptxas has taken
    /// where there is one, or the cubin that ptxas makes of it.
    ///
    /// # Errors
    ///
    /// [`Error::Cpp`] with the messages of ptxas and the lines that they are about, [`Error::NoPtxas`] for a cubin
    /// without it, and [`Error::Unsupported`] for a target that is not NVIDIA's.
    pub fn assemble_ptx(
        &self,
        source: &PtxSource,
        config: &Config,
        kernels: &[String],
    ) -> Result<Artifact, Error> {
        ptx::compile(&self.toolchain, source, config, kernels)
    }

    /// Makes bitcode that somebody else had rustc compile what [`Compiler::lower_rust`] gives:
    /// clears the digests of source files, and compares the layouts of parameters with those the
    /// signatures were read with.
    ///
    /// # Errors
    ///
    /// [`Error::Layout`] for the first parameter whose size or alignment differs, and
    /// [`Error::Llvm`] where it is no bitcode.
    pub fn adopt(&self, lowered: &mut Lowered, signatures: &[Signature]) -> Result<(), Error> {
        for module in &mut lowered.modules {
            clear_checksums(module)?;
        }
        rust::check_layouts(&lowered.modules, signatures)
    }

    /// Gives the functions that the host can give to kernels the symbols that [`crate::exported_by`]
    /// says, for packages that depend on this one.
    ///
    /// # Errors
    ///
    /// [`Error::Llvm`] where it is no bitcode.
    pub fn qualify(&self, lowered: &mut Lowered, package: &str) -> Result<(), Error> {
        lowered.modules.iter_mut().try_for_each(|module| dispatch::qualify(module, package))
    }

    /// The functions that a lowered source has for others, and those that it names.
    ///
    /// # Errors
    ///
    /// [`Error::Llvm`] where it is no bitcode.
    pub fn symbols(&self, lowered: &Lowered) -> Result<Symbols, Error> {
        deferred::symbols(&lowered.modules)
    }

    /// Whether a plugin asks launches for state, so that kernels may have more parameters than their sources say.
    #[must_use]
    pub fn asks_for_state(&self) -> bool {
        !self.plugins.states().is_empty()
    }

    /// The parameters for launch state, behind its own, of a kernel that reaches functions which nothing defines, as
    /// [`Symbols::of_kernel`] has them. The signature of a kernel in a [`Job`] has them.
    #[must_use]
    pub fn states(&self, reached: &BTreeSet<String>) -> Vec<Parameter> {
        self.plugins.states_of(reached)
    }

    /// The metadata of `kernelmill_device` and the folder of what it depends on, for those who run
    /// rustc themselves.
    ///
    /// # Errors
    ///
    /// [`Error::Rustc`] where rustc cannot compile it.
    pub fn device_crate(&self) -> Result<(&Path, &Path), Error> {
        let device = self.device()?;
        Ok((&device.metadata, &device.folder))
    }

    /// Compiles a lowered source for one target.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] with every fault where the code does what the target cannot, and
    /// [`Error::Tool`] where an assembler or linker fails.
    pub fn compile(&self, job: &Job<'_>) -> Result<Artifact, Error> {
        pipeline::compile(&self.tools()?, job)
    }

    /// Compiles a lowered source for one target, and gives the code of each kernel at these stages too. The artifact is
    /// that of [`Compiler::compile`].
    ///
    /// # Errors
    ///
    /// Those of [`Compiler::compile`].
    pub fn compile_with_code(
        &self,
        job: &Job<'_>,
        wanted: &[CodeStage],
    ) -> Result<(Artifact, Vec<KernelCode>), Error> {
        pipeline::compile_with_code(&self.tools()?, job, wanted)
    }

    /// The module of a job in LLVM's textual form, after the stages that its options ask for: what
    /// [`Compiler::compile`] would generate code from, or any state before.
    ///
    /// # Errors
    ///
    /// Those of [`Compiler::compile`], as far as the stages are asked for.
    pub fn inspect(&self, job: &Job<'_>) -> Result<String, Error> {
        pipeline::inspect(&self.tools()?, job)
    }

    /// The code of a job as the target's assembly text: PTX for NVIDIA, for others what their
    /// object is assembled from.
    ///
    /// # Errors
    ///
    /// Those of [`Compiler::compile`].
    pub fn assembly(&self, job: &Job<'_>) -> Result<String, Error> {
        pipeline::assembly(&self.tools()?, job)
    }

    fn tools(&self) -> Result<Tools<'_>, Error> {
        let (toolchain, plugins) = (&self.toolchain, &self.plugins);
        Ok(Tools { toolchain, libraries: self.libraries()?, plugins })
    }

    fn device(&self) -> Result<&DeviceCrate, Error> {
        self.device.get_or_make(|| rust::build_device_crate(&self.toolchain))
    }

    fn libraries(&self) -> Result<&Libraries, Error> {
        let device = self.device()?;
        self.libraries
            .get_or_make(|| Libraries::open(&device.bitcode, &self.toolchain.standard_library()))
    }
}
