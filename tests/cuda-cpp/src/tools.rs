//! The compilers of the machine that runs the tests.

use std::{path::PathBuf, sync::OnceLock};

use kernelmill_compiler::{
    Compiler, ToolLimits, Toolchain,
    frontend::cuda::{Nvcc, clang::Clang},
};
use test_support::{shared_folder, tool};

/// clang, which `cargo xtask setup` installs, or the one that `KERNELMILL_TEST_CLANG` names.
///
/// # Panics
///
/// Where there is none.
pub fn clang() -> &'static Clang {
    static CLANG: OnceLock<Clang> = OnceLock::new();
    CLANG.get_or_init(|| {
        let program = tool::clang().expect("clang is installed by `cargo xtask setup`");
        Clang { version: tool::output(&program, &["--version"]), program }
    })
}

/// NVIDIA's assembler.
#[must_use]
pub fn ptxas() -> Option<PathBuf> {
    tool::nvidia("ptxas")
}

/// NVIDIA's compiler.
#[must_use]
pub fn nvcc() -> Option<Nvcc> {
    Some(Nvcc {
        program: tool::nvidia("nvcc")?,
        scratch: scratch(),
        limits: ToolLimits::of_machine(),
    })
}

/// What compilers share: libraries that are built once.
fn scratch() -> PathBuf {
    shared_folder("cuda-cpp")
}

/// The compiler.
///
/// # Panics
///
/// Where the Rust toolchain cannot be used.
pub fn compiler() -> &'static Compiler {
    static COMPILER: OnceLock<Compiler> = OnceLock::new();
    COMPILER.get_or_init(|| {
        let rustc = tool::rustc();
        Compiler::new(Toolchain {
            host: rustc.host.clone(),
            sysroot: rustc.sysroot.clone(),
            rustc: rustc.program.clone(),
            llvm: None,
            ptxas: ptxas(),
            ptxas_version: String::new(),
            spirv: None,
            spirv_version: String::new(),
            libdevice: None,
            ocml: None,
            limits: ToolLimits::of_machine(),
            scratch: scratch(),
            rustc_version: rustc.version.clone(),
        })
        .unwrap()
    })
}
