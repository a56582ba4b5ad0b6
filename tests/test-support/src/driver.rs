//! The fake drivers, built for tests.

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
    build("fake-cuda", "libfake_cuda.so", &["libcuda.so.1", "libcuda.so"])
}

/// The folder of the fake HIP run time (`fake-hip`), as [`fake_driver`].
///
/// # Panics
///
/// When it cannot be built.
#[must_use]
pub fn fake_hip() -> PathBuf {
    build("fake-hip", "libfake_hip.so", &["libamdhip64.so.6", "libamdhip64.so"])
}

/// The layer before the OpenCL library (`opencl-layer`), for `OPENCL_DYLIB_PATH`. Built as [`fake_driver`] is.
///
/// # Panics
///
/// When it cannot be built.
#[must_use]
pub fn opencl_layer() -> PathBuf {
    let name = "libopencl_layer.so";
    build("opencl-layer", name, &[name]).join(name)
}

/// The folder of the layer before the Vulkan loader (`vulkan-layer`), for `LD_LIBRARY_PATH`. Built as [`fake_driver`] is.
///
/// # Panics
///
/// When it cannot be built.
#[must_use]
pub fn vulkan_layer() -> PathBuf {
    build("vulkan-layer", "libvulkan_layer.so", &["libvulkan.so.1", "libvulkan.so"])
}

/// Builds a package, and puts its library into a folder of its own under these names.
fn build(package: &str, library: &str, names: &[&str]) -> PathBuf {
    let folder = shared_folder(package);
    let target = target();
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--package", package, "--target-dir"]).arg(&target);
    let status = build.current_dir(root()).status().expect("cargo can be started");
    assert!(status.success(), "{package} could not be built");
    for name in names {
        // Whole or absent, for tests that run at the same time.
        let temporary = folder.join(format!("{name}.{}", std::process::id()));
        fs::copy(target.join("debug").join(library), &temporary).expect("the driver was built");
        fs::rename(temporary, folder.join(name)).expect("a file of this folder");
    }
    folder
}
