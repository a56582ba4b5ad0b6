//! Child processes on the fake driver, or on the machine's own where `KERNELMILL_TEST_DRIVER` is `real`. Tests that need the
//! fake one say so with [`fake_child`] or [`is_left_out`].

use std::{
    env,
    io::{self, Write as _},
    path::PathBuf,
    process::Command,
    sync::OnceLock,
    time::Duration,
};

use test_support::{
    child::{Child, Processes},
    driver::fake_driver,
    tool,
};

/// Says which driver the tests run on: `fake`, which is built for them, or `real`, the machine's.
const DRIVER: &str = "KERNELMILL_TEST_DRIVER";

/// How the variables of the fake driver begin.
const FAKE: &str = "FAKE_CUDA_";

/// Variables with which the fake driver does nothing that another one does not: it has other times, another device,
/// or checks more. What a test gives them for must hold without them too.
const HOLD_ANYWHERE: [&str; 4] =
    ["FAKE_CUDA_ARCH", "FAKE_CUDA_LEAK_CHECK", "FAKE_CUDA_RACES", "FAKE_CUDA_STREAMS"];

/// So many streams do not wait for each other in the queues of the machine's device.
const MANY_QUEUES: (&str, &str) = ("CUDA_DEVICE_MAX_CONNECTIONS", "32");

/// How long a child process may take: one that hangs has failed.
const LIMIT: Duration = Duration::from_secs(100);

/// As [`LIMIT`], on the machine's driver, whose device may be lent for a short time.
const LIMIT_OF_REAL: Duration = Duration::from_secs(50);

fn processes() -> Processes {
    let limit = if is_driver_real() { LIMIT_OF_REAL } else { LIMIT };
    Processes { prefix: FAKE, limit, prepare }
}

fn prepare(command: &mut Command) {
    static DRIVER: OnceLock<PathBuf> = OnceLock::new();
    if is_driver_real() {
        command.env(MANY_QUEUES.0, MANY_QUEUES.1);
    } else {
        command.env("LD_LIBRARY_PATH", DRIVER.get_or_init(fake_driver));
    }
    // The features of other packages' tests are in here too: no devices of OpenCL, and no threads of theirs.
    command.env("OCL_ICD_VENDORS", "/nonexistent").envs(tool::WITHOUT_VULKAN);
}

/// Runs `body` in a process of its own, as [`Processes::run`] does.
///
/// # Panics
///
/// Where no process can be started, and on the machine's driver for variables that only the fake one obeys.
pub fn run_child(name: &str, variables: &[(&str, &str)], body: impl FnOnce()) -> Child {
    processes().run(name, &obeyed(name, variables), body)
}

/// Starts the process of the test `name`, which is not one itself.
///
/// # Panics
///
/// As [`run_child`].
#[must_use]
pub fn spawn_child(name: &str, variables: &[(&str, &str)]) -> Child {
    processes().spawn(name, &obeyed(name, variables))
}

/// Runs `body` in a process of its own that has to succeed and to leak nothing.
///
/// # Panics
///
/// With what the process said.
#[track_caller]
pub fn clean_child(name: &str, variables: &[(&str, &str)], body: impl FnOnce()) {
    let variables = obeyed(name, variables);
    processes().run_checked(name, &variables, body).expect_success();
}

/// As [`clean_child`], for what only the fake driver does: calls that fail, devices that the machine has not, work that
/// begins when something waits for it. On the machine's driver the test is left out.
///
/// # Panics
///
/// With what the process said.
#[track_caller]
pub fn fake_child(name: &str, variables: &[(&str, &str)], body: impl FnOnce()) {
    if !is_left_out(name) {
        clean_child(name, variables, body);
    }
}

/// Whether the test `name`, which needs the fake driver, is left out because the driver is the machine's. Says so.
#[must_use]
pub fn is_left_out(name: &str) -> bool {
    if is_driver_real() {
        say_left_out("only on the fake driver", name);
    }
    is_driver_real()
}

/// Says why the test `name` is left out, past what keeps the output of tests that pass.
///
/// # Panics
///
/// Where that cannot be written.
pub fn say_left_out(why: &str, name: &str) {
    let line = format!("{why}: {name}\n");
    io::stderr().write_all(line.as_bytes()).expect("standard error");
}

/// Whether the tests run on the machine's driver.
///
/// # Panics
///
/// Where the variable says neither `fake` nor `real`.
#[must_use]
pub fn is_driver_real() -> bool {
    match env::var(DRIVER).as_deref() {
        Err(_) | Ok("" | "fake") => false,
        Ok("real") => true,
        Ok(other) => panic!("{DRIVER} is `{other}`: it is `fake` or `real`"),
    }
}

/// The variables of a test that mean something to the driver.
fn obeyed<'v>(name: &str, variables: &[(&'v str, &'v str)]) -> Vec<(&'v str, &'v str)> {
    if !is_driver_real() {
        return variables.to_vec();
    }
    let of_fake = |(variable, _): &(&str, &str)| variable.starts_with(FAKE);
    let (of_fake, others): (Vec<_>, _) = variables.iter().copied().partition(of_fake);
    for (variable, _) in of_fake {
        let holds = HOLD_ANYWHERE.contains(&variable);
        assert!(holds, "{name} asks for {variable}: it needs the fake driver, and does not say so");
    }
    others
}
