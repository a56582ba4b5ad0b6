//! Programs that some tests need.

use crate::project::{place, root};
use std::{env, fs, path::PathBuf, process::Command};

/// A program of NVIDIA's, from `CUDA_HOME`, `PATH` or the wheels of `cargo xtask setup`.
///
/// `None` after a line that says that the test is skipped.
///
/// # Panics
///
/// When it is missing and `KERNELMILL_REQUIRE_TOOLS` is set, as `cargo xtask test` does.
#[must_use]
pub fn nvidia(name: &str) -> Option<PathBuf> {
    let home = env::var_os("CUDA_HOME").map(|home| PathBuf::from(home).join("bin"));
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = home.into_iter().chain(env::split_paths(&path));
    let wheels = root().join("target/toolchains/nvidia/cu13/bin");
    let found = folders.chain([wheels]).map(|folder| folder.join(name)).find(|file| file.is_file());
    or_skip(name, found)
}

/// clang, under the name that Debian gives the one the set-up installs, or under its own.
///
/// `None` after a line that says that the test is skipped.
///
/// # Panics
///
/// When it is missing and `KERNELMILL_REQUIRE_TOOLS` is set, as `cargo xtask test` does.
#[must_use]
pub fn clang() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders: Vec<_> = env::split_paths(&path).collect();
    let named = |name: &str| folders.iter().map(|it| it.join(name)).find(|file| file.is_file());
    or_skip("clang", named("clang-22").or_else(|| named("clang")))
}

/// Says that a test is skipped where its program is missing.
fn or_skip(name: &str, found: Option<PathBuf>) -> Option<PathBuf> {
    if found.is_none() {
        let message = format!("{name} is not there: `cargo xtask setup` installs it");
        assert!(env::var_os("KERNELMILL_REQUIRE_TOOLS").is_none(), "{message}");
        println!("skipped: {message}");
    }
    found
}

/// The folder of the fake CUDA driver, for `LD_LIBRARY_PATH`. It is built into the folder that
/// the running test was built into.
///
/// # Panics
///
/// When it cannot be built.
#[must_use]
pub fn fake_driver() -> PathBuf {
    let folder = place().join("driver");
    fs::create_dir_all(place()).expect("a folder for tests");
    let target = place().join("../..").canonicalize().expect("tests lie in the target folder");
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--package", "fake-cuda", "--target-dir"]).arg(&target);
    let status = build.current_dir(root()).status().expect("cargo can be started");
    assert!(status.success(), "the fake driver could not be built");
    fs::create_dir_all(&folder).expect("a folder for the driver");
    for name in ["libcuda.so.1", "libcuda.so"] {
        // Whole or absent, for tests that run at the same time.
        let temporary = folder.join(format!("{name}.{}", std::process::id()));
        fs::copy(target.join("debug/libfake_cuda.so"), &temporary).expect("the driver was built");
        fs::rename(temporary, folder.join(name)).expect("a file of this folder");
    }
    folder
}
