//! The error of the compiler: one variant for each reason that a source cannot be compiled, worded for
//! the user.

mod faults;
mod text;

use std::path::PathBuf;

use kernelmill_artifact::Target;

pub use self::faults::{
    DeferredFault, HiddenKernel, LayoutMismatch, NoPtxVersion, ParameterSpace, TypeMismatch,
};
use self::text::{CppMessages, KeptInput, PluginFaults, TooLarge, Unreadable, after_newline};
use crate::{
    base::resource_limits::limit_behind,
    diagnostic::{Code, Fault, Listing, Message, PluginFault, SignatureError},
    job::OptionError,
};

/// The version of LLVM in what `rustc -vV` printed.
fn llvm_of(rustc_version: &str) -> &str {
    let mut lines = rustc_version.lines();
    lines.find_map(|line| line.strip_prefix("LLVM version: ")).unwrap_or("an unknown version")
}

/// Why a source could not be compiled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// LLVM has no code for a target for what the kernels do.
    #[error("{file}: LLVM cannot generate code for {target}: {}", errors.join("; "))]
    Generation {
        /// The source.
        file: String,
        /// The target.
        target: Target,
        /// What LLVM says.
        errors: Vec<String>,
    },
    /// A file cannot stand for a stage of a kernel.
    #[error("{file} cannot replace the kernel `{kernel}`: {message}")]
    Override {
        /// The file.
        file: String,
        /// The kernel.
        kernel: String,
        /// Why, and what to do.
        message: String,
    },
    /// A kernel that was read from a source's text is not in what rustc made of it.
    #[error(
        "{file}:{line}: kernel `{kernel}` is not in the compiled code: it is left out by a `#[cfg(..)]` that only \
         rustc can evaluate; use a feature of the package, or a name that the settings define"
    )]
    LeftOut {
        /// The source.
        file: String,
        /// The line of the kernel.
        line: u32,
        /// The kernel.
        kernel: String,
    },
    /// The LLVM library cannot be used.
    #[error(transparent)]
    Llvm(#[from] kernelmill_llvm::Error),
    /// The LLVM library is older than the one in rustc, whose bitcode it cannot read.
    #[error(
        "{} writes bitcode of LLVM {}, which the LLVM library {} (version {version}) is too old to \
         read: unset KERNELMILL_LLVM, or set it to the library of the same or a later version",
        rustc.display(), llvm_of(rustc_version), library.display()
    )]
    OlderLlvm {
        /// The library.
        library: PathBuf,
        /// Its version.
        version: String,
        /// The Rust compiler.
        rustc: PathBuf,
        /// What `rustc -vV` printed.
        rustc_version: String,
    },
    /// rustc wrote something else than bitcode: it generates code without LLVM.
    #[error(
        "{} wrote no LLVM bitcode for {display}: kernels need the LLVM back end of rustc, and this one \
         (or a wrapper in its place) generates code in another way; set RUSTC to rustup's rustc, or \
         remove `codegen-backend` from the configuration",
        rustc.display()
    )]
    NotBitcode {
        /// The Rust compiler.
        rustc: PathBuf,
        /// The file as people know it.
        display: String,
    },
    /// A compiler succeeded and wrote nothing.
    #[error(
        "{} succeeded on {display} and wrote no output: remove the option in the setting `arguments` that keeps \
         it from compiling",
        program.file_name().unwrap_or_default().to_string_lossy()
    )]
    NoOutput {
        /// The compiler.
        program: PathBuf,
        /// The file as people know it.
        display: String,
    },
    /// rustc refused the kernel. The text is rustc's own, with the user's file and line.
    #[error("{}", stderr.trim_end())]
    Rustc {
        /// What rustc printed.
        stderr: String,
    },
    /// A C++ compiler refused the kernel.
    #[error("{}", CppMessages { tool, messages, kept: kept.as_deref() })]
    Cpp {
        /// The compiler, for example `nvcc`.
        tool: &'static str,
        /// What it said, warnings too.
        messages: Vec<Message>,
        /// The folder that has the command line and what it worked on.
        kept: Option<PathBuf>,
    },
    /// The debug information in compiled C++ cannot be read.
    #[error("{}", Unreadable(error))]
    Signatures {
        /// The source.
        file: String,
        /// Why.
        error: SignatureError,
    },
    /// clang refused a file in CUDA C++.
    #[error(
        "{}\nnote: {display} was compiled by clang, with kernelmill's headers in place of the CUDA \
         toolkit's; kernels that need the toolkit's libraries or inline PTX are for NVIDIA's \
         targets, through nvcc: narrow them with `[kernels.NAME] targets = [...]`",
        CppMessages { tool: "clang", messages, kept: None }.to_string().trim_end()
    )]
    Clang {
        /// What it said.
        messages: Vec<Message>,
        /// The file as people know it.
        display: String,
    },
    /// clang refused a source in HIP.
    #[error(
        "{}\nnote: {display} was compiled by clang, with kernelmill's headers in place of ROCm's; ROCm's libraries, \
         textures and AMD's inline assembly are not among them: keep such kernels under `#ifndef __KERNELMILL__`",
        CppMessages { tool: "clang", messages, kept: None }.to_string().trim_end()
    )]
    Hip {
        /// What it said.
        messages: Vec<Message>,
        /// The file as people know it.
        display: String,
    },
    /// clang refused a source in OpenCL C.
    #[error(
        "{}\nnote: {display} was compiled by clang, with kernelmill's built-in functions of OpenCL C; images, \
         samplers, pipes and queues of the device are not among them: pass buffers, or keep such kernels \
         under `#ifndef __KERNELMILL__`",
        CppMessages { tool: "clang", messages, kept: None }.to_string().trim_end()
    )]
    OpenCl {
        /// What it said.
        messages: Vec<Message>,
        /// The file as people know it.
        display: String,
    },
    /// A file in LLVM IR cannot be read, or its kernels cannot be known.
    #[error("{}", text.trim_end())]
    Ir {
        /// Every fault, with file and line.
        text: String,
    },
    /// A file in PTX cannot be read, or its kernels cannot be known.
    #[error("{}", text.trim_end())]
    Ptx {
        /// Every fault, with file and line.
        text: String,
    },
    /// A file in WGSL is not valid, or its kernels cannot be launched.
    #[error("{}", text.trim_end())]
    Wgsl {
        /// Every fault, with file, line and column.
        text: String,
    },
    /// The compiler was built without its front end for WGSL.
    #[error(
        "{file} is for the target `vulkan`, and the compiler was built without its feature `wgsl`: enable \
             this feature of kernelmill-build in Cargo.toml"
    )]
    NoWgsl {
        /// The file.
        file: String,
    },
    /// NVIDIA's mathematical functions are asked for, and not there.
    #[error(
        "{target}: `math = \"vendor\"` needs libdevice.10.bc of the CUDA toolkit, which is not beside \
         ptxas; install it (`cargo kernelmill toolchain install cuda`), or leave the setting out"
    )]
    NoLibdevice {
        /// The target.
        target: Target,
    },
    /// AMD's mathematical functions are asked for, and not there.
    #[error(
        "{target}: `math = \"vendor\"` needs ocml.bc of ROCm's device libraries, which is neither in \
         HIP_DEVICE_LIB_PATH nor below ROCM_PATH, /opt/rocm or /usr; install it \
         (`apt-get install rocm-device-libs`), or leave the setting out"
    )]
    NoOcml {
        /// The target.
        target: Target,
    },
    /// Kernels say what cannot be of the launches they are made for.
    #[error("{}", text.trim_end())]
    Limits {
        /// Every fault, with file and line.
        text: String,
    },
    /// Functions in C++ that the host can give to kernels take or return what they cannot.
    #[error("{}", .0.join("\n"))]
    DeviceFunctions(Vec<String>),
    /// clang is newer than LLVM, which does not read what it wrote.
    #[error(
        "{} ({version}) writes bitcode that the Rust toolchain's LLVM cannot read: {reason}; use a clang whose \
         version is not higher than that of this LLVM, or a newer Rust toolchain",
        program.display()
    )]
    ClangBitcode {
        /// The program.
        program: PathBuf,
        /// Its version.
        version: String,
        /// What LLVM said.
        reason: String,
    },
    /// A tool could not be started.
    #[error("cannot run {}: {source}{}", program.display(), limit_behind(source))]
    Start {
        /// The tool.
        program: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A signal ended a tool: it went beyond its limits, or it crashed.
    #[error(
        "{} did not finish on {subject}: {reason}{}{}",
        program.file_name().unwrap_or_default().to_string_lossy(),
        after_newline(stderr),
        KeptInput(kept.as_deref())
    )]
    Ended {
        /// The tool.
        program: PathBuf,
        /// What it was run on, for example `kernels/saxpy.rs`.
        subject: String,
        /// Why, and what to do.
        reason: String,
        /// What it printed.
        stderr: String,
        /// The folder that has its command line and what it worked on.
        kept: Option<PathBuf>,
    },
    /// A tool failed on what the compiler gave it.
    #[error("{tool} failed on {subject}:\n{}{}", stderr.trim_end(), KeptInput(kept.as_deref()))]
    Tool {
        /// The tool, for example `ptxas`.
        tool: &'static str,
        /// What it was run on, for example `saxpy for sm_90`.
        subject: String,
        /// What it printed.
        stderr: String,
        /// The folder that has its command line and what it worked on.
        kept: Option<PathBuf>,
    },
    /// What kernels need came with a version of PTX that LLVM or ptxas does not know.
    #[error(transparent)]
    PtxVersion(Box<NoPtxVersion>),
    /// There is no ptxas, which makes cubins.
    #[error(
        "the target {target} needs ptxas, and none was found (searched KERNELMILL_PTXAS, PATH, CUDA_HOME and \
         target/toolchains); install it with `cargo kernelmill toolchain install cuda`, or use the target {ptx}, \
         which needs no tool"
    )]
    NoPtxas {
        /// The target.
        target: Target,
        /// The target that gives PTX for the same architecture.
        ptx: String,
    },
    /// nvcc has compiled a file, and no library of device code has what is undefined in it.
    #[error(
        "{file} calls functions that neither the file nor a device library defines for {target}: {}; the device \
         libraries are {libraries}",
        names.join(", ")
    )]
    NotInLibraries {
        /// The file.
        file: String,
        /// The target.
        target: Target,
        /// The functions.
        names: Vec<String>,
        /// The libraries.
        libraries: String,
    },
    /// The toolchain lacks rust-lld, which links AMD code objects.
    #[error(
        "the target {target} needs rust-lld, which is not at {}; install a Rust toolchain with \
         rustup",
        path.display()
    )]
    NoLinker {
        /// The target.
        target: Target,
        /// Where it was looked for.
        path: PathBuf,
    },
    /// There is no clang, which compiles C++ and OpenCL C.
    #[error(
        "{file}: clang compiles this source, and none was found: install clang, or set `clang` \
         (KERNELMILL_CLANG) to one"
    )]
    NoClang {
        /// The source.
        file: String,
    },
    /// There is no clang that makes SPIR-V.
    #[error(
        "the target {target} needs clang 20 or later, with LLVM's back end for SPIR-V, and none was found: \
         set `clang` (KERNELMILL_CLANG) to one"
    )]
    NoSpirv {
        /// The target.
        target: Target,
    },
    /// This version has no way from the source's language to the target.
    #[error("{file}: kernels in Rust cannot be compiled for {target} yet; leave the target out")]
    Unsupported {
        /// The source.
        file: String,
        /// The target.
        target: Target,
    },
    /// The options of a job do not fit together, or what it is for.
    #[error(transparent)]
    Options(#[from] OptionError),
    /// External device functions that are named cannot be found, each with file and line.
    #[error("{}", .0.iter().map(|fault| &*fault.text).collect::<Vec<_>>().join("\n"))]
    Deferred(Vec<DeferredFault>),
    /// A plugin cannot do what a kernel asks of it, or has left something undone.
    #[error("{}", PluginFaults(.0))]
    Plugin(Vec<PluginFault>),
    /// The plugins do not fit together, or one of them is at fault.
    #[error("{0}")]
    Plugins(String),
    /// Parameters have other types than those that were read from their source, each with its kernel.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Types(Vec<TypeMismatch>),
    /// Macros of other crates write kernels, whose signatures cannot be read.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    HiddenKernels(Vec<HiddenKernel>),
    /// What the compiled code says of parameters is not what their source says.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Layout(Vec<LayoutMismatch>),
    /// Kernels have more parameters than the target has space for.
    #[error("{}", TooLarge(target, *limit, faults))]
    ParameterSpace {
        /// The target.
        target: Target,
        /// The space in bytes.
        limit: u64,
        /// Every such kernel.
        faults: Vec<ParameterSpace>,
    },
    /// The compiled code does what the target cannot.
    #[error("{}", Listing(targets, faults))]
    Invalid {
        /// The targets; the compiler, which is asked for one at a time, names one.
        targets: Vec<Target>,
        /// Every fault.
        faults: Vec<Fault>,
    },
    /// A file could not be read or written.
    #[error("cannot {action} {}: {source}{}", path.display(), limit_behind(source))]
    Io {
        /// What was tried, for example `write`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The vectoriser of the CPU back end built code of a kernel that LLVM refuses. The compiler handles
    /// it: it compiles the source again without vectorisation.
    #[error(
        "internal error of kernelmill: the vectoriser failed on kernel `{kernel}`: {message}; please report it"
    )]
    Vectorization {
        /// The symbol of the kernel.
        kernel: String,
        /// What LLVM says, or the step that failed.
        message: String,
    },
    /// The compiler broke one of its own rules.
    #[error("internal error of kernelmill: {0}; please report it")]
    Internal(String),
}

