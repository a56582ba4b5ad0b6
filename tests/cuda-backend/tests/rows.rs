//! Copies of rows, waits of tasks and casts of slices, on streams that do no work before something waits for it.

use cuda_backend::{Kernels, awaits, clean_child, copy_rows};
use kernelmill::{Device, Launch};

#[test]
fn rows_are_copied_as_the_host_copies_them() {
    for streams in ["lazy", "eager"] {
        let streams = [("FAKE_CUDA_STREAMS", streams)];
        clean_child("rows_are_copied_as_the_host_copies_them", &streams, || {
            copy_rows(&Device::cuda(0).unwrap());
        });
    }
}

#[test]
fn tasks_wait_and_slices_are_cast() {
    for streams in ["lazy", "eager"] {
        let streams = [("FAKE_CUDA_STREAMS", streams)];
        clean_child("tasks_wait_and_slices_are_cast", &streams, || {
            let device = Device::cuda(0).unwrap();
            let kernels = Kernels::load(&device).unwrap();
            let ones = device.upload(&[1.0_f32; 64]).unwrap();
            awaits::<f32>(&device, |stream, y| {
                kernels.saxpy(stream, Launch::grid([1], [64]), 1.0, &ones, y).unwrap();
            });
        });
    }
}
