//! Copies of rows, waits of tasks and casts of slices on pocl.

use kernelmill::{Device, Launch};
use opencl_backend::{Kernels, awaits, clean_child, copy_rows};

#[test]
fn rows_are_copied_as_the_host_copies_them() {
    clean_child("rows_are_copied_as_the_host_copies_them", &[], || {
        copy_rows(&Device::opencl(0).unwrap());
    });
}

#[test]
fn tasks_wait_and_slices_are_cast() {
    clean_child("tasks_wait_and_slices_are_cast", &[], || {
        let device = Device::opencl(0).unwrap();
        let kernels = Kernels::load(&device).unwrap();
        awaits::<u32>(&device, |stream, y| {
            // SAFETY: there are as many elements as threads.
            unsafe { kernels.add(stream, Launch::grid([1], [64]), y, 1).unwrap() };
        });
    });
}
