//! Bind groups of launches, which are kept for the next launch with the same buffers: with a buffer in them, and with their
//! kernel, they are given back. What the driver has of them the layer counts.

use kernelmill::{Buffer, Device, Launch, module_cache};
use wgpu_backend::{Kernels, clean_child, count};

const LEN: usize = 64;

fn launch(device: &Device, kernels: &Kernels, x: &Buffer<u32>, y: &mut Buffer<u32>) {
    let launch = || Launch::grid([1], [LEN as u32]);
    kernels.add_scaled(&device.stream(), launch(), 2, x, &mut *y).unwrap();
    kernels.add_checked(&device.stream(), launch(), x, y).unwrap();
    device.synchronize().unwrap();
}

/// Buffers of the driver, when nothing is queued any more.
fn buffers(device: &Device) -> i64 {
    // What was dropped meanwhile is freed by the second.
    for _ in 0..2 {
        device.synchronize().unwrap();
    }
    count("buffers")
}

#[test]
fn groups_go_with_a_buffer_in_them() {
    clean_child("groups_go_with_a_buffer_in_them", &[], || {
        let device = Device::wgpu(0).unwrap();
        let kernels = Kernels::load(&device).unwrap();
        let (x, mut y) = (device.upload(&[1; LEN]).unwrap(), device.upload(&[0; LEN]).unwrap());
        launch(&device, &kernels, &x, &mut y);
        let before = buffers(&device);
        for _ in 0..5 {
            let mut other = device.upload(&[0; LEN]).unwrap();
            launch(&device, &kernels, &x, &mut other);
            assert!(buffers(&device) > before);
            assert_eq!(other.download().unwrap(), [3; LEN]);
        }
        assert_eq!(buffers(&device), before);
    });
}

#[test]
fn groups_go_with_their_kernel() {
    clean_child("groups_go_with_their_kernel", &[], || {
        let device = Device::wgpu(0).unwrap();
        let (x, mut y) = (device.upload(&[1; LEN]).unwrap(), device.upload(&[0; LEN]).unwrap());
        let mut run = || {
            let kernels = Kernels::load(&device).unwrap();
            launch(&device, &kernels, &x, &mut y);
            let meanwhile = buffers(&device);
            drop(kernels);
            module_cache().clear();
            (meanwhile, buffers(&device))
        };
        // The first launch has made what the device keeps.
        let (_, before) = run();
        for _ in 0..5 {
            let (meanwhile, after) = run();
            assert!(meanwhile > before, "{meanwhile} > {before}");
            assert_eq!(after, before);
        }
    });
}
