use std::{
    path::{Path, PathBuf},
    sync::OnceLock,
};

use kernelmill_artifact::Signature;
use kernelmill_llvm::Library;

use crate::{
    Artifact, Error, Job, Lowered, RustSource, driver,
    frontend::{
        cuda::{
            CudaSource,
            clang::{self, Clang, CudaLowered},
        },
        rust::{self, DeviceCrate},
    },
    library::Libraries,
};

/// The tools that the compiler uses. Plain data: whoever calls the compiler finds them.
#[derive(Clone, Debug)]
pub struct Toolchain {
    /// The Rust compiler.
    pub rustc: PathBuf,
    /// What `rustc -vV` printed.
    pub rustc_version: String,
    /// What `rustc --print sysroot` printed.
    pub sysroot: PathBuf,
    /// The triple of the machine that the application runs on, and that kernels for the CPU are
    /// compiled for.
    pub host: String,
    /// An LLVM library to use instead of the toolchain's own.
    pub llvm: Option<PathBuf>,
    /// NVIDIA's assembler, where there is one.
    pub ptxas: Option<PathBuf>,
    /// What `ptxas --version` printed; empty where there is none.
    pub ptxas_version: String,
    /// A folder for what is built once for the toolchain, and for temporary files.
    pub scratch: PathBuf,
}

impl Toolchain {
    /// The linker for AMD code objects that rustup's toolchains have.
    pub(crate) fn linker(&self) -> PathBuf {
        let host = self.rustc_host();
        self.sysroot.join("lib/rustlib").join(host).join("bin/rust-lld")
    }

    /// The triple that rustc itself runs on.
    fn rustc_host(&self) -> &str {
        self.rustc_version
            .lines()
            .find_map(|line| line.strip_prefix("host: "))
            .unwrap_or(&self.host)
    }

    /// The folder of the standard library's rlibs for the host.
    pub(crate) fn standard_library(&self) -> PathBuf {
        self.sysroot.join("lib/rustlib").join(&self.host).join("lib")
    }
}

/// The compiler, with LLVM open. It can be used from several threads at once.
#[derive(Debug)]
pub struct Compiler {
    toolchain: Toolchain,
    llvm: Library,
    device: OnceLock<DeviceCrate>,
    libraries: OnceLock<Libraries>,
}

impl Compiler {
    /// Opens the LLVM library that the toolchain names.
    ///
    /// # Errors
    ///
    /// [`Error::Llvm`] where there is none that fits.
    pub fn new(toolchain: Toolchain) -> Result<Self, Error> {
        let path = match &toolchain.llvm {
            Some(path) => path.clone(),
            None => kernelmill_llvm::find_in_sysroot(&toolchain.sysroot)?,
        };
        let llvm = Library::open(&path)?;
        Ok(Self { toolchain, llvm, device: OnceLock::new(), libraries: OnceLock::new() })
    }

    /// Everything of the tools and of kernelmill itself that can change an artifact's bytes.
    #[must_use]
    pub fn version(&self) -> String {
        format!(
            "kernelmill {} ({}); {}; LLVM {}; {}; device {}",
            env!("CARGO_PKG_VERSION"),
            env!("KERNELMILL_COMPILER_DIGEST"),
            self.toolchain.rustc_version.trim(),
            self.llvm.version(),
            self.toolchain.ptxas_version.trim(),
            rust::device_digest(),
        )
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
        rust::lower(&self.toolchain, self.device()?, source)
    }

    /// Runs the front end over a file in CUDA C++, by clang, and reads its kernels.
    ///
    /// # Errors
    ///
    /// [`Error::Clang`] with clang's own diagnostics, [`Error::Start`] where it cannot be run, and
    /// [`Error::ClangBitcode`] where it is newer than LLVM.
    pub fn lower_cuda(&self, clang: &Clang, source: &CudaSource) -> Result<CudaLowered, Error> {
        clang::lower(&self.toolchain, clang, source)
    }

    /// Compares the layouts of parameters in compiled code with those the signatures were read
    /// with; [`Compiler::lower_rust`] does that itself.
    ///
    /// # Errors
    ///
    /// [`Error::Layout`] for the first parameter whose size or alignment differs.
    pub fn check_layouts(&self, lowered: &Lowered, signatures: &[Signature]) -> Result<(), Error> {
        rust::check_layouts(&lowered.modules, signatures)
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
        let libraries = self.libraries()?;
        driver::compile(&self.toolchain, libraries, job)
    }

    /// Compiles a lowered source for one target to assembly: PTX, or that of the processor.
    ///
    /// # Errors
    ///
    /// As [`Compiler::compile`], but for assemblers and linkers, which are not asked.
    pub fn assembly(&self, job: &Job<'_>) -> Result<String, Error> {
        let text = driver::assembly(&self.toolchain, self.libraries()?, job)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    fn device(&self) -> Result<&DeviceCrate, Error> {
        get_or_try_init(&self.device, || rust::build_device_crate(&self.toolchain))
    }

    fn libraries(&self) -> Result<&Libraries, Error> {
        let device = self.device()?;
        get_or_try_init(&self.libraries, || {
            Libraries::open(&device.bitcode, &self.toolchain.standard_library())
        })
    }
}

/// Initialises a cell; of several threads that race, one value is kept.
fn get_or_try_init<T>(
    cell: &OnceLock<T>,
    make: impl FnOnce() -> Result<T, Error>,
) -> Result<&T, Error> {
    if let Some(value) = cell.get() {
        return Ok(value);
    }
    let value = make()?;
    Ok(cell.get_or_init(|| value))
}
