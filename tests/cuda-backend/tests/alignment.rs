//! What kernels are given is as aligned as its type asks for, on the CPU and on CUDA, empty or not.

use cuda_backend::{clean_child, cudarc};
use cudarc::driver::CudaContext;
use kernelmill::{
    __codegen as cg, Device, DeviceCopy, Error, ReadSlice, Result, Stream, WriteSlice,
};

/// More than any allocator aligns to of its own.
const ALIGNMENT: usize = 1 << 14;

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(0x4000))]
struct Wide([u32; 2]);

#[derive(Clone, Copy)]
#[repr(C, align(512))]
struct Nothing;

kernelmill::device_copy!(unsafe Wide, Nothing);

/// The address that a kernel is given.
fn address(argument: &cg::Argument<'_>) -> usize {
    let text = format!("{argument:?}");
    let number = text.split("address: ").nth(1).and_then(|rest| rest.split([',', ' ']).next());
    number.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{text}"))
}

fn read<T: DeviceCopy>(stream: &Stream, slice: impl ReadSlice<T>) -> Result<usize> {
    Ok(address(&cg::Argument::slice(&cg::read(slice, cg::stream(stream))?)))
}

fn write<T: DeviceCopy>(stream: &Stream, slice: impl WriteSlice<T>) -> Result<usize> {
    Ok(address(&cg::Argument::slice(&cg::write(slice, cg::stream(stream))?)))
}

#[track_caller]
fn assert_aligned(address: usize, alignment: usize) {
    assert!(address > 0 && address.is_multiple_of(alignment), "{address:#x}");
}

fn check(device: &Device) {
    let stream = device.stream();
    // So that the next one is not at the beginning of anything.
    let other = device.zeros::<u8>(1).unwrap();
    let elements = [1, 2, 3].map(|number| Wide([number, number + 10]));
    let mut buffer = device.upload(&elements).unwrap();
    let zeros = device.zeros::<Wide>(2).unwrap();
    assert_aligned(read(&stream, &buffer).unwrap(), ALIGNMENT);
    assert_aligned(read(&stream, &zeros).unwrap(), ALIGNMENT);
    assert_aligned(read(&stream, &buffer.slice(1..)).unwrap(), ALIGNMENT);
    assert_aligned(write(&stream, &mut buffer.slice_mut(2..)).unwrap(), ALIGNMENT);
    assert_eq!(buffer.download().unwrap(), elements);
    buffer.slice_mut(1..2).copy_from(&[Wide([7, 8])]).unwrap();
    assert_eq!(buffer.slice(1..).download().unwrap(), [Wide([7, 8]), elements[2]]);
    assert_eq!(zeros.download().unwrap(), [Wide([0; 2]); 2]);
    assert_aligned(read(&stream, &device.zeros::<Wide>(0).unwrap()).unwrap(), ALIGNMENT);
    assert_aligned(read(&stream, &buffer.slice(3..)).unwrap(), ALIGNMENT);
    assert_aligned(read(&stream, &device.zeros::<Nothing>(5).unwrap()).unwrap(), 512);
    assert!(matches!(device.zeros::<Wide>(usize::MAX >> 14), Err(Error::OutOfMemory { .. })));
    assert_eq!(other.download().unwrap(), [0]);
}

#[test]
fn buffers_are_aligned_on_the_cpu() {
    check(&Device::cpu().unwrap());
    check(&Device::cpu_sequential().unwrap());
}

#[test]
fn buffers_are_aligned_on_cuda() {
    clean_child("buffers_are_aligned_on_cuda", &[], || check(&Device::cuda(0).unwrap()));
}

/// cudarc's memory is where it is.
#[test]
fn slices_of_cudarc_that_are_not_aligned_are_refused() {
    clean_child("slices_of_cudarc_that_are_not_aligned_are_refused", &[], || {
        let context = CudaContext::new(0).unwrap();
        let device = Device::from_cuda_context(&context).unwrap();
        let cuda = context.default_stream();
        let stream = device.stream();
        let refused = |result: Result<usize>| {
            let error = result.unwrap_err();
            assert!(matches!(error, Error::Misaligned { .. }), "{error}");
        };
        // At the beginning of its memory a slice may be aligned, behind that it is not.
        let mut bytes = cuda.alloc_zeros::<u8>(2 * ALIGNMENT).unwrap();
        // SAFETY: nothing reads or writes it, and all bits are values.
        let read_only = unsafe { bytes.slice(8..).transmute::<Wide>(1) }.unwrap();
        refused(read(&stream, cudarc(&read_only)));
        let mut rest = bytes.slice_mut(8..);
        // SAFETY: as above.
        let mut written = unsafe { rest.transmute_mut::<Wide>(1) }.unwrap();
        refused(write(&stream, cudarc(&mut written)));
        let slice = cuda.alloc_zeros::<Wide>(1).unwrap();
        let empty = slice.slice(1..);
        assert_aligned(read(&stream, cudarc(&empty)).unwrap(), ALIGNMENT);
    });
}
