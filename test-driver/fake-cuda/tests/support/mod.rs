//! Runs tests in processes of their own, which find the fake driver as theirs.

#![allow(dead_code, reason = "each test binary uses a part of this")]

use std::{
    env,
    ffi::c_void,
    process::{self, Command},
    ptr,
    sync::{Arc, Condvar, Mutex},
    thread,
    time::Duration,
};

use cudarc::driver::{
    CudaContext, CudaFunction, CudaModule, CudaStream, DriverError, LaunchConfig, result::stream,
    sys::CUresult,
};
use test_support::{TempDir, temporary_folder};

/// Says which test a child process is to run.
const CHILD: &str = "FAKE_CUDA_TEST_CHILD";

/// How long a child process may take.
const LIMIT: Duration = Duration::from_secs(60);

/// What became of a child process.
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Outcome {
    /// Fails where the child did.
    #[track_caller]
    pub(crate) fn expect_success(&self) {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
    }
}

/// A folder with the driver under the names that programs look for.
fn driver_folder() -> TempDir {
    let built = env::current_exe().expect("the test's own path");
    let built = built.parent().expect("a folder").join("libfake_cuda.so");
    assert!(built.exists(), "{} is not built", built.display());
    let folder = temporary_folder();
    for name in ["libcuda.so", "libcuda.so.1"] {
        let link = folder.path().join(name);
        std::os::unix::fs::symlink(&built, link).expect("a link to the driver");
    }
    folder
}

/// Runs `body` in a process of its own, and there nothing else. Must be called by the test that is
/// called `name`, with its module, and do nothing before.
pub(crate) fn child(name: &str, variables: &[(&str, &str)], body: impl FnOnce()) -> Outcome {
    if env::var(CHILD).is_ok_and(|child| child == name) {
        // A test that hangs is one that fails.
        thread::spawn(|| {
            thread::sleep(LIMIT);
            process::abort();
        });
        body();
        process::exit(0);
    }
    let mut command = Command::new(env::current_exe().expect("the test's own path"));
    command.args([name, "--exact", "--nocapture", "--test-threads=1"]);
    for (variable, _) in env::vars().filter(|(name, _)| name.starts_with("FAKE_CUDA_")) {
        command.env_remove(variable);
    }
    let driver = driver_folder();
    command.env(CHILD, name).env("LD_LIBRARY_PATH", driver.path());
    let output = command.envs(variables.iter().copied()).output().expect("a child process");
    let [stdout, stderr] = [output.stdout, output.stderr]
        .map(|printed| String::from_utf8_lossy(&printed).into_owned());
    Outcome { code: output.status.code(), stdout, stderr }
}

/// Runs `body` in a process of its own that has to succeed and to leak nothing.
#[track_caller]
pub(crate) fn clean_child(name: &str, variables: &[(&str, &str)], body: impl FnOnce()) -> Outcome {
    let check = [("FAKE_CUDA_LEAK_CHECK", "1")];
    let variables: Vec<_> = check.iter().chain(variables).copied().collect();
    let outcome = child(name, &variables, body);
    outcome.expect_success();
    outcome
}

/// The kernels of these tests.
pub(crate) const BASIC: &str = include_str!("../kernels/basic.ptx");

/// Loads PTX.
pub(crate) fn load(context: &Arc<CudaContext>, ptx: &str) -> Arc<CudaModule> {
    context.load_module(ptx.into()).expect("a module")
}

/// Loads one of the basic kernels.
pub(crate) fn kernel(context: &Arc<CudaContext>, name: &str) -> CudaFunction {
    load(context, BASIC).load_function(name).expect("a kernel")
}

/// The error's code.
#[track_caller]
pub(crate) fn code<T>(result: Result<T, DriverError>) -> CUresult {
    match result {
        Ok(_) => CUresult::CUDA_SUCCESS,
        Err(error) => error.0,
    }
}

/// A place where work of a stream waits until the test lets it go on.
pub(crate) struct Gate {
    open: Box<(Mutex<bool>, Condvar)>,
}

impl Gate {
    /// Makes a stream wait here.
    pub(crate) fn on(stream: &CudaStream) -> Self {
        unsafe extern "C" fn wait(gate: *mut c_void) {
            // SAFETY: the gate is kept until it is open and the stream was waited for.
            let (open, changed) = unsafe { &*gate.cast::<(Mutex<bool>, Condvar)>() };
            let mut open = open.lock().unwrap();
            while !*open {
                open = changed.wait(open).unwrap();
            }
        }
        let gate = Self { open: Box::default() };
        let data = ptr::from_ref(&*gate.open).cast_mut().cast();
        stream.context().bind_to_thread().unwrap();
        // SAFETY: as above.
        unsafe { stream::launch_host_function(stream.cu_stream(), wait, data).unwrap() };
        gate
    }

    /// Lets the stream go on.
    pub(crate) fn open(&self) {
        *self.open.0.lock().unwrap() = true;
        self.open.1.notify_all();
    }
}

/// One block of `threads` threads.
pub(crate) fn block(threads: u32) -> LaunchConfig {
    LaunchConfig { grid_dim: (1, 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes: 0 }
}
