//! Calls of rustc: the options that every kernel is compiled with.

use std::{ffi::OsString, path::Path, process::Command};

use crate::{Error, toolchain::Toolchain};

/// The options of rustc that give bitcode the compiler can work on: one module, not optimised,
/// with source lines.
pub const CODE_OPTIONS: &[&str] = &[
    "panic=abort",
    "codegen-units=1",
    "overflow-checks=off",
    "debug-assertions=off",
    "opt-level=0",
    "no-prepopulate-passes",
    "debuginfo=line-directives-only",
    "embed-bitcode=no",
];

/// The option of rustc that has it write down variables and types as well as source lines. After
/// [`CODE_OPTIONS`] it counts.
pub const FULL_DEBUG: &str = "debuginfo=full";

/// rustc with the options of every kernel.
pub(super) fn rustc(toolchain: &Toolchain, edition: &str) -> Command {
    let mut command = Command::new(&toolchain.rustc);
    command.args(["--edition", edition, "--target", &toolchain.host, "--cfg", "kernelmill"]);
    command.args(["--check-cfg", "cfg(kernelmill, test)"]);
    for option in CODE_OPTIONS {
        command.args(["-C", option]);
    }
    command
}

/// Has rustc write these kinds of output into a folder that no other run has, each as `<crate name>.<extension>`. A
/// path for each kind would be part of a list, which a comma in it ends. What rustc removes again is there too: by
/// default it is in the current folder, where two runs on files of one name would take each other's files away.
pub(super) fn write_into(command: &mut Command, folder: &Path, kinds: &str) {
    command.arg("--emit").arg(kinds).arg("--out-dir").arg(folder);
}

/// Runs rustc and gives what it printed; an error where it fails.
pub(super) fn run_rustc(
    mut command: Command,
    toolchain: &Toolchain,
    subject: &str,
) -> Result<String, Error> {
    let output = toolchain.limits.output(&mut command, subject)?;
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(stderr) } else { Err(Error::Rustc { stderr }) }
}

/// `name=path`.
pub(super) fn extern_argument(name: &str, path: &Path) -> OsString {
    let mut text = OsString::from(name);
    text.push("=");
    text.push(path);
    text
}

/// The variable by which `#[kernel]` learns of instances that its file does not list: its name and its value.
#[must_use]
pub fn instances_variable(instances: &[(String, String)]) -> (&'static str, String) {
    let line = |(kernel, instance): &(String, String)| {
        let instance = instance.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("{kernel}: {instance}\n")
    };
    ("KERNELMILL_INSTANCES", instances.iter().map(line).collect())
}
