//! The stack on the CPU: a recursion that uses it up is an error, with frames larger than a page too, and every frame is
//! probed.
#![cfg(not(windows))]

mod common;

use std::{env, process::Command};

use common::{folder, lower};
use conformance::{Context, deep};
use kernelmill::Device;
use kernelmill_compiler::ScalarReason;

/// Set in the process that recurses.
const RECURSES: &str = "KERNELMILL_TEST_RECURSES";

#[test]
fn a_recursion_with_large_frames_is_an_error() {
    if env::var_os(RECURSES).is_some() {
        let context = Context::new(Device::cpu().unwrap()).unwrap();
        let error = deep(&context, 1_000_000).unwrap_err().to_string();
        let what =
            "kernel `deep_frames`: stack overflow in `stack::sink`, whose recursion is too deep";
        assert!(
            error.starts_with("kernel of kernels/stack.rs panicked") && error.contains(what),
            "{error}"
        );
        assert!(deep(&context, 9).is_ok());
        return;
    }
    for processor in ["baseline", "avx2", "avx512"] {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", "a_recursion_with_large_frames_is_an_error", "--nocapture"]);
        let output = command.env(RECURSES, "1").env("KERNELMILL_CPU", processor).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{processor}: {text}");
    }
}

/// Locals of 32 KiB, which all lanes of a vector would have.
#[test]
fn threads_with_large_arrays_are_no_lanes_of_a_vector() {
    let text = std::fs::read_to_string(folder().join("kernels/stack.rs")).unwrap();
    let text = text.replace("2048", "8192").replace("sink(depth - 1, &own) ^ own[7]", "own[7]");
    let artifact = lower("arrays.rs", &text).unwrap().compile("cpu").unwrap();
    let strategy = artifact.kernels[0].strategy.as_ref().unwrap();
    let Some(ScalarReason::LargeStackMemory { bytes, limit }) = strategy.scalar else {
        panic!("{strategy}")
    };
    assert!(bytes >= 4 * 8192 && bytes * 16 > limit, "{strategy}");
}

#[test]
fn every_function_probes_its_frame() {
    let text = std::fs::read_to_string(folder().join("kernels/stack.rs")).unwrap();
    every_function_probes(&text, 3);
    every_function_probes(&text.replace("sink(depth - 1, &own) ^ own[7]", "own[7]"), 5);
}

/// Compiles a source, with so many functions at least.
#[track_caller]
fn every_function_probes(text: &str, least: usize) {
    let module = lower("stack.rs", text).unwrap().module("cpu");
    let sets =
        module.lines().filter_map(|line| line.strip_prefix("attributes #")?.split_once(" = "));
    let probing: Vec<_> =
        sets.filter(|(_, text)| text.contains("\"probe-stack\"=\"inline-asm\"")).collect();
    let defined: Vec<_> = module.lines().filter(|line| line.starts_with("define ")).collect();
    assert!(defined.len() >= least, "{module}");
    for line in defined {
        let probes =
            |(number, _): &(&str, &str)| line.split(' ').any(|it| it == format!("#{number}"));
        assert!(probing.iter().any(probes), "{line}");
    }
}
