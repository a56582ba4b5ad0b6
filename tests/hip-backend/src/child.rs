//! Child processes on the fake HIP run time.

use std::{path::PathBuf, process::Command, sync::OnceLock, time::Duration};

use test_support::{
    child::{Child, Processes},
    driver::fake_hip,
    tool,
};

const PROCESSES: Processes =
    Processes { prefix: "FAKE_HIP_", limit: Duration::from_secs(200), prepare };

fn prepare(command: &mut Command) {
    static DRIVER: OnceLock<PathBuf> = OnceLock::new();
    command.env("LD_LIBRARY_PATH", DRIVER.get_or_init(fake_hip)).envs(tool::WITHOUT_VULKAN);
}

/// Runs `body` in a process of its own, as [`Processes::run`] does.
///
/// # Panics
///
/// Where no process can be started.
pub fn run_child(name: &str, variables: &[(&str, &str)], body: impl FnOnce()) -> Child {
    PROCESSES.run(name, variables, body)
}

/// Starts the process of the test `name`, which is not one itself.
///
/// # Panics
///
/// Where no process can be started.
#[must_use]
pub fn spawn_child(name: &str, variables: &[(&str, &str)]) -> Child {
    PROCESSES.spawn(name, variables)
}

/// Runs `body` in a process of its own that has to succeed and to leak nothing.
///
/// # Panics
///
/// With what the process said.
#[track_caller]
pub fn clean_child(name: &str, variables: &[(&str, &str)], body: impl FnOnce()) {
    PROCESSES.run_checked(name, variables, body).expect_success();
}
