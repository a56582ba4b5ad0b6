//! Packages that tests make, and the programs that they run in them.

use std::{
    ops::Deref,
    path::{Path, PathBuf},
    process::{Command, Output},
};
use test_support::builds;

pub(crate) fn kernelmill(folder: &Path, arguments: &[&str]) -> Output {
    let arguments = [&["kernelmill"], arguments].concat();
    command(env!("CARGO_BIN_EXE_cargo-kernelmill"), folder, &arguments).output().unwrap()
}

/// A program that runs cargo in a package, and what it is asked for.
pub(crate) fn command(program: &str, folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder);
    builds::set_variables(&mut command, &builds::target());
    command
}

/// A package whose builds are removed with it.
pub(crate) struct Package {
    pub(crate) folder: PathBuf,
    pub(crate) name: String,
}

impl Deref for Package {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Package {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // What is left over is only space.
            let _ = builds::remove(&builds::target(), &self.name);
        }
    }
}

#[track_caller]
pub(crate) fn succeed(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{printed}");
    printed
}
