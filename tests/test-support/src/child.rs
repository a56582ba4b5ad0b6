//! Child processes: a test runs itself again, as the only test, with the driver of its back end and variables that are read
//! once.

use std::{
    env,
    process::{self, Command, Output},
    sync::mpsc,
    thread,
    time::Duration,
};

/// Says which test a child process is to run.
const CHILD: &str = "BACK_END_TEST_CHILD";

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

/// Whether this is the process that the test `name` has started.
#[must_use]
pub fn is_child(name: &str) -> bool {
    env::var(CHILD).is_ok_and(|child| child == name)
}

/// How the tests of a back end start processes.
#[derive(Clone, Copy, Debug)]
pub struct Processes {
    /// How the variables of the fake driver, or of the layer before a driver, begin: `FAKE_CUDA_`. A process has those alone
    /// that its test gives it.
    pub prefix: &'static str,
    /// How long a process may take: one that hangs has failed.
    pub limit: Duration,
    /// Gives a process its driver.
    pub prepare: fn(&mut Command),
}

impl Processes {
    /// Runs `body` in a process of its own, and there nothing else. Must be called by the test that
    /// is called `name`, with its module, and do nothing before.
    ///
    /// # Panics
    ///
    /// Where no process can be started.
    pub fn run(&self, name: &str, variables: &[(&str, &str)], body: impl FnOnce()) -> Child {
        if is_child(name) {
            end_in_time(self.limit);
            body();
            process::exit(0);
        }
        self.spawn(name, variables)
    }

    /// As [`Processes::run`], where leaks are failures.
    ///
    /// # Panics
    ///
    /// As [`Processes::run`].
    pub fn run_checked(
        &self,
        name: &str,
        variables: &[(&str, &str)],
        body: impl FnOnce(),
    ) -> Child {
        let check = format!("{}LEAK_CHECK", self.prefix);
        let check = [(&*check, "1")];
        let variables: Vec<_> = check.iter().chain(variables).copied().collect();
        self.run(name, &variables, body)
    }

    /// Starts the process of the test `name`, which is not one itself.
    ///
    /// # Panics
    ///
    /// Where no process can be started.
    #[must_use]
    pub fn spawn(&self, name: &str, variables: &[(&str, &str)]) -> Child {
        let mut command = Command::new(env::current_exe().expect("the test's own path"));
        command.args([name, "--exact", "--nocapture", "--test-threads=1"]);
        for (variable, _) in env::vars().filter(|(name, _)| name.starts_with(self.prefix)) {
            command.env_remove(variable);
        }
        (self.prepare)(&mut command);
        command.env(CHILD, name).envs(variables.iter().copied());
        let Output { status, stdout, stderr } = command.output().expect("a child process");
        let [stdout, stderr] =
            [stdout, stderr].map(|printed| String::from_utf8_lossy(&printed).into_owned());
        Child { code: status.code(), stdout, stderr }
    }
}

/// Ends the process after its limit. The thread that does has all of its memory when this returns, so that a limit that the
/// test sets is none for it.
fn end_in_time(limit: Duration) {
    let (started, is_started) = mpsc::channel();
    thread::spawn(move || {
        started.send(()).expect("the other end waits");
        thread::sleep(limit);
        process::abort();
    });
    is_started.recv().expect("the thread sends before it sleeps");
}
