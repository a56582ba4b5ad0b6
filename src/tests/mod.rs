//! Tests of the crate as applications use it, through bindings that kernelmill-build has written.

#[expect(unreachable_pub, reason = "it is public in the packages that it is shared with")]
#[path = "../../tests/cuda-backend/src/awaits.rs"]
mod awaits;
mod compiled;
mod coroutine;
#[cfg(feature = "half")]
mod cpp;
#[cfg(feature = "cuda")]
mod cuda;
mod events;
#[expect(
    dead_code,
    unreachable_pub,
    reason = "it is used and public in the packages that it is shared with"
)]
#[path = "../../tests/cuda-backend/src/executor.rs"]
mod executor;
mod graphs;
mod narrowed;
pub(crate) mod objects;
mod pinned;
mod pool;
mod prepared;
mod rows;

/// The bindings of a package with three sources, which a test of kernelmill-build keeps as it writes
/// them. Their compiled code is in `objects.rs`.
pub(crate) mod generated {
    include!("../../build-helpers/build-script/src/outputs/bindings/snapshots/demo.rs");
}

use std::sync::Arc;

use generated::{Kernels, Params};

use crate::{Device, Error, Launch};

fn saxpy_on(device: &Device, n: usize) -> Vec<f32> {
    let kernels = Kernels::load(device).unwrap();
    let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let x = device.upload(&x).unwrap();
    let mut y = device.upload(&vec![1.0f32; n]).unwrap();
    kernels.saxpy(&device.stream(), Launch::linear(n), 2.0, &x, &mut y).unwrap();
    y.download().unwrap()
}

#[test]
fn a_safe_kernel_computes_on_every_size_in_both_modes() {
    for device in [Device::cpu().unwrap(), Device::cpu_sequential().unwrap()] {
        for n in [0, 1, 255, 256, 257, 100_000] {
            let expected: Vec<f32> = (0..n).map(|i| 1.0 + 2.0 * i as f32).collect();
            assert_eq!(saxpy_on(&device, n), expected);
        }
    }
}

#[test]
fn every_block_runs_once_however_the_launch_is_shared() {
    let device = Device::cpu().unwrap();
    let kernels = Kernels::load(&device).unwrap();
    for n in [257, 5000, 100_000] {
        let ones = device.upload(&vec![1.0f32; n]).unwrap();
        let mut y = device.zeros::<f32>(n).unwrap();
        for _ in 0..20 {
            kernels.saxpy(&device.stream(), Launch::linear(n), 1.0, &ones, &mut y).unwrap();
        }
        assert!(y.download().unwrap().iter().all(|&count| count == 20.0), "{n}");
    }
}

#[test]
fn a_struct_by_value_and_two_dimensions() {
    for device in [Device::cpu().unwrap(), Device::cpu_sequential().unwrap()] {
        let kernels = Kernels::load(&device).unwrap();
        let mut out = device.zeros::<u64>(35).unwrap();
        let params = Params { width: 7, step: 3 };
        kernels.fill(&device.stream(), Launch::grid([2, 2], [4, 4]), params, &mut out).unwrap();
        assert_eq!(out.download().unwrap(), (0..35).map(|i| 3 * i).collect::<Vec<u64>>());
    }
}

#[test]
fn an_unsafe_kernel_takes_pointers_and_every_launch() {
    let device = Device::cpu_sequential().unwrap();
    let kernels = Kernels::load(&device).unwrap();
    let input = device.upload(&[1.0f32, 2.0, 3.0]).unwrap();
    let mut out = device.zeros::<f32>(3).unwrap();
    let stream = device.new_stream().unwrap();
    // SAFETY: no thread is past the buffers, and all that write an element write the same.
    unsafe {
        let launch = Launch::grid([2, 2, 3], [1, 1, 1]);
        kernels.scale(&stream, launch, &mut out, &input, 3).unwrap();
        assert_eq!(out.download().unwrap(), [2.0, 4.0, 6.0]);
        kernels.scale(&stream, Launch::linear(1), &mut out, &input.slice(2..), 1).unwrap();
        kernels
            .scale(&stream, Launch::linear(1), &mut device.zeros(0).unwrap(), &input, 0)
            .unwrap();
    }
    assert_eq!(out.download().unwrap(), [6.0, 4.0, 6.0]);
}

