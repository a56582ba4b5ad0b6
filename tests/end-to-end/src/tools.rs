//! Programs that some tests need.

use crate::project::root;
use std::{env, path::PathBuf};

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
    if found.is_none() {
        let message = format!("{name} is not there: `cargo xtask setup` installs it");
        assert!(env::var_os("KERNELMILL_REQUIRE_TOOLS").is_none(), "{message}");
        println!("skipped: {message}");
    }
    found
}
