//! A driver that is there and does not start: the processor is the best device, and the reason is told.

use cuda_backend::{Child, clean_child};
use kernelmill::{Backend, Device};

const FAILURE: (&str, &str) = ("FAKE_CUDA_FAIL", "cuInit at call 1 onwards with SYSTEM_NOT_READY");

#[track_caller]
fn reasons(expected: &[&str]) {
    let found = Device::unavailable().iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(found.len(), expected.len(), "{found:?}");
    found.iter().zip(expected).for_each(|(found, part)| assert!(found.contains(part), "{found}"));
}

#[test]
fn a_driver_that_does_not_start_is_a_reason() {
    clean_child("a_driver_that_does_not_start_is_a_reason", &[FAILURE], || {
        reasons(&["cuInit failed for CUDA: CUDA_ERROR_SYSTEM_NOT_READY"]);
        assert_eq!(Device::best().unwrap().backend(), Backend::Cpu);
        assert_eq!(Device::all().len(), 1);
        let error = Device::cuda(0).unwrap_err().to_string();
        assert!(error.starts_with("cuInit failed"), "{error}");
    });
}

#[test]
fn a_device_that_cannot_be_opened_is_a_reason_and_the_others_are_there() {
    let name = "a_device_that_cannot_be_opened_is_a_reason_and_the_others_are_there";
    let fail = [
        ("FAKE_CUDA_DEVICES", "2"),
        ("FAKE_CUDA_FAIL", "cuDevicePrimaryCtxRetain at call 1 with OUT_OF_MEMORY"),
    ];
    clean_child(name, &fail, || {
        reasons(&["cuDevicePrimaryCtxRetain failed for device 0: CUDA_ERROR_OUT_OF_MEMORY"]);
        reasons(&[]);
        assert_eq!(Device::all().len(), 3);
    });
}

#[test]
fn a_machine_without_a_gpu_has_no_reason() {
    let none = [("FAKE_CUDA_DEVICES", "0")];
    clean_child("a_machine_without_a_gpu_has_no_reason", &none, || {
        reasons(&[]);
        assert_eq!(Device::best().unwrap().backend(), Backend::Cpu);
        assert!(Device::cuda(0).unwrap_err().to_string().contains("there is no device 0"));
    });
}

#[test]
fn the_reason_is_logged_where_that_is_asked_for() {
    let name = "the_reason_is_logged_where_that_is_asked_for";
    let best = || drop(Device::best().unwrap());
    let logged = Child::run(name, &[FAILURE, ("KERNELMILL_LOG", "summary")], best);
    logged.expect_success();
    let line = "kernelmill: cuInit failed for CUDA: CUDA_ERROR_SYSTEM_NOT_READY";
    assert!(logged.stderr.contains(line), "{}", logged.stderr);
    assert!(logged.stderr.contains("the device is "), "{}", logged.stderr);
    let silent = Child::run(name, &[FAILURE, ("KERNELMILL_LOG", "")], best);
    assert!(!silent.stderr.contains("kernelmill:"), "{}", silent.stderr);
}