#[test]
fn parts_of_buffers_are_arguments() {
    let device = Device::cpu().unwrap();
    let kernels = Kernels::load(&device).unwrap();
    let x = device.upload(&[1.0f32, 2.0, 3.0, 4.0]).unwrap();
    let mut y = device.zeros::<f32>(4).unwrap();
    let mut middle = y.slice_mut(1..3);
    kernels.saxpy(&device.stream(), Launch::linear(2), 1.0, &x.slice(2..), &mut middle).unwrap();
    kernels.saxpy(&device.stream(), Launch::linear(0), 1.0, &x.slice(..), &mut middle).unwrap();
    assert_eq!(y.download().unwrap(), [0.0, 3.0, 4.0, 0.0]);
}

#[test]
fn a_panic_names_place_and_thread_once_and_the_device_goes_on() {
    let device = Device::cpu_sequential().unwrap();
    let kernels = Kernels::load(&device).unwrap();
    let (stream, other) = (device.new_stream().unwrap(), device.new_stream().unwrap());
    let x = device.zeros::<f32>(263).unwrap();
    let mut y = device.zeros::<f32>(1000).unwrap();
    kernels.saxpy(&stream, Launch::linear(1000), 1.0, &x, &mut y).unwrap();
    other.synchronize().unwrap();
    let text = "kernel panicked at kernels/saxpy.rs:6:5 (block 1,0,0 thread 7,0,0): index out of \
                bounds: the len is 263 but the index is 263";
    assert_eq!(stream.synchronize().unwrap_err().to_string(), text);
    stream.synchronize().unwrap();
    kernels.saxpy(&stream, Launch::linear(1000), 1.0, &x, &mut y).unwrap();
    assert_eq!(y.download().unwrap_err().to_string(), text);
    assert_eq!(y.download().unwrap().len(), 1000);
}

#[test]
fn of_two_panics_on_a_stream_the_first_is_reported() {
    let device = Device::cpu().unwrap();
    let kernels = Kernels::load(&device).unwrap();
    let stream = device.new_stream().unwrap();
    for len in [3, 5] {
        let x = device.zeros::<f32>(len).unwrap();
        let mut y = device.zeros::<f32>(len + 1).unwrap();
        kernels.saxpy(&stream, Launch::linear(1), 1.0, &x, &mut y).unwrap();
    }
    match stream.synchronize().unwrap_err() {
        Error::KernelPanic(panic) => assert_eq!(panic.thread, [3, 0, 0]),
        error => panic!("{error}"),
    }
    stream.synchronize().unwrap();
}

#[test]
fn devices_do_not_mix() {
    let (device, other) = (Device::cpu().unwrap(), Device::cpu_sequential().unwrap());
    let kernels = Kernels::load(&device).unwrap();
    let x = device.zeros::<f32>(4).unwrap();
    let mut y = other.zeros::<f32>(4).unwrap();
    let launch = Launch::linear(4);
    let error = kernels.saxpy(&device.stream(), launch, 1.0, &x, &mut y).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("a buffer of 4 elements belongs to"), "{text}");
    let x = other.zeros::<f32>(4).unwrap();
    let error = kernels.saxpy(&other.stream(), launch, 1.0, &x, &mut y).unwrap_err();
    assert!(error.to_string().starts_with("the kernel `saxpy` belongs to"), "{error}");
}

#[test]
fn a_launch_beyond_the_limits_says_so() {
    let device = Device::cpu().unwrap();
    let kernels = Kernels::load(&device).unwrap();
    let x = device.zeros::<f32>(4).unwrap();
    let mut y = device.zeros::<f32>(4).unwrap();
    let launch = Launch::grid([1], [1025]);
    let error = kernels.saxpy(&device.stream(), launch, 1.0, &x, &mut y).unwrap_err();
    let text = "kernel `saxpy`: the launch asks for 1025 threads per block in x, the limit of ";
    assert!(error.to_string().starts_with(text), "{error}");
}

/// Acceptance: S3.1.
#[test]
fn what_is_embedded_and_chosen_can_be_asked() {
    let kernels = Kernels::load(&Device::cpu().unwrap()).unwrap();
    let names: Vec<_> = Kernels::signatures().iter().map(|kernel| kernel.name()).collect();
    assert_eq!(names, ["saxpy", "fill", "scale"]);
    assert_eq!(Kernels::embedded().len(), 4);
    let choice = &kernels.chosen()[0];
    let text = choice.to_string();
    let expected = "kernels/saxpy.rs for cpu (native object)\n  not compute_75: is for NVIDIA GPUs, the device is the CPU";
    assert!(text.starts_with(expected), "{text}");
    assert_eq!(text.contains("without its feature `cuda`"), !cfg!(feature = "cuda"), "{text}");
    assert_eq!(kernels.device(), &Device::cpu().unwrap());
    let candidates = Kernels::candidates().unwrap();
    let on_cpu = candidates.devices.iter().find(|it| it.device == *kernels.device()).unwrap();
    assert_eq!(on_cpu.choices[0].to_string(), choice.to_string());
    assert_eq!(candidates.chosen(), Some(Kernels::best().unwrap().device()));
}