impl Error {
    /// The code of the error, under which `cargo kernelmill explain` and the book explain it. `None` for what
    /// rustc says, which has codes of its own.
    #[must_use]
    pub fn code(&self) -> Option<Code> {
        Some(match self {
            Self::Rustc { .. } => return None,
            Self::Generation { .. } => Code::Generation,
            Self::Override { .. } => Code::Override,
            Self::LeftOut { .. } | Self::Types(_) | Self::Layout(_) => Code::OtherTypes,
            Self::HiddenKernels(_) => Code::HiddenKernel,
            Self::Llvm(_) => Code::RustToolchain,
            Self::OlderLlvm { .. } | Self::ClangBitcode { .. } | Self::PtxVersion(_) => {
                Code::ToolVersion
            }
            Self::NotBitcode { .. } | Self::NoOutput { .. } => Code::NoBitcode,
            Self::Cpp { .. } | Self::Clang { .. } | Self::Hip { .. } | Self::OpenCl { .. } => {
                Code::CompilerMessage
            }
            Self::Ir { .. } => Code::LlvmIr,
            Self::Ptx { .. } => Code::Ptx,
            Self::Wgsl { .. } => Code::Wgsl,
            Self::NoWgsl { .. } => Code::MissingFeature,
            Self::NoLibdevice { .. } | Self::NoOcml { .. } => Code::VendorMath,
            Self::Limits { .. } => Code::Launches,
            Self::DeviceFunctions(_) => Code::DeviceFunction,
            Self::Start { .. } | Self::Tool { .. } => Code::ToolFailed,
            Self::Ended { .. } => Code::ToolEnded,
            Self::NoPtxas { .. }
            | Self::NoLinker { .. }
            | Self::NoClang { .. }
            | Self::NoSpirv { .. } => Code::MissingTool,
            Self::NotInLibraries { .. } => Code::DeviceLibrary,
            Self::Unsupported { .. } => Code::UnsuitedTarget,
            Self::Options(_) => Code::CompilerArgument,
            Self::Deferred(_) => Code::ExternalFunction,
            Self::Plugin(_) | Self::Plugins(_) => Code::Plugin,
            Self::ParameterSpace { .. } => Code::ParameterSpace,
            Self::Invalid { .. } => Code::Unsupported,
            Self::Io { .. } => Code::Files,
            Self::Signatures { .. } | Self::Vectorization { .. } | Self::Internal(_) => {
                Code::Internal
            }
        })
    }
}

impl From<Vec<PluginFault>> for Error {
    fn from(faults: Vec<PluginFault>) -> Self {
        Self::Plugin(faults)
    }
}
