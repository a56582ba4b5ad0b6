//! The toolchain: the external tools that the compiler runs, where they are, and the files they work on.

mod failed;
mod idle;
mod limits;
mod nvlink;
mod scratch;

use std::{env::consts::EXE_SUFFIX, path::PathBuf};

pub(crate) use failed::KeptRun;
pub use idle::IdleWatch;
pub use limits::ToolLimits;
pub(crate) use nvlink::{Linked, Relocatable};
pub(crate) use scratch::{TemporaryFolder, read, read_output, write};

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
    /// NVIDIA's mathematical functions as bitcode, where they are asked for and there.
    pub libdevice: Option<PathBuf>,
    /// AMD's, `ocml.bc`, in the same way.
    pub ocml: Option<PathBuf>,
    /// A clang with LLVM's back end for SPIR-V, where it is needed and there.
    pub spirv: Option<PathBuf>,
    /// What `clang --version` printed of it; empty where there is none.
    pub spirv_version: String,
    /// What each process of a tool may take.
    pub limits: ToolLimits,
    /// A folder for what is built once for the toolchain, and for temporary files.
    pub scratch: PathBuf,
}

impl Toolchain {
    /// The linker for AMD code objects: where rustup's toolchains have it, or, where it is not there, beside a
    /// distribution's rustc.
    pub(crate) fn linker(&self) -> PathBuf {
        let name = format!("rust-lld{EXE_SUFFIX}");
        let host = self.rustc_host();
        let own = self.sysroot.join("lib/rustlib").join(host).join("bin").join(&name);
        let shared = self.sysroot.join("bin").join(name);
        if !own.exists() && shared.exists() { shared } else { own }
    }

    /// The triple that rustc itself runs on.
    fn rustc_host(&self) -> &str {
        self.rustc_version
            .lines()
            .find_map(|line| line.strip_prefix("host: "))
            .unwrap_or(&self.host)
    }

    /// The major version of the LLVM that rustc writes bitcode with; `None` where it does not say.
    pub(crate) fn llvm_of_rustc(&self) -> Option<u32> {
        let mut lines = self.rustc_version.lines();
        let version = lines.find_map(|line| line.strip_prefix("LLVM version: "))?;
        version.split('.').next()?.trim().parse().ok()
    }

    /// The folder of the standard library's rlibs for the host.
    pub(crate) fn standard_library(&self) -> PathBuf {
        self.sysroot.join("lib/rustlib").join(&self.host).join("lib")
    }
}
