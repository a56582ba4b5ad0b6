//! Building with nothing but `rustc`, as kernels are built.
#![allow(dead_code, reason = "each test file uses a part")]

use std::{env, path::Path, process::Command};
use test_support::TempDir;

const DEVICE_FLAGS: &str = "--cfg kernelmill --crate-type rlib -C panic=abort -C opt-level=0 \
     -C codegen-units=1 -C overflow-checks=off -C debug-assertions=off -C no-prepopulate-passes \
     -C debuginfo=line-directives-only";

fn rustc(edition: &str) -> Command {
    let mut command = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    command.args(["--edition", edition]);
    command
}

/// Runs `command` and returns its standard error, and whether it succeeded.
pub(crate) fn run(command: &mut Command) -> (bool, String) {
    let output = command.output().unwrap();
    (output.status.success(), String::from_utf8(output.stderr).unwrap())
}

/// Builds both crates into `folder` and returns what the compiler said.
pub(crate) fn build(folder: &TempDir, macros: &Path, device: &Path) -> String {
    let mut command = rustc("2024");
    command.args(["--crate-name", "kernelmill_device_macros", "--crate-type", "proc-macro"]);
    let (macros_built, mut messages) = run(command.arg("--out-dir").arg(folder.path()).arg(macros));
    assert!(macros_built, "{messages}");
    let library = format!(
        "kernelmill_device_macros={}",
        folder
            .path()
            .join(format!(
                "{}kernelmill_device_macros{}",
                env::consts::DLL_PREFIX,
                env::consts::DLL_SUFFIX
            ))
            .display()
    );
    let mut command = rustc("2024");
    command.args(["--crate-name", "kernelmill_device", "--emit=metadata,link,llvm-bc"]);
    command.args(DEVICE_FLAGS.split_whitespace()).args(["--extern", &library]);
    let (device_built, text) = run(command.arg("--out-dir").arg(folder.path()).arg(device));
    assert!(device_built, "{text}");
    messages.push_str(&text);
    messages
}

/// Builds both crates of this repository into `folder`.
pub(crate) fn build_here(folder: &TempDir) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    build(folder, &root.join("macros-src/lib.rs"), &root.join("src/lib.rs"));
}

/// The command that compiles the kernel file `name`, in `folder`, to LLVM's text form.
pub(crate) fn kernel_command(folder: &TempDir, name: &str, edition: &str) -> Command {
    let mut command = rustc(edition);
    let library = folder.path().join("libkernelmill_device.rlib");
    command.args(["--crate-name", "kernels", "--emit=llvm-ir"]);
    command.args(DEVICE_FLAGS.split_whitespace());
    command.arg("--extern").arg(format!("kernelmill_device={}", library.display()));
    command.arg("-L").arg(format!("dependency={}", folder.path().display()));
    command.arg("--out-dir").arg(".").arg(name).current_dir(folder.path());
    command
}
