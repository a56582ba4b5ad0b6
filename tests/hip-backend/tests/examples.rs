//! The kernels of the examples compute on the fake HIP run time what they compute on the CPU.

use hip_backend::{Kernels, clean_child, examples, register_own};
use kernelmill::Device;

/// Runs every kernel on both devices.
fn compare_all() {
    register_own();
    let devices = [Device::hip(0).unwrap(), Device::cpu().unwrap()];
    let kernels = devices.each_ref().map(|device| Kernels::load(device).unwrap());
    for example in examples() {
        let [found, expected] =
            [0, 1].map(|side| example.run(&devices[side], &kernels[side]).unwrap());
        assert!(!expected.is_empty() && found == expected, "{} differs", example.name());
    }
}

#[test]
fn examples_agree_on_lazy_streams() {
    clean_child("examples_agree_on_lazy_streams", &[("FAKE_HIP_STREAMS", "lazy")], compare_all);
}

#[test]
fn examples_agree_on_streams_in_random_order() {
    let random = [("FAKE_HIP_STREAMS", "random:3")];
    clean_child("examples_agree_on_streams_in_random_order", &random, compare_all);
}