#[test]
fn launches_from_many_threads_and_from_inside_the_pool() {
    use rayon::prelude::*;
    let device = Device::cpu().unwrap();
    let kernels = Kernels::load(&device).unwrap();
    (0..64usize).into_par_iter().for_each(|seed| {
        let n = 1000 + seed;
        let x = device.upload(&vec![seed as f32; n]).unwrap();
        let mut y = device.zeros::<f32>(n).unwrap();
        kernels.saxpy(&device.stream(), Launch::linear(n), 1.0, &x, &mut y).unwrap();
        let mut host = vec![0.0; n];
        y.copy_to(&mut host).unwrap();
        assert!(host.iter().all(|&value| value == seed as f32));
    });
}

#[test]
fn lengths_that_differ_are_named() {
    let device = Device::cpu().unwrap();
    let mut buffer = device.upload(&[1u8, 2, 3]).unwrap();
    let error = buffer.copy_to(&mut [0; 2]).unwrap_err();
    assert_eq!(error.to_string(), "copy_to: the buffer has 3 elements, the host slice has 2");
    buffer.slice_mut(3..).copy_from(&[]).unwrap();
    assert_eq!(device.upload::<u64>(&[]).unwrap().download().unwrap(), []);
    let too_many = device.zeros::<u64>(usize::MAX).unwrap_err();
    assert!(matches!(too_many, Error::OutOfMemory { .. }), "{too_many}");
}

#[test]
fn a_module_is_loaded_once_on_each_device() {
    let (device, other) = (Device::cpu().unwrap(), Device::cpu_sequential().unwrap());
    let [first, second] = [&Kernels::embedded()[0], &Kernels::embedded()[2]];
    let hold =
        |device: &Device, artifact| crate::module_cache().hold(device.context(), artifact).unwrap();
    let module = hold(&device, first);
    assert!(Arc::ptr_eq(module.module(), hold(&Device::cpu().unwrap(), first).module()));
    assert!(!Arc::ptr_eq(module.module(), hold(&device, second).module()));
    assert!(!Arc::ptr_eq(module.module(), hold(&other, first).module()));
    let (_one, _two) = (Kernels::load(&device).unwrap(), Kernels::load(&device).unwrap());
    assert!(crate::module_cache().statistics().held >= 3);
}

#[test]
fn tasks_wait_and_slices_are_cast_on_the_cpu() {
    for device in [Device::cpu().unwrap(), Device::cpu_async().unwrap()] {
        let kernels = Kernels::load(&device).unwrap();
        let ones = device.upload(&[1.0_f32; 64]).unwrap();
        awaits::awaits::<f32>(&device, |stream, y| {
            kernels.saxpy(stream, Launch::linear(64), 1.0, &ones, y).unwrap();
        });
    }
}

#[test]
fn everything_public_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Device>();
    shared::<crate::Stream>();
    shared::<crate::Event>();
    shared::<crate::Buffer<f32>>();
    shared::<crate::BufferSlice<'static, f32>>();
    shared::<crate::BufferSliceMut<'static, f32>>();
    shared::<crate::PinnedBuffer<f32>>();
    shared::<crate::DeviceVariable<f32>>();
    shared::<crate::Graph>();
    shared::<crate::GraphBuffer<f32>>();
    shared::<crate::CompiledKernel>();
    shared::<crate::DownloadFuture<f32>>();
    shared::<crate::Candidates>();
    shared::<Kernels>();
    shared::<Error>();
    // A launch of it needs `&mut`.
    fn moved<T: Send>() {}
    moved::<crate::PreparedLaunch<'static>>();
}

#[cfg(feature = "half")]
#[test]
fn half_precision_crosses() {
    let values = [half::f16::from_f32(1.5), half::f16::MAX];
    let device = Device::cpu().unwrap();
    assert_eq!(device.upload(&values).unwrap().download().unwrap(), values);
    assert_eq!(device.zeros::<half::bf16>(1).unwrap().download().unwrap(), [half::bf16::ZERO]);
}

#[test]
fn structs_of_every_form_can_be_asserted() {
    #[derive(Clone, Copy)]
    #[repr(C, align(16))]
    struct Pair(u8, f32);
    crate::__codegen::device_struct!(Pair, size = 16, align = 16, 0 = 0, 1 = 4,);
    let device = Device::cpu().unwrap();
    let pairs = device.upload(&[Pair(1, 2.0); 3]).unwrap().download().unwrap();
    assert_eq!((pairs[2].0, pairs[2].1), (1, 2.0));
}
