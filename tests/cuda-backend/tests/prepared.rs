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

/// What the default stream has held once it does not hold again, until another stream has come between.
///
/// Acceptance: S3.1.
#[test]
fn launches_after_the_first_on_the_default_stream_are_in_order_with_streams_made_later() {
    let name =
        "launches_after_the_first_on_the_default_stream_are_in_order_with_streams_made_later";
    clean_child(name, &[("FAKE_CUDA_STREAMS", "lazy")], || {
        let device = Device::cuda(0).unwrap();
        let kernels = Kernels::load(&device).unwrap();
        let tens = device.upload(&[10.0_f32; 100]).unwrap();
        let mut x = device.upload(&[1.0_f32; 100]).unwrap();
        let (mut y, mut z) = (device.zeros(100).unwrap(), device.zeros(100).unwrap());
        let default = device.stream();
        let mut add = kernels.prepare(Launch::linear(100), 2.0, &x, &mut y).unwrap();
        add.launch(&default).unwrap();
        add.launch(&default).unwrap();
        let later = device.new_stream().unwrap();
        // Held by the first launch, and the default stream is not the only one any more.
        add.launch(&default).unwrap();
        drop(add);
        // What it has read is written on the other stream, and what it has written is read there.
        x.copy_from_buffer(&later, &tens.slice(..)).unwrap();
        z.copy_from_buffer(&later, &y.slice(..)).unwrap();
        // Before the default stream is waited for, which does what it was given before.
        later.synchronize().unwrap();
        assert_eq!(z.download().unwrap(), [6.0; 100]);
        assert_eq!(
            (x.download().unwrap(), y.download().unwrap()),
            (vec![10.0; 100], vec![6.0; 100])
        );
    });
}

/// A copy that waits for the written memory alone comes behind the launch that wrote it last. Making the first stream waits for
/// what was launched before.
#[test]
fn what_the_default_stream_writes_is_waited_for_where_nothing_else_is() {
    let name = "what_the_default_stream_writes_is_waited_for_where_nothing_else_is";
    clean_child(name, &[("FAKE_CUDA_STREAMS", "lazy")], || {
        let device = Device::cuda(0).unwrap();
        let kernels = Kernels::load(&device).unwrap();
        let threes = device.upload(&[3.0_f32; 100]).unwrap();
        let x = device.upload(&[1.0_f32; 100]).unwrap();
        let mut y = device.upload(&[10.0_f32; 100]).unwrap();
        let default = device.stream();
        let mut add = kernels.prepare(Launch::linear(100), 0.5, &x, &mut y).unwrap();
        add.launch(&default).unwrap();
        let later = device.new_stream().unwrap();
        add.launch(&default).unwrap();
        drop(add);
        y.copy_from_buffer(&later, &threes.slice(..)).unwrap();
        later.synchronize().unwrap();
        assert_eq!(y.download().unwrap(), [3.0; 100]);
    });
}

/// Acceptance: S3.1.
#[test]
fn a_prepared_launch_that_changes_streams_is_in_order_with_itself() {
    let name = "a_prepared_launch_that_changes_streams_is_in_order_with_itself";
    clean_child(name, &[("FAKE_CUDA_STREAMS", "lazy")], || {
        let device = Device::cuda(0).unwrap();
        let kernels = Kernels::load(&device).unwrap();
        let ones = device.upload(&[1.0_f32; 100]).unwrap();
        let (mut y, mut z) = (device.zeros(100).unwrap(), device.zeros(100).unwrap());
        let default = device.stream();
        let mut add = kernels.prepare(Launch::linear(100), 1.0, &ones, &mut y).unwrap();
        add.launch(&default).unwrap();
        let [later, third] = [device.new_stream().unwrap(), device.new_stream().unwrap()];
        // What is copied to below waits for the third stream alone, no more for the default one.
        z.copy_from_buffer(&third, &ones.slice(..)).unwrap();
        add.launch(&later).unwrap();
        // The last write of its memory is of the other stream now, so that it is to be held again.
        add.launch(&default).unwrap();
        drop(add);
        // The first launch of a kernel on a stream would wait for all of them.
        z.copy_from_buffer(&third, &y.slice(..)).unwrap();
        // Before the default stream is waited for, which does what it was given before.
        third.synchronize().unwrap();
        assert_eq!(z.download().unwrap(), [3.0; 100]);
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
