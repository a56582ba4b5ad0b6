//! LLVM's shared library: where it is, and the one that this process has opened.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use kernelmill_llvm::{Library, Version};

use crate::error::Error;

/// The name of the compiler in messages.
pub(super) const LLVM: &str = "LLVM";

/// The variable that names the library.
pub(super) const VARIABLE: &str = "KERNELMILL_LLVM";

/// Why kernels in Rust cannot be compiled.
pub(super) fn no_compiler(reason: String) -> Error {
    Error::NoCompiler { compiler: LLVM, reason }
}

/// LLVM's library, opened once; else why there is none.
pub(super) fn open() -> Result<&'static Library, &'static str> {
    static OPENED: OnceLock<Result<Library, String>> = OnceLock::new();
    let opened = OPENED.get_or_init(|| {
        let named = env::var_os(VARIABLE).filter(|path| !path.is_empty());
        let path = find(named.map(PathBuf::from), rust_toolchain, Path::new("/usr"))?;
        Library::open_without_handlers(&path).map_err(|error| error.to_string())
    });
    opened.as_ref().map_err(|reason| &**reason)
}

/// The folder of the Rust toolchain, where there is one.
fn rust_toolchain() -> Option<PathBuf> {
    let said = Command::new("rustc").args(["--print", "sysroot"]).output().ok()?;
    let folder = PathBuf::from(String::from_utf8(said.stdout).ok()?.trim());
    folder.is_dir().then_some(folder)
}

/// Where LLVM's library is: what the environment names, that of the Rust toolchain, or that of the system.
pub(super) fn find(
    named: Option<PathBuf>,
    toolchain: impl FnOnce() -> Option<PathBuf>,
    system: &Path,
) -> Result<PathBuf, String> {
    if let Some(path) = named {
        return Ok(path);
    }
    let own = toolchain().and_then(|it| kernelmill_llvm::find_in_sysroot(&it).ok());
    let mut versions = (Version::OLDEST.major..=Version::NEWEST_TESTED).rev();
    let of_system = || versions.find_map(|it| kernelmill_llvm::find_library(system, Some(it)).ok());
    own.or_else(of_system).ok_or_else(|| {
        format!(
            "no shared library of LLVM was found in the Rust toolchain or the system: install LLVM {} or later \
             (Debian's package `libllvm{}`) or a Rust toolchain with rustup, or set {VARIABLE} to the library",
            Version::OLDEST.major,
            Version::NEWEST_TESTED - 1
        )
    })
}
