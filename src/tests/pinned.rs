//! Pinned buffers on the CPU, where they are plain memory and copies are done when they return.

use std::num::NonZero;

use super::generated::Kernels;
use crate::{Device, DeviceCopy, Error, Launch};

/// An element that is aligned to more than what back ends allocate.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(512))]
struct Wide([u8; 512]);

// SAFETY: `repr(C)`, of scalars only, and no bytes between them.
unsafe impl DeviceCopy for Wide {}

#[test]
fn elements_go_there_and_back() {
    let device = Device::cpu().unwrap();
    let stream = device.new_stream().unwrap();
    let wide = [Wide([1; 512]), Wide([2; 512]), Wide([3; 512])];
    let mut pinned = device.pinned_from(&wide).unwrap();
    assert!(pinned.as_slice().unwrap().as_ptr().is_aligned());
    let mut buffer = device.zeros::<Wide>(3).unwrap();
    buffer
        .slice_mut(1..)
        .copy_from_async(&stream, &device.pinned_from(&wide[1..]).unwrap())
        .unwrap();
    buffer.copy_to_async(&stream, &mut pinned).unwrap();
    assert_eq!(pinned.as_slice().unwrap(), [Wide([0; 512]), wide[1], wide[2]]);
    pinned.as_mut_slice().unwrap()[0] = wide[1];
    buffer.copy_from_async(&stream, &pinned).unwrap();
    assert_eq!(buffer.download().unwrap(), [wide[1], wide[1], wide[2]]);
    assert_eq!((pinned.len(), pinned.device()), (3, &device));
}

/// An element of which zero is no value, as of a generated struct with private fields.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(transparent)]
struct NotZero(NonZero<u32>);

// SAFETY: transparent over a number; it says that zero is no value.
unsafe impl DeviceCopy for NotZero {
    const ZERO_IS_VALUE: bool = false;
}

#[test]
fn elements_of_which_zero_is_no_value_are_never_zero() {
    let values = [1, 2, 3].map(|it| NotZero(NonZero::new(it).unwrap()));
    for device in [Device::cpu().unwrap(), Device::cpu_async().unwrap()] {
        let pinned = device.pinned_from(&values).unwrap();
        assert_eq!(pinned.as_slice().unwrap(), values);
        let mut buffer = device.upload(&values[..1]).unwrap();
        let stream = device.new_stream().unwrap();
        buffer.copy_from_async(&stream, &device.pinned_from(&values[2..]).unwrap()).unwrap();
        assert_eq!(buffer.download().unwrap(), values[2..]);
    }
}

#[test]
fn elements_without_bytes_and_too_many_elements() {
    let device = Device::cpu().unwrap();
    let mut pinned = device.pinned_from(&[[0u64; 0]; 7]).unwrap();
    assert_eq!(pinned.as_mut_slice().unwrap().len(), 7);
    let error = device.pinned_zeros::<u64>(usize::MAX / 2).unwrap_err();
    assert!(matches!(error, Error::OutOfMemory { bytes: usize::MAX, .. }), "{error}");
}

#[test]
fn a_panic_is_reported_by_the_copy() {
    let device = Device::cpu_sequential().unwrap();
    let kernels = Kernels::load(&device).unwrap();
    let stream = device.new_stream().unwrap();
    let (x, mut y) = (device.zeros::<f32>(7).unwrap(), device.zeros::<f32>(8).unwrap());
    let mut pinned = device.pinned_zeros::<f32>(8).unwrap();
    kernels.saxpy(&stream, Launch::linear(8), 1.0, &x, &mut y).unwrap();
    let error = y.copy_to_async(&stream, &mut pinned).unwrap_err();
    assert!(matches!(error, Error::KernelPanic(_)), "{error}");
    y.copy_to_async(&stream, &mut pinned).unwrap();
    stream.synchronize().unwrap();
}

#[test]
fn buffers_are_copied() {
    let device = Device::cpu().unwrap();
    let source = device.upload(&[Wide([1; 512]), Wide([2; 512])]).unwrap();
    let mut target = device.zeros::<Wide>(3).unwrap();
    target.slice_mut(1..).copy_from_buffer(&device.stream(), &source.slice(..)).unwrap();
    assert_eq!(target.download().unwrap(), [Wide([0; 512]), Wide([1; 512]), Wide([2; 512])]);
}

/// Longer than a pattern, and no whole number of those; an element that is longer than its alignment allows the allocator.
#[test]
fn buffers_are_filled() {
    for device in [Device::cpu().unwrap(), Device::cpu_async().unwrap()] {
        let stream = device.stream();
        let len = if cfg!(miri) { 77 } else { 700_003 };
        let mut target = device.zeros::<[u8; 3]>(len).unwrap();
        target.slice_mut(1..len - 1).fill(&stream, [1, 2, 3]).unwrap();
        let found = target.download().unwrap();
        assert_eq!([found[0], found[len - 1]], [[0; 3]; 2]);
        assert!(found[1..len - 1].iter().all(|element| *element == [1, 2, 3]));
        target.slice_mut(2..).fill_zeros(&stream).unwrap();
        assert_eq!(target.download().unwrap()[..3], [[0; 3], [1, 2, 3], [0; 3]]);
        let mut wide = device.zeros::<Wide>(3).unwrap();
        wide.slice_mut(..2).fill(&stream, Wide([7; 512])).unwrap();
        assert_eq!(wide.download().unwrap(), [Wide([7; 512]), Wide([7; 512]), Wide([0; 512])]);
        let mut nothing = device.zeros::<u32>(0).unwrap();
        nothing.fill(&stream, 1).and_then(|()| nothing.fill_zeros(&stream)).unwrap();
    }
}

/// More than is on the host at once, and an odd part of it.
#[test]
fn buffers_of_two_devices_are_copied_through_the_host() {
    let (now, queued) = (Device::cpu().unwrap(), Device::cpu_async().unwrap());
    let len = if cfg!(miri) { 101 } else { 5_000_001 };
    let numbers: Vec<u32> = (0..len as u32).collect();
    let source = now.upload(&numbers).unwrap();
    let mut target = queued.zeros::<u32>(len + 2).unwrap();
    target.slice_mut(1..len).copy_from_buffer(&queued.stream(), &source.slice(1..)).unwrap();
    let found = target.download().unwrap();
    assert!(found[1..len] == numbers[1..]);
    assert_eq!((found[0], &found[len..]), (0, &[0, 0][..]));
    // A launch before it that has panicked is reported.
    let kernels = Kernels::load(&now).unwrap();
    let (x, mut y) = (now.zeros::<f32>(7).unwrap(), now.zeros::<f32>(8).unwrap());
    kernels.saxpy(&now.stream(), Launch::linear(8), 1.0, &x, &mut y).unwrap();
    let mut copy = queued.zeros::<f32>(8).unwrap();
    let error = copy.copy_from_buffer(&queued.stream(), &y.slice(..)).unwrap_err();
    assert!(matches!(error, Error::KernelPanic(_)), "{error}");
}

#[test]
fn two_devices_are_kept_apart() {
    let (device, other) = (Device::cpu().unwrap(), Device::cpu_sequential().unwrap());
    let mut buffer = device.zeros::<u8>(1).unwrap();
    let foreign = other.pinned_zeros::<u8>(1).unwrap();
    let refused = buffer.copy_from_async(&device.stream(), &foreign);
    assert!(matches!(refused, Err(Error::WrongDevice { .. })), "{refused:?}");
}
