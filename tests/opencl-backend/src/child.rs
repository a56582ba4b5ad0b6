//! Child processes: a test runs itself again, as the only test, with the layer that counts objects and makes calls fail.

use std::{
    env,
    path::PathBuf,
    process::{self, Command, Output},
    sync::OnceLock,
    thread,
    time::Duration,
};

use test_support::{driver::opencl_layer, shared_folder, tool};

/// Says which test a child process is to run.
const CHILD: &str = "OPENCL_BACKEND_TEST_CHILD";

/// How long a child process may take: one that hangs has failed.
const LIMIT: Duration = Duration::from_secs(120);

/// The code of processes that leak.
pub const LEAKS: i32 = 97;

/// What became of a child process.
#[derive(Debug)]
pub struct Child {
    /// The exit code; `None` where a signal ended it.
    pub code: Option<i32>,
    /// What it printed.
    pub stdout: String,
    /// What it and the layer said of errors.
    pub stderr: String,
}

impl Child {
    /// Runs `body` in a process of its own, and there nothing else. Must be called by the test that
    /// is called `name`, and do nothing before. pocl keeps what it compiles below
    /// the target folder.
    ///
    /// `None` where there is no pocl.
    ///
    /// # Panics
    ///
    /// Where no process can be started, and where there is no pocl in CI.
    pub fn run(name: &str, variables: &[(&str, &str)], body: impl FnOnce()) -> Option<Self> {
        if env::var(CHILD).is_ok_and(|child| child == name) {
            thread::spawn(|| {
                thread::sleep(LIMIT);
                process::abort();
            });
            body();
            process::exit(0);
        }
        tool::pocl()?;
        static LAYER: OnceLock<PathBuf> = OnceLock::new();
        let mut command = Command::new(env::current_exe().expect("the test's own path"));
        command.args([name, "--exact", "--nocapture", "--test-threads=1"]);
        for (variable, _) in env::vars().filter(|(name, _)| name.starts_with("OPENCL_LAYER_")) {
            command.env_remove(variable);
        }
        command.env_remove("KERNELMILL_DEVICE").env("RUST_BACKTRACE", "0");
        command.env(CHILD, name).env("OPENCL_DYLIB_PATH", LAYER.get_or_init(opencl_layer));
        command
            .env("OCL_ICD_VENDORS", tool::POCL)
            .envs(tool::WITHOUT_VULKAN)
            .env("POCL_CACHE_DIR", shared_folder("pocl-cache"));
        let Output { status, stdout, stderr } =
            command.envs(variables.iter().copied()).output().expect("a child process");
        let [stdout, stderr] =
            [stdout, stderr].map(|printed| String::from_utf8_lossy(&printed).into_owned());
        Some(Self { code: status.code(), stdout, stderr })
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
    let check = [("OPENCL_LAYER_LEAK_CHECK", "1")];
    let variables: Vec<_> = check.iter().chain(variables).copied().collect();
    if let Some(child) = Child::run(name, &variables, body) {
        child.expect_success();
    }
}
