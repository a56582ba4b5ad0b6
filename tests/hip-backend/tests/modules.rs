//! The module cache on the fake HIP run time: what Halide's tests of its cache state. That as much is released as was made
//! the run time checks itself.

use hip_backend::{Copy, clean_child, copies, fresh_contexts, many_modules};
use kernelmill::Device;

/// Streams that begin work when something waits for it.
const LAZY: (&str, &str) = ("FAKE_HIP_STREAMS", "lazy");

/// Loads and runs each of the code objects, which add their numbers.
fn sum(device: &Device, copies: &[Copy]) -> f32 {
    let (x, mut sum) = (device.upload(&[1.0_f32]).unwrap(), device.zeros::<f32>(1).unwrap());
    for copy in copies {
        copy.add(device, &x, &mut sum).unwrap();
    }
    let found = sum.download().unwrap()[0];
    drop((x, sum));
    device.synchronize().unwrap();
    found
}

/// Acceptance: S4.8, S4.12, C25.
#[test]
fn many_kernels_on_hip() {
    clean_child("many_kernels_on_hip", &[LAZY], || {
        let copies = copies(70);
        many_modules(&Device::hip(0).unwrap(), |device, count| sum(device, &copies[..count]));
    });
}

/// Each pair has a device of its own.
///
/// Acceptance: S4.6, C25.
#[test]
fn two_pairs_of_threads_with_fresh_contexts_on_hip() {
    let variables = [LAZY, ("FAKE_HIP_DEVICES", "2")];
    clean_child("two_pairs_of_threads_with_fresh_contexts_on_hip", &variables, || {
        let copies = copies(3);
        fresh_contexts(
            2,
            |pair| Device::hip(pair).unwrap(),
            |device, count| sum(device, &copies[..count]),
        );
    });
}
