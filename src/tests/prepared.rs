//! Prepared launches on the processor, as applications see them.

use super::generated::{Kernels, Params};
use crate::{Device, Error, Launch};

/// Acceptance: S3.1.
#[test]
fn a_prepared_launch_does_each_time_what_the_wrapper_does() {
    for device in [Device::cpu(), Device::cpu_sequential(), Device::cpu_async()] {
        let device = device.unwrap();
        let kernels = Kernels::load(&device).unwrap();
        let (x, mut y) = (device.upload(&[2.0_f32; 300]).unwrap(), device.zeros(300).unwrap());
        let (stream, other) = (device.stream(), device.new_stream().unwrap());
        let launch = Launch::linear(300);
        let mut saxpy = kernels.prepare().saxpy(launch, 1.5, &x, &mut y).unwrap();
        for _ in 0..10 {
            saxpy.launch(&stream).unwrap();
            saxpy.launch(&other).unwrap();
        }
        assert_eq!(saxpy.device(), &device);
        kernels.set_scalars().saxpy(&mut saxpy, -1.0).unwrap();
        (0..5).for_each(|_| saxpy.launch(&stream).unwrap());
        kernels.set_scalars().saxpy(&mut saxpy, 5.0).unwrap();
        saxpy.launch(&other).unwrap();
        drop(saxpy);
        assert_eq!(y.download().unwrap(), [60.0; 300]);
        // In parts, and of a struct.
        let mut part = y.slice_mut(100..200);
        let from = x.slice(..100);
        let mut saxpy =
            kernels.prepare().saxpy(Launch::linear(100), -30.0, &from, &mut part).unwrap();
        saxpy.launch(&stream).unwrap();
        drop(saxpy);
        let found = y.download().unwrap();
        assert_eq!((found[99], found[100], found[199], found[200]), (60.0, 0.0, 0.0, 60.0));
        let mut out = device.zeros::<u64>(35).unwrap();
        let params = Params { width: 7, step: 3 };
        let mut fill =
            kernels.prepare().fill(Launch::grid([2, 2], [4, 4]), params, &mut out).unwrap();
        fill.launch(&stream).unwrap();
        kernels.set_scalars().fill(&mut fill, Params { width: 7, step: 4 }).unwrap();
        fill.launch(&stream).unwrap();
        drop(fill);
        assert_eq!(out.download().unwrap(), (0..35).map(|i| 4 * i).collect::<Vec<u64>>());
    }
}

/// Acceptance: S3.1.
#[test]
fn an_unsafe_kernel_is_prepared_by_an_unsafe_call_and_no_threads_are_no_launch() {
    let device = Device::cpu_sequential().unwrap();
    let kernels = Kernels::load(&device).unwrap();
    let input = device.upload(&[1.0f32, 2.0, 3.0]).unwrap();
    let mut out = device.zeros::<f32>(3).unwrap();
    let stream = device.stream();
    // SAFETY: no thread is past the buffers, and all that write an element write the same.
    let mut scale = unsafe {
        let launch = Launch::grid([2, 2, 3], [1, 1, 1]);
        kernels.prepare().scale(launch, &mut out, &input, 3).unwrap()
    };
    scale.launch(&stream).unwrap();
    drop(scale);
    assert_eq!(out.download().unwrap(), [2.0, 4.0, 6.0]);
    let halves = device.upload(&[0.5f32; 3]).unwrap();
    // SAFETY: as above, of fewer elements.
    let mut scale = unsafe {
        let launch = Launch::grid([2, 2, 3], [1, 1, 1]);
        let mut scale = kernels.prepare().scale(launch, &mut out, &halves, 0).unwrap();
        kernels.set_scalars().scale(&mut scale, 2).unwrap();
        scale
    };
    scale.launch(&stream).unwrap();
    drop(scale);
    assert_eq!(out.download().unwrap(), [1.0, 1.0, 6.0]);
    let mut y = device.zeros::<f32>(3).unwrap();
    let mut nothing = kernels.prepare().saxpy(Launch::linear(0), 1.0, &input, &mut y).unwrap();
    nothing.launch(&stream).unwrap();
    kernels.set_scalars().saxpy(&mut nothing, 2.0).unwrap();
    nothing.launch(&stream).unwrap();
    drop(nothing);
    assert_eq!(y.download().unwrap(), [0.0; 3]);
}

/// Acceptance: S3.1.
#[test]
fn what_a_wrapper_refuses_is_refused_when_a_launch_is_prepared() {
    let device = Device::cpu().unwrap();
    let kernels = Kernels::load(&device).unwrap();
    let (x, mut y) = (device.zeros(10).unwrap(), device.zeros(10).unwrap());
    let too_large = kernels.prepare().saxpy(Launch::grid([1], [2048]), 1.0, &x, &mut y);
    assert!(matches!(too_large, Err(Error::Limit { .. })), "{too_large:?}");
    let other = Device::cpu_sequential().unwrap();
    let theirs = other.zeros(10).unwrap();
    let foreign = kernels.prepare().saxpy(Launch::linear(10), 1.0, &theirs, &mut y);
    let text = foreign.unwrap_err().to_string();
    assert!(text.contains("a buffer of 10 elements"), "{text}");
    let mut ready = kernels.prepare().saxpy(Launch::linear(10), 1.0, &x, &mut y).unwrap();
    let text = ready.launch(&other.stream()).unwrap_err().to_string();
    assert!(text.contains("a prepared launch of `saxpy`"), "{text}");
    let builder = device.graph();
    assert!(matches!(ready.launch(&builder), Err(Error::WrongDevice { .. })));
    ready.launch(&device.stream()).unwrap();
    let params = Params { width: 1, step: 1 };
    let text = kernels.set_scalars().fill(&mut ready, params).unwrap_err().to_string();
    assert_eq!(text, "a prepared launch of `saxpy` is given the scalars of `fill`");
    let theirs = Kernels::load(&other).unwrap().set_scalars().saxpy(&mut ready, 1.0);
    assert!(matches!(theirs, Err(Error::WrongDevice { .. })), "{theirs:?}");
    ready.launch(&device.stream()).unwrap();
}

/// Acceptance: S3.1.
#[test]
fn a_prepared_launch_keeps_its_kernel_loaded_and_moves_to_another_thread() {
    let device = Device::cpu().unwrap();
    let (x, mut y) = (device.upload(&[1.0_f32; 64]).unwrap(), device.zeros(64).unwrap());
    let mut saxpy = {
        let kernels = Kernels::load(&device).unwrap();
        kernels.prepare().saxpy(Launch::linear(64), 1.0, &x, &mut y).unwrap()
    };
    std::thread::scope(|scope| {
        scope.spawn(move || (0..5).for_each(|_| saxpy.launch(&device.stream()).unwrap()));
    });
    assert_eq!(y.download().unwrap(), [5.0; 64]);
}
