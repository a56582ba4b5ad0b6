//! Every random kernel on the CPU.

use differential::{CASES, Context};
use kernelmill::Device;
use std::{env, process::Command};

#[test]
fn the_cpu_agrees_with_the_host() {
    let context = Context::new(Device::cpu().unwrap()).unwrap();
    assert!(CASES.len() >= 100);
    for case in CASES {
        context.check(case).unwrap_or_else(|error| panic!("{error}"));
    }
}

/// The same for what is compiled for older processors; one that this machine has not counts as its own.
#[test]
fn what_older_processors_run_agrees_too() {
    for processor in ["baseline", "avx2"] {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", "the_cpu_agrees_with_the_host"]).env("KERNELMILL_CPU", processor);
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{processor}: {text}");
    }
}
