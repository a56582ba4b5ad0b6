//! Child processes: a test runs itself again, as the only test, with the layer that counts objects and makes calls fail.

use std::{
    env,
    ffi::{CString, c_char},
    path::PathBuf,
    process::{self, Command, Output},
    sync::OnceLock,
    thread,
    time::Duration,
};

use libloading::{Library, Symbol};
use test_support::{driver::vulkan_layer, tool};

/// Says which test a child process is to run.
const CHILD: &str = "WGPU_BACKEND_TEST_CHILD";

/// How long a child process may take: one that hangs has failed.
const LIMIT: Duration = Duration::from_secs(100);

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
    /// is called `name`, and do nothing before.
    ///
    /// `None` where there is no lavapipe.
    ///
    /// # Panics
    ///
    /// Where no process can be started, and where there is no lavapipe in CI.
    pub fn run(name: &str, variables: &[(&str, &str)], body: impl FnOnce()) -> Option<Self> {
        if env::var(CHILD).is_ok_and(|child| child == name) {
            thread::spawn(|| {
                thread::sleep(LIMIT);
                process::abort();
            });
            body();
            process::exit(0);
        }
        Self::spawn(name, variables)
    }

    /// Starts the process of the test `name`, which is not one itself.
    ///
    /// # Panics
    ///
    /// As [`Child::run`].
    #[must_use]
    pub fn spawn(name: &str, variables: &[(&str, &str)]) -> Option<Self> {
        static LAYER: OnceLock<PathBuf> = OnceLock::new();
        tool::lavapipe()?;
        let mut command = Command::new(env::current_exe().expect("the test's own path"));
        command.args([name, "--exact", "--nocapture", "--test-threads=1"]);
        for (variable, _) in env::vars().filter(|(name, _)| name.starts_with("VULKAN_LAYER_")) {
            command.env_remove(variable);
        }
        command.env_remove("KERNELMILL_DEVICE").env("RUST_BACKTRACE", "0");
        command.env(CHILD, name).env("LD_LIBRARY_PATH", LAYER.get_or_init(vulkan_layer));
        command.env("VULKAN_LAYER_LIBRARY", tool::VULKAN).envs(tool::WITH_LAVAPIPE);
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
    let check = [("VULKAN_LAYER_LEAK_CHECK", "1")];
    let variables: Vec<_> = check.iter().chain(variables).copied().collect();
    if let Some(child) = Child::run(name, &variables, body) {
        child.expect_success();
    }
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
