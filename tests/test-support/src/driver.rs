//! The fake driver, built for tests.

use crate::workspace::{root, shared_folder, target};
use std::{env, fs, path::PathBuf, process::Command};

/// The folder of the fake driver (`fake-cuda`), for `LD_LIBRARY_PATH`. It is built into the folder that
/// the running test was built into.
///
/// # Panics
///
/// When it cannot be built.
#[must_use]
pub fn fake_driver() -> PathBuf {
    let folder = shared_folder("fake-driver");
    let target = target();
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--package", "fake-cuda", "--target-dir"]).arg(&target);
    let status = build.current_dir(root()).status().expect("cargo can be started");
    assert!(status.success(), "the fake driver could not be built");
    for name in ["libcuda.so.1", "libcuda.so"] {
        // Whole or absent, for tests that run at the same time.
        let temporary = folder.join(format!("{name}.{}", std::process::id()));
        fs::copy(target.join("debug/libfake_cuda.so"), &temporary).expect("the driver was built");
        fs::rename(temporary, folder.join(name)).expect("a file of this folder");
    }
    folder
}
