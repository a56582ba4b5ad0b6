//! The suite itself, on the fake driver: what it reports of kernels that are right, and of launches
//! that fail. `cargo xtask test --only test-driver` runs all of it there.

use gpu_suite::{Effort, run};
use kernelmill::Device;
use std::{
    fs,
    process::{Command, Output},
};
use test_support::{driver::fake_driver, temporary_folder};

/// What the program prints and writes of one kernel.
struct Printed {
    output: Output,
    json: serde_json::Value,
    markdown: String,
}

/// Runs the program for one kernel, with variables of the driver.
fn suite(kernel: &str, variables: &[(&str, &str)]) -> Printed {
    let folder = temporary_folder();
    let [json, markdown] = ["gpu.json", "gpu.md"].map(|name| folder.path().join(name));
    let mut program = Command::new(env!("CARGO_BIN_EXE_gpu-suite"));
    program.args(["--compare", "--only", kernel, "--json"]).arg(&json);
    program.arg("--markdown").arg(&markdown).env("LD_LIBRARY_PATH", fake_driver());
    let output = program.envs(variables.iter().copied()).output().expect("the program starts");
    let json = fs::read_to_string(json).expect("a report");
    let json = serde_json::from_str(&json).expect("valid JSON");
    Printed { output, json, markdown: fs::read_to_string(markdown).expect("a table") }
}

#[test]
fn a_kernel_that_is_right_is_a_row_of_json_and_of_a_table() {
    for (kernel, kind) in [("saxpy", "example"), ("sum_arrays", "conformance")] {
        let Printed { output, json, markdown } = suite(kernel, &[]);
        assert!(output.status.success(), "{markdown}");
        assert!(json["device"].as_str().is_some_and(|device| device.contains("PTX emulator")));
        let [row] = &json["rows"].as_array().expect("rows")[..] else { panic!("{json}") };
        assert_eq!((row["kernel"].as_str(), row["kind"].as_str()), (Some(kernel), Some(kind)));
        assert!(row["failure"].is_null(), "{row}");
        assert_eq!(row["relative_error"].is_f64(), kind == "example", "{row}");
        assert_eq!(markdown.matches(&format!("| {kernel} | {kind} | right |")).count(), 1);
    }
}

#[test]
fn blocks_wait_for_each_other_in_any_order() {
    for order in ["forward", "reverse", "random:7"] {
        for kernel in ["grid_distances", "grid_jacobi", "grid_rounds", "grid_panics"] {
            let variables = [("FAKE_CUDA_ORDER", order), ("FAKE_CUDA_RACES", "1")];
            let Printed { output, json, .. } = suite(kernel, &variables);
            assert!(output.status.success(), "{order}: {json}");
        }
    }
}

#[test]
fn a_launch_that_fails_is_the_failure_of_its_row() {
    let failure = [("FAKE_CUDA_FAIL", "cuLaunchKernel at call 1 with LAUNCH_FAILED")];
    let Printed { output, json, .. } = suite("saxpy", &failure);
    assert!(!output.status.success(), "{json}");
    assert!(json["rows"][0]["failure"].is_string(), "{json}");
}

#[test]
fn the_cpu_is_not_compared_with_itself() {
    assert!(run(&Device::cpu().expect("a CPU"), Effort::Compare, None).is_err());
}
