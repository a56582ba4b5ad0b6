//! Outcomes of checks in a process of their own: a test runs itself again, with variables that a library reads once, and
//! reads what came of each check.

use std::{env, fmt::Display, path::PathBuf, process::Command};

/// Says that the test is in the process that runs the checks.
const CHILD: &str = "OUTCOMES_CHILD";

/// What a check's line begins with, by its outcome.
const RIGHT: &str = "right: ";
const WRONG: &str = "wrong: ";
const LACKING: &str = "no binary: ";

/// What checks come to, by their names.
pub struct Outcomes {
    /// Those that are right.
    pub right: Vec<String>,
    /// Those that are wrong.
    pub wrong: Vec<String>,
    /// Those that have no binary for the device.
    pub lacking: Vec<String>,
    /// All that was printed.
    pub printed: String,
}

impl Outcomes {
    /// Runs the test `name` of the calling program again, with these variables. It has to [`report`] there.
    pub fn of(name: &str, variables: &[(&str, PathBuf)]) -> Self {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args([name, "--exact", "--nocapture", "--test-threads=1"]).env(CHILD, name);
        let output = command.envs(variables.iter().cloned()).output().unwrap();
        let [stdout, stderr] =
            [output.stdout, output.stderr].map(|it| String::from_utf8_lossy(&it).into_owned());
        assert!(output.status.success(), "{stdout}\n{stderr}");
        let of_kind = |kind| {
            let lines = stdout.lines().filter_map(move |line| line.strip_prefix(kind));
            lines.map(|line| line.split(':').next().unwrap().to_owned()).collect()
        };
        let (right, wrong, lacking) = (of_kind(RIGHT), of_kind(WRONG), of_kind(LACKING));
        Self { right, wrong, lacking, printed: stdout }
    }
}

/// Whether this is the process that runs the checks.
pub fn is_child() -> bool {
    env::var_os(CHILD).is_some()
}

/// Prints the outcome of a check, in that process.
pub fn report(name: &str, result: Result<(), impl Display>) {
    match result {
        Ok(()) => println!("\n{RIGHT}{name}"),
        Err(error) => println!("\n{WRONG}{name}: {error}"),
    }
}

/// Prints that a check has no binary for the device, in that process.
pub fn report_lacking(name: &str) {
    println!("\n{LACKING}{name}");
}
