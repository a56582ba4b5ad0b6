//! Prepared launches on the fake driver: several streams, panics, and slices of cudarc's.

use cuda_backend::{Kernels, clean_child, cudarc};
use cudarc::driver::CudaContext;
use kernelmill::{Device, Error, Launch};

/// Launches on two streams wait for each other as those of a wrapper do, and the panic record comes with each.
///
/// Acceptance: S3.1.
#[test]
fn prepared_launches_keep_their_order_on_several_streams() {
    let name = "prepared_launches_keep_their_order_on_several_streams";
    clean_child(name, &[("FAKE_CUDA_STREAMS", "lazy")], || {
        let device = Device::cuda(0).unwrap();
        let kernels = Kernels::load(&device).unwrap();
        let x = device.upload(&[1.0_f32; 100]).unwrap();
        let (mut y, mut z) = (device.zeros(100).unwrap(), device.zeros(100).unwrap());
        let streams = [device.new_stream().unwrap(), device.new_stream().unwrap(), device.stream()];
        let mut first = kernels.prepare(Launch::linear(100), 2.0, &x, &mut y).unwrap();
        for round in 0..12 {
            first.launch(&streams[round % 3]).unwrap();
        }
        drop(first);
        // What was written on one stream is read on another, each time.
        let mut second = kernels.prepare(Launch::linear(100), 0.5, &y, &mut z).unwrap();
        for round in 0..4 {
            second.launch(&streams[round % 3]).unwrap();
        }
        drop(second);
        assert_eq!(z.download().unwrap(), [48.0; 100]);
    });
}

/// Acceptance: S3.1.
#[test]
fn a_panic_of_a_prepared_launch_is_reported_and_cudarcs_slices_are_refused() {
    let name = "a_panic_of_a_prepared_launch_is_reported_and_cudarcs_slices_are_refused";
    clean_child(name, &[], || {
        let device = Device::cuda(0).unwrap();
        let kernels = Kernels::load(&device).unwrap();
        let (short, mut y) = (device.zeros(3).unwrap(), device.zeros(4).unwrap());
        let stream = device.stream();
        let mut saxpy = kernels.prepare(Launch::linear(4), 2.0, &short, &mut y).unwrap();
        for _ in 0..2 {
            saxpy.launch(&stream).unwrap();
            let error = stream.synchronize().unwrap_err();
            let Error::KernelPanic(panic) = &error else { panic!("{error}") };
            assert_eq!(panic.thread, [3, 0, 0], "{error}");
        }
        drop(saxpy);
        let theirs = CudaContext::new(0).unwrap().default_stream();
        let slice = theirs.alloc_zeros::<f32>(4).unwrap();
        let refused = kernels.prepare(Launch::linear(4), 2.0, cudarc(&slice), &mut y);
        let text = refused.unwrap_err().to_string();
        assert!(text.contains("with buffers of this crate"), "{text}");
    });
}
