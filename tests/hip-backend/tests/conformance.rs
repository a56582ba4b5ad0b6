//! Whole kernels on the fake HIP run time: all of `tests/conformance`, checked against plain Rust.

use conformance::{Context, Scope};
use hip_backend::{clean_child, register_conformance};
use kernelmill::{Backend, Device};

/// A check of how a GPU's code reports a panic of `std`: the CPU's code, which runs here, formats its message.
const EXCEPT: [&str; 1] = ["panic_range"];

/// Runs every check on a HIP device.
fn run_all() {
    register_conformance();
    let device = Device::best().unwrap();
    assert_eq!(device.backend(), Backend::Hip);
    let context = Context::new(device).unwrap();
    let checks = conformance::all().into_iter().filter(|it| it.scope == Scope::Everywhere);
    let checks: Vec<_> = checks.filter(|check| !EXCEPT.contains(&check.name)).collect();
    assert!(checks.len() > 100, "{} checks", checks.len());
    let failures = checks.iter().filter_map(|check| Some((check.name, check.run(&context).err()?)));
    let failures: Vec<_> = failures.collect();
    for (name, error) in &failures {
        println!("{name}: {error}");
    }
    assert!(failures.is_empty(), "{} kernels are wrong", failures.len());
    drop(context);
    kernelmill::module_cache().release_unused();
}

#[test]
fn every_kernel_on_eager_streams() {
    clean_child("every_kernel_on_eager_streams", &[], run_all);
}

#[test]
fn every_kernel_on_lazy_streams() {
    clean_child("every_kernel_on_lazy_streams", &[("FAKE_HIP_STREAMS", "lazy")], run_all);
}

#[test]
fn every_kernel_on_streams_in_random_order() {
    let random = [("FAKE_HIP_STREAMS", "random:7"), ("KERNELMILL_DEVICE", "hip:0")];
    clean_child("every_kernel_on_streams_in_random_order", &random, run_all);
}
