//! The fake driver (`fake-cuda`): built, and put in the place of the real one.

use crate::workspace::Workspace;
use anyhow::{Context as _, Result};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// What is checked beyond what the driver always checks.
const CHECKS: [(&str, &str); 2] = [("FAKE_CUDA_RACES", "1"), ("FAKE_CUDA_LEAK_CHECK", "1")];

/// The variables that put a program on the driver.
pub(crate) fn variables(folder: &Path) -> impl Iterator<Item = (&str, &str)> {
    let folder = folder.to_str().expect("cargo's target folder is UTF-8");
    [("LD_LIBRARY_PATH", folder)].into_iter().chain(CHECKS)
}

/// Builds the driver and gives the folder that holds it under the name that programs open. Its emulator is optimised in
/// every profile.
pub(crate) fn build(workspace: &Workspace) -> Result<PathBuf> {
    workspace.cargo(&["build", "--package", "fake-cuda"]).run()?;
    let folder = workspace.target.join("tmp/test-driver");
    fs::create_dir_all(&folder)?;
    let built = workspace.target.join("debug/libfake_cuda.so");
    for name in ["libcuda.so.1", "libcuda.so"] {
        fs::copy(&built, folder.join(name)).context(built.display().to_string())?;
    }
    Ok(folder)
}
