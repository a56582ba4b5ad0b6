//! Copies between two devices: by the driver, after what both memories still have in flight. Streams do no work before
//! something waits for it, so what is not ordered comes too late.

use cuda_backend::{Kernels, fake_child, is_left_out, run_child};
use kernelmill::{Device, Launch};

const LEN: usize = 8;

/// Two devices on streams that are lazy.
const TWO: [(&str, &str); 2] = [("FAKE_CUDA_DEVICES", "2"), ("FAKE_CUDA_STREAMS", "lazy")];

/// Copies, while a kernel writes the source on a stream, and another reads the target; and back, to a part of what was
/// copied.
fn copy() {
    let devices = [0, 1].map(|ordinal| Device::cuda(ordinal).unwrap());
    let kernels = [0, 1].map(|index| Kernels::load(&devices[index]).unwrap());
    let streams = [0, 1].map(|index| devices[index].new_stream().unwrap());
    let x = devices[0].upload(&[1.0f32; LEN]).unwrap();
    let (mut source, mut seen) =
        (devices[0].zeros::<f32>(LEN).unwrap(), devices[1].zeros::<f32>(LEN).unwrap());
    let mut target = devices[1].upload(&[5.0f32; LEN]).unwrap();
    kernels[0].saxpy(&streams[0], Launch::linear(LEN), 3.0, &x, &mut source).unwrap();
    kernels[1].saxpy(&streams[1], Launch::linear(LEN), 2.0, &target, &mut seen).unwrap();
    target.slice_mut(2..).copy_from_buffer(&streams[1], &source.slice(..LEN - 2)).unwrap();
    drop(source);
    assert_eq!(seen.download().unwrap(), [10.0; LEN]);
    assert_eq!(target.download().unwrap(), [5.0, 5.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0]);
    let mut back = devices[0].zeros::<f32>(2).unwrap();
    back.copy_from_buffer(&devices[0].stream(), &target.slice(1..3)).unwrap();
    assert_eq!(back.download().unwrap(), [5.0, 3.0]);
}

#[test]
fn copies_wait_for_both_devices() {
    fake_child("copies_wait_for_both_devices", &TWO, copy);
}

/// Where the driver does not copy between the two, the host does.
#[test]
fn what_the_driver_does_not_support_goes_through_the_host() {
    let name = "what_the_driver_does_not_support_goes_through_the_host";
    if is_left_out(name) {
        return;
    }
    for code in ["PEER_ACCESS_UNSUPPORTED", "NOT_SUPPORTED"] {
        let rule = format!("cuMemcpyPeerAsync at call 1 onwards with {code}");
        let variables = [TWO[0], TWO[1], ("FAKE_CUDA_FAIL", &rule)];
        run_child(name, &variables, copy).expect_success();
    }
}

/// Another failure is an error that names the call, and the next copy is made.
#[test]
fn a_copy_that_fails_names_the_call() {
    let variables =
        [TWO[0], TWO[1], ("FAKE_CUDA_FAIL", "cuMemcpyPeerAsync at call 1 with UNKNOWN")];
    fake_child("a_copy_that_fails_names_the_call", &variables, || {
        let devices = [0, 1].map(|ordinal| Device::cuda(ordinal).unwrap());
        let source = devices[0].upload(&[1.0f32; LEN]).unwrap();
        let mut target = devices[1].zeros::<f32>(LEN).unwrap();
        let stream = devices[1].stream();
        let error = target.copy_from_buffer(&stream, &source.slice(..)).unwrap_err().to_string();
        assert!(error.starts_with("cuMemcpyPeerAsync failed for 32 bytes"), "{error}");
        target.copy_from_buffer(&stream, &source.slice(..)).unwrap();
        assert_eq!(target.download().unwrap(), [1.0; LEN]);
    });
}
