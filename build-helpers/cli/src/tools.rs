//! Programs of the Rust toolchain, and what programs print. Those of CUDA and LLVM are found by
//! `kernelmill_build::toolchain`, as builds find them.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

/// A program on `PATH`.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    let name = format!("{name}{}", env::consts::EXE_SUFFIX);
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(&name)).find(|file| file.is_file())
}

/// The Rust compiler that cargo uses.
pub(crate) fn rustc() -> PathBuf {
    env::var_os("RUSTC").map_or_else(|| PathBuf::from("rustc"), PathBuf::from)
}

/// What a program prints; `None` where it cannot be run or fails.
pub(crate) fn output(program: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
