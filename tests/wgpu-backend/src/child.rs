//! Child processes on lavapipe, with the layer that counts objects and makes calls fail.

use std::{
    ffi::{CString, c_char},
    path::PathBuf,
    process::Command,
    sync::OnceLock,
    time::Duration,
};

use libloading::{Library, Symbol};
use test_support::{
    child::{Child, Processes, is_child},
    driver::vulkan_layer,
    tool,
};

const PROCESSES: Processes =
    Processes { prefix: "VULKAN_LAYER_", limit: Duration::from_secs(100), prepare };

fn prepare(command: &mut Command) {
    static LAYER: OnceLock<PathBuf> = OnceLock::new();
    command.env_remove("KERNELMILL_DEVICE").env("RUST_BACKTRACE", "0");
    command.env("LD_LIBRARY_PATH", LAYER.get_or_init(vulkan_layer));
    command.env("VULKAN_LAYER_LIBRARY", tool::VULKAN).envs(tool::WITH_LAVAPIPE);
}

/// Runs `body` in a process of its own, as [`Processes::run`] does; `None` where there is no lavapipe.
///
/// # Panics
///
/// Where no process can be started, and where there is no lavapipe in CI.
pub fn run_child(name: &str, variables: &[(&str, &str)], body: impl FnOnce()) -> Option<Child> {
    is_there(name).then(|| PROCESSES.run(name, variables, body))
}

/// Starts the process of the test `name`, which is not one itself.
///
/// # Panics
///
/// As [`run_child`].
#[must_use]
pub fn spawn_child(name: &str, variables: &[(&str, &str)]) -> Option<Child> {
    is_there(name).then(|| PROCESSES.spawn(name, variables))
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

/// Whether there is lavapipe, which a child process need not ask.
fn is_there(name: &str) -> bool {
    is_child(name) || tool::lavapipe().is_some()
}

/// How many objects of a kind the driver has for this child process, for example `buffers`.
///
/// # Panics
///
/// Where the layer is not in the library path.
#[must_use]
pub fn count(kind: &str) -> i64 {
    // SAFETY: the library's initialisers have no preconditions.
    let library = unsafe { Library::new("libvulkan.so.1") }.expect("the layer");
    // SAFETY: the function has this type.
    let count: Symbol<'_, unsafe extern "C" fn(*const c_char) -> i64> =
        unsafe { library.get("vulkan_layer_count") }.expect("the layer");
    let kind = CString::new(kind).expect("a kind has no zero");
    // SAFETY: the text ends with a zero.
    unsafe { count(kind.as_ptr()) }
}
