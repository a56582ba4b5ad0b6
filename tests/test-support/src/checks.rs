//! Checks of kernels on a device: a program that runs them, and what it prints.

use crate::{
    driver::{fake_driver, fake_hip, opencl_layer},
    shared_folder, temporary_folder, tool,
    trace::{TRACE, Trace},
};
use std::{env, error::Error, fmt, process::Command};

/// Runs checks, each with its name, and prints the name of each that is right, and of those that have no binary for
/// the device. A second argument of the program names the only one to run.
///
/// # Errors
///
/// How many checks fail, which are printed with what was wrong. Those behind them are done all the same.
pub fn run<C, E: fmt::Display>(
    checks: impl IntoIterator<Item = (&'static str, C)>,
    check: impl Fn(C) -> Result<(), E>,
    lacks_binary: impl Fn(&E) -> bool,
) -> Result<(), Box<dyn Error>> {
    let only = env::args().nth(2);
    let mut failures = 0;
    for (name, one) in checks {
        if only.as_ref().is_some_and(|only| only != name) {
            continue;
        }
        match check(one) {
            Ok(()) => println!("{name}"),
            Err(error) if lacks_binary(&error) => println!("no binary: {name}"),
            Err(error) => {
                eprintln!("{name}: {error}");
                failures += 1;
            }
        }
    }
    if failures == 0 { Ok(()) } else { Err(format!("{failures} checks fail").into()) }
}

/// The checks that a program has done on a device.
#[derive(Debug)]
pub struct Checked {
    /// Those that are right.
    pub passed: Vec<String>,
    /// Those that have no binary for the device.
    pub lacking: Vec<String>,
    /// What the program prints for people.
    pub errors: String,
}

/// Runs such a program on a device, `cpu`, `cuda` for the fake driver, `hip` for the fake HIP
/// run time, `opencl` for pocl, `opencl:spirv` for pocl behind a layer that translates SPIR-V, `opencl:intel` for
/// Intel's run time, which reads SPIR-V, `wgpu` for lavapipe, or `wgpu:translated` for lavapipe as a device that takes
/// no SPIR-V as it is.
///
/// # Panics
///
/// Where a check fails.
#[must_use]
#[track_caller]
pub fn on(program: &str, device: &str) -> Checked {
    on_with(program, device, &[])
}

/// As [`on`], with these variables beside those of the device.
///
/// # Panics
///
/// As [`on`].
#[must_use]
#[track_caller]
pub fn on_with(program: &str, device: &str, variables: &[(&str, &str)]) -> Checked {
    let output = command(program, device).envs(variables.iter().copied()).output();
    let output = output.expect("the program starts");
    let text = String::from_utf8(output.stdout).expect("text");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{device}: {errors}\n{text}");
    let (mut passed, mut lacking) = (Vec::new(), Vec::new());
    for line in text.lines() {
        match line.strip_prefix("no binary: ") {
            Some(name) => lacking.push(name.to_owned()),
            None => passed.push(line.to_owned()),
        }
    }
    Checked { passed, lacking, errors }
}

/// The trace of one check of such a program on a device, as [`on`] has them.
///
/// # Panics
///
/// Where the check fails.
#[must_use]
#[track_caller]
pub fn traced(program: &str, device: &str, only: &str) -> Trace {
    let folder = temporary_folder();
    let path = folder.path().join("trace.json");
    let output = command(program, device).arg(only).env(TRACE, &path).output();
    let output = output.expect("the program starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{device}: {errors}");
    Trace::read(&path)
}

/// Such a program on a device.
fn command(program: &str, device: &str) -> Command {
    let mut command = Command::new(program);
    command.arg(device);
    if device == "cuda" {
        // A device of the next generation, which runs no cubin for `sm_80`: the emulator is one of PTX.
        command.env("LD_LIBRARY_PATH", fake_driver()).env("FAKE_CUDA_LEAK_CHECK", "1");
        command.env("FAKE_CUDA_ARCH", "90");
    }
    if device == "hip" {
        command.env("LD_LIBRARY_PATH", fake_hip()).env("FAKE_HIP_LEAK_CHECK", "1");
    }
    if device.starts_with("opencl") {
        command.env("OCL_ICD_VENDORS", tool::POCL);
        command.env("POCL_CACHE_DIR", shared_folder("pocl-cache"));
    }
    if let Some(registration) = tool::intel_opencl().filter(|_| device == "opencl:intel") {
        command.env("OCL_ICD_VENDORS", registration);
    }
    if let Some(translator) = tool::llvm_spirv().filter(|_| device == "opencl:spirv") {
        command.env("OPENCL_DYLIB_PATH", opencl_layer()).env("OPENCL_LAYER_SPIRV", translator);
        // pocl passes over divisions that the processor has no result for, unless it is told not to.
        command.env("POCL_SIGFPE_HANDLER", "0");
    }
    if device == "wgpu:translated" {
        command.env("KERNELMILL_WGPU_TRANSLATE", "1");
    }
    if device.starts_with("wgpu") {
        command.envs(tool::WITH_LAVAPIPE);
    }
    command
}
