//! The suite of behaviour on every back end that this package is compiled for; `hip-backend` has it on the fake HIP run time.

use test_support::{
    checks::{self, Checked},
    tool,
};

/// Streams that do no work before something waits for it, so that what is not ordered comes too late, and objects that are
/// counted.
const STRICT: [(&str, &str); 2] = [("FAKE_CUDA_STREAMS", "lazy"), ("OPENCL_LAYER_LEAK_CHECK", "1")];

#[track_caller]
fn suite_passes(device: &str) {
    let Checked { passed, .. } = checks::on_with(env!("CARGO_BIN_EXE_suite"), device, &STRICT);
    assert_eq!(passed.len(), 17, "{device}: {passed:?}");
}

#[test]
fn the_cpu_behaves() {
    suite_passes("cpu");
}

#[test]
fn the_asynchronous_cpu_behaves() {
    suite_passes("cpu:async");
}

#[test]
fn cuda_behaves_on_the_fake_driver() {
    suite_passes("cuda");
}

#[test]
fn opencl_behaves_on_pocl() {
    if tool::pocl().is_some() && tool::llvm_spirv().is_some() {
        suite_passes("opencl:spirv");
    }
}

/// Where it is installed; on two devices it is not tried.
#[test]
fn opencl_behaves_on_intels_run_time() {
    if tool::intel_opencl().is_some() {
        suite_passes("opencl:intel");
    }
}

#[test]
fn wgpu_behaves_on_lavapipe() {
    if tool::lavapipe().is_some() {
        suite_passes("wgpu");
    }
}
