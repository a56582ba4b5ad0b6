//! Child processes on pocl, with the layer that counts objects and makes calls fail.

use std::{path::PathBuf, process::Command, sync::OnceLock, time::Duration};

use test_support::{
    child::{Child, Processes, is_child},
    driver::opencl_layer,
    shared_folder, tool,
};

const PROCESSES: Processes =
    Processes { prefix: "OPENCL_LAYER_", limit: Duration::from_secs(120), prepare };

/// pocl keeps what it compiles below the target folder.
fn prepare(command: &mut Command) {
    static LAYER: OnceLock<PathBuf> = OnceLock::new();
    command.env_remove("KERNELMILL_DEVICE").env("RUST_BACKTRACE", "0");
    command.env("OPENCL_DYLIB_PATH", LAYER.get_or_init(opencl_layer));
    command.env("OCL_ICD_VENDORS", tool::POCL).envs(tool::WITHOUT_VULKAN);
    command.env("POCL_CACHE_DIR", shared_folder("pocl-cache"));
}

/// Runs `body` in a process of its own, as [`Processes::run`] does; `None` where there is no pocl.
///
/// # Panics
///
/// Where no process can be started, and where there is no pocl in CI.
pub fn run_child(name: &str, variables: &[(&str, &str)], body: impl FnOnce()) -> Option<Child> {
    is_there(name).then(|| PROCESSES.run(name, variables, body))
}

/// Runs `body` in a process of its own that has to succeed and to leak nothing.
///
/// # Panics
///
/// With what the process said.
#[track_caller]
pub fn clean_child(name: &str, variables: &[(&str, &str)], body: impl FnOnce()) {
    if is_there(name) {
        PROCESSES.run_checked(name, variables, body).expect_success();
    }
}

/// Whether there is pocl, which a child process need not ask.
fn is_there(name: &str) -> bool {
    is_child(name) || tool::pocl().is_some()
}
