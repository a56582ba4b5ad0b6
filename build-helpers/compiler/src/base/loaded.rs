//! LLVM for unit tests, which have no compiler that opens it.

use kernelmill_llvm::{Library, find_in_sysroot};

/// Opens the LLVM of the rustc that tests run under.
pub(crate) fn open_llvm() {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let sysroot = std::process::Command::new(rustc).args(["--print", "sysroot"]).output();
    let sysroot = String::from_utf8(sysroot.unwrap().stdout).unwrap();
    Library::open(&find_in_sysroot(sysroot.trim().as_ref()).unwrap()).unwrap();
}
