//! Shapes and arguments of launches on pocl, against plain Rust and the CPU back end. What kernels compute is in
//! `tests/opencl-c`.

use kernelmill::{Device, Launch};
use opencl_backend::{Kernels, clean_child};

/// Work-items' places along three axes, and the sizes that they are told.
fn places(device: &Device, grid: [u32; 3], block: [u32; 3]) -> Vec<[u32; 4]> {
    let kernels = Kernels::load(device).unwrap();
    let count = (0..3).map(|axis| grid[axis] * block[axis]).product::<u32>() as usize;
    let mut out = device.zeros::<[u32; 4]>(2 * count).unwrap();
    let launch = Launch::grid(grid, block);
    // SAFETY: there are two elements for each work-item.
    unsafe { kernels.axes(&device.stream(), launch, &mut out) }.unwrap();
    out.download().unwrap()
}

#[test]
fn launches_have_the_shape_that_is_asked_for() {
    let multiple = [("OPENCL_LAYER_MULTIPLE", "96")];
    clean_child("launches_have_the_shape_that_is_asked_for", &multiple, || {
        let (device, cpu) = (Device::opencl(0).unwrap(), Device::cpu().unwrap());
        // What pocl says of axes that there are not is another thing.
        for (grid, block) in
            [([2, 3, 4], [4, 2, 3]), ([1, 1, 3], [1, 1, 5]), ([5, 1, 2], [2, 2, 1])]
        {
            let found = places(&device, grid, block);
            assert_eq!(found, places(&cpu, grid, block), "{grid:?} {block:?}");
            assert_eq!(found.last().unwrap(), &[block[0], block[1], block[2], grid[2]]);
        }
        for (grid, dimensions) in [([7, 1, 1], 1), ([3, 2, 1], 2), ([1, 2, 1], 2), ([1, 1, 1], 1)] {
            assert!(places(&device, grid, [1; 3]).chunks(2).all(|it| it[0][3] == dimensions));
        }
        let kernels = Kernels::load(&device).unwrap();
        let kernel = kernels.compiled().axes().unwrap();
        let resources = kernel.resources().unwrap();
        let limit = device.limits().threads_per_block;
        assert!(resources.max_threads.is_some_and(|most| (1..=limit).contains(&most)));
        assert!(resources.stack_bytes.is_some(), "{resources:?}");
        assert_eq!(resources.static_shared_bytes, Some(0), "{resources:?}");
        // The library is asked: 256, or what it lets a group have, down to a multiple of 96.
        assert!(resources.max_threads.is_some_and(|most| most >= 256), "{resources:?}");
        assert_eq!(kernel.suggested_block_size(0).unwrap(), 192);
    });
}

#[test]
fn arguments_are_null_parts_of_buffers_and_local_memory() {
    clean_child("arguments_are_null_parts_of_buffers_and_local_memory", &[], || {
        let device = Device::opencl(0).unwrap();
        let kernels = Kernels::load(&device).unwrap();
        let stream = device.stream();
        let (nothing, something) =
            (device.zeros::<u32>(0).unwrap(), device.zeros::<u32>(1).unwrap());
        let mut out = device.zeros::<u32>(1).unwrap();
        for (buffer, expected) in [(&nothing, 1), (&something, 0), (&nothing, 1)] {
            // SAFETY: the kernel only looks whether there is memory.
            unsafe { kernels.is_null(&stream, Launch::grid([1], [1]), buffer, &mut out) }.unwrap();
            assert_eq!(out.download().unwrap(), [expected]);
        }
        // Parts that begin where no sub-buffer could.
        let x: Vec<u32> = (0..100).collect();
        let x = device.upload(&x).unwrap();
        let mut sums = device.zeros::<u32>(64).unwrap();
        {
            let (first, second) = (x.slice(3..53), x.slice(7..57));
            let mut part = sums.slice_mut(5..55);
            // SAFETY: each part has 50 elements.
            unsafe { kernels.sum_of(&stream, Launch::grid([1], [50]), &first, &second, &mut part) }
                .unwrap();
        }
        let mut expected = vec![0; 64];
        expected[5..55].iter_mut().zip(0..).for_each(|(sum, i)| *sum = 2 * i + 10);
        assert_eq!(sums.download().unwrap(), expected);
        // Two parts of local memory, the second with a larger alignment.
        let mut out = device.zeros::<u32>(64).unwrap();
        // SAFETY: there are as many elements as the kernel uses.
        unsafe { kernels.takes_local(&stream, Launch::grid([2], [32]), 32, &mut out, 32) }.unwrap();
        let expected: Vec<u32> = (0..64).map(|i| 31 - i % 32 + 100 * ((i + 1) % 32)).collect();
        assert_eq!(out.download().unwrap(), expected);
    });
}

/// Conditions and macros are the device's: only its compiler knows its version. Its language is the newest.
#[test]
fn macros_are_those_of_the_device() {
    clean_child("macros_are_those_of_the_device", &[], || {
        let device = Device::opencl(0).unwrap();
        let kernels = Kernels::load(&device).unwrap();
        let mut out = device.zeros::<u32>(2).unwrap();
        // SAFETY: there are two elements.
        unsafe { kernels.versions(&device.stream(), Launch::grid([1], [1]), &mut out) }.unwrap();
        assert_eq!(out.download().unwrap(), [300, 300]);
    });
}
