//! Child processes: a test runs itself again, as the only test, on the fake HIP run time.

use std::{
    env,
    path::PathBuf,
    process::{self, Command, Output},
    sync::OnceLock,
    thread,
    time::Duration,
};

use test_support::{driver::fake_hip, tool};

/// Says which test a child process is to run.
const CHILD: &str = "HIP_BACKEND_TEST_CHILD";

/// How long a child process may take: one that hangs has failed.
const LIMIT: Duration = Duration::from_secs(200);

/// The code of processes that leak.
pub const LEAKS: i32 = 97;

/// What became of a child process.
#[derive(Debug)]
pub struct Child {
    /// The exit code; `None` where a signal ended it.
    pub code: Option<i32>,
    /// What it printed.
    pub stdout: String,
    /// What it and the driver said of errors.
    pub stderr: String,
}

impl Child {
    /// Runs `body` in a process of its own, and there nothing else. Must be called by the test that
    /// is called `name`, with its module, and do nothing before.
    ///
    /// # Panics
    ///
    /// Where no process can be started.
    pub fn run(name: &str, variables: &[(&str, &str)], body: impl FnOnce()) -> Self {
        if is_child(name) {
            end_in_time();
            body();
            process::exit(0);
        }
        Self::spawn(name, variables)
    }

    /// Starts the process of the test `name`, which is not one itself.
    ///
    /// # Panics
    ///
    /// Where no process can be started.
    #[must_use]
    pub fn spawn(name: &str, variables: &[(&str, &str)]) -> Self {
        static DRIVER: OnceLock<PathBuf> = OnceLock::new();
        let mut command = Command::new(env::current_exe().expect("the test's own path"));
        command.args([name, "--exact", "--nocapture", "--test-threads=1"]);
        for (variable, _) in env::vars().filter(|(name, _)| name.starts_with("FAKE_HIP_")) {
            command.env_remove(variable);
        }
        command.env(CHILD, name).env("LD_LIBRARY_PATH", DRIVER.get_or_init(fake_hip));
        command.envs(tool::WITHOUT_VULKAN);
        let Output { status, stdout, stderr } =
            command.envs(variables.iter().copied()).output().expect("a child process");
        let [stdout, stderr] =
            [stdout, stderr].map(|printed| String::from_utf8_lossy(&printed).into_owned());
        Self { code: status.code(), stdout, stderr }
    }

    /// Fails where the process did.
    ///
    /// # Panics
    ///
    /// With what the process said.
    #[track_caller]
    pub fn expect_success(&self) {
        assert_eq!(self.code, Some(0), "{}\n{}", self.stdout, self.stderr);
    }
}

/// Runs `body` in a process of its own that has to succeed and to leak nothing.
///
/// # Panics
///
/// With what the process said.
#[track_caller]
pub fn clean_child(name: &str, variables: &[(&str, &str)], body: impl FnOnce()) {
    let check = [("FAKE_HIP_LEAK_CHECK", "1")];
    let variables: Vec<_> = check.iter().chain(variables).copied().collect();
    Child::run(name, &variables, body).expect_success();
}

/// Whether this is the process that the test `name` has started.
#[must_use]
pub fn is_child(name: &str) -> bool {
    env::var(CHILD).is_ok_and(|child| child == name)
}

fn end_in_time() {
    thread::spawn(|| {
        thread::sleep(LIMIT);
        process::abort();
    });
}
