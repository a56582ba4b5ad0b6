//! The module cache on pocl: what Halide's tests of its cache state. That as much is released as was made the layer checks,
//! which counts programs, kernels and contexts of the library.

use kernelmill::Device;
use opencl_backend::{Copy, clean_child, fresh_contexts, many_modules};

fn copies(count: usize) -> Vec<Copy> {
    (1..=count).map(Copy::new).collect()
}

/// Loads and runs each of the programs, which add their numbers.
fn sum(device: &Device, copies: &[Copy]) -> f32 {
    let mut sum = device.zeros::<u32>(1).unwrap();
    for copy in copies {
        copy.add(device, &mut sum).unwrap();
    }
    let found = sum.download().unwrap()[0];
    drop(sum);
    device.synchronize().unwrap();
    found as f32
}

/// Acceptance: S4.8, S4.12, C25.
#[test]
fn many_kernels_on_opencl() {
    clean_child("many_kernels_on_opencl", &[], || {
        let copies = copies(70);
        many_modules(&Device::opencl(0).unwrap(), |device, count| sum(device, &copies[..count]));
    });
}

/// Acceptance: S4.6, C25.
#[test]
fn two_pairs_of_threads_with_fresh_contexts_on_opencl() {
    clean_child("two_pairs_of_threads_with_fresh_contexts_on_opencl", &[], || {
        let copies = copies(3);
        fresh_contexts(
            1,
            |_| Device::opencl(0).unwrap(),
            |device, count| sum(device, &copies[..count]),
        );
    });
}
