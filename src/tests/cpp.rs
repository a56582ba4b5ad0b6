//! The bindings of kernels in CUDA C++, exactly as kernelmill-build writes them for
//! `build-helpers/build-script/src/outputs/bindings/snapshots/cuda.cu`; a test there keeps them so. Two of the
//! kernels have CPU code here, written by hand, and all are in PTX.

use super::objects::{address, argument, looped, threads};
use crate::{
    __codegen::{CpuKernel, VariableMemory, abi::Block},
    Device, Error, Launch,
};
use kernels::{Flags, Kernels, Mode, Params};

/// Generated code is warning-free where nothing is allowed.
mod kernels {
    include!("../../build-helpers/build-script/src/outputs/bindings/snapshots/cuda.rs");
}

#[unsafe(no_mangle)]
static kernelmill_cpu_cuda_saxpy: CpuKernel = looped(saxpy);
#[unsafe(no_mangle)]
static kernelmill_cpu_cuda__ZN7filters4blurIfEEvNS_6ParamsEPKS1_NS_5FlagsEPT_: CpuKernel =
    looped(blur);

#[unsafe(no_mangle)]
static kernelmill_variable_cuda_offsets: VariableMemory<8> = VariableMemory::zeros();

#[test]
fn variables_are_memory_of_the_program() {
    for device in [Device::cpu().unwrap(), Device::cpu_async().unwrap()] {
        let kernels = Kernels::load(&device).unwrap();
        let offsets = kernels.variables().filters_offsets();
        // The object for the CPU, by hand, lacks it.
        let error = offsets.unwrap().write(&1.0).unwrap_err();
        assert!(matches!(error, Error::MissingVariable { variable: "filters_offsets", .. }));
        let offsets = kernels.variables().offsets().unwrap();
        offsets.write(&[1.0, 2.0]).unwrap();
        offsets.write_from(1, &[3.0]).unwrap();
        let mut second = [0.0];
        offsets.read_from(1, &mut second).unwrap();
        assert_eq!((offsets.read().unwrap(), second), ([1.0, 3.0], [3.0]));
        let memory = (&raw const kernelmill_variable_cuda_offsets).cast::<[f32; 2]>();
        // SAFETY: nothing else uses it.
        assert_eq!(unsafe { memory.read() }, [1.0, 3.0]);
        for (first, count) in [(0, 3), (2, 1), (usize::MAX, 1)] {
            let error = offsets.write_from(first, &vec![0.0; count]).unwrap_err();
            assert!(matches!(error, Error::VariableRange { length: 2, .. }), "{error}");
        }
        offsets.write_from(2, &[]).unwrap();
    }
}

/// `y[i] += a * x[i]` for `i < n`.
unsafe extern "C" fn saxpy(arguments: *const *const u8, block: *mut Block) {
    // SAFETY: the run time passes the arguments of the signature, and a valid block.
    unsafe {
        let (a, n): (f32, i32) = (argument(arguments, 0), argument(arguments, 3));
        let (x, y): (*const f32, *mut f32) = (address(arguments, 1), address(arguments, 2));
        for ([i, ..], _) in threads(&*block) {
            if i < n as usize {
                *y.add(i) += a * *x.add(i);
            }
        }
    }
}

/// `out[0] = more->scale * type` in mode `Linear`.
unsafe extern "C" fn blur(arguments: *const *const u8, _block: *mut Block) {
    // SAFETY: the run time passes the arguments of the signature.
    unsafe {
        let (params, more): (Params, *const Params) =
            (argument(arguments, 0), argument(arguments, 1));
        let (flags, out): (Flags, *mut f32) = (argument(arguments, 2), address(arguments, 3));
        if params.mode == Mode::Linear {
            *out = (*more).scale * f32::from(flags.0);
        }
    }
}

#[test]
fn structs_and_enumerations_cross() {
    let device = Device::cpu().unwrap();
    let kernels = Kernels::load(&device).unwrap();
    let params = Params { mode: Mode::Linear, ..Params::default() };
    let more = device.upload(&[Params { scale: 2.5, ..params }]).unwrap();
    let mut out = device.zeros::<f32>(1).unwrap();
    let stream = device.stream();
    let launch = Launch::grid([1], [64]);
    // SAFETY: the kernel reads and writes one element each.
    unsafe { kernels.blur_float(&stream, launch, params, &more, Flags(3), &mut out).unwrap() };
    assert_eq!(out.download().unwrap(), [7.5]);
    assert_eq!((Flags::r#type, Mode::Lowest), (Flags(1), Mode(-70000)));
}

#[test]
fn launch_bounds_of_the_source_are_checked_on_every_device() {
    let device = Device::cpu().unwrap();
    let kernels = Kernels::load(&device).unwrap();
    let more = device.zeros::<Params>(1).unwrap();
    let mut out = device.zeros::<f32>(1).unwrap();
    let launch = Launch::grid([1, 1], [16, 9]);
    let params = Params::default();
    // SAFETY: the launch is refused.
    let result = unsafe {
        kernels.blur_float(&device.stream(), launch, params, &more, Flags::None, &mut out)
    };
    assert_eq!(
        result.unwrap_err().to_string(),
        "kernel `blur_float`: the launch asks for 144 threads per block, the limit of the launch bounds in its source \
         is 128"
    );
}

#[test]
fn a_kernel_for_other_targets_is_in_nobodys_way() {
    let device = Device::cpu().unwrap();
    let kernels = Kernels::load(&device).unwrap();
    let mut x = device.zeros::<i32>(1).unwrap();
    // SAFETY: the launch is refused.
    let result = unsafe { kernels.add_int_int(&device.stream(), Launch::linear(1), &mut x, 1) };
    let error = result.unwrap_err();
    assert!(matches!(error, Error::NoBinary(_)), "{error}");
    // Without the feature `cuda` it is named after that.
    let expected = format!(
        "the kernel `add_int_int` of kernels/cuda.cu: no embedded binary runs on {device}\n  compute_75: is for NVIDIA \
         GPUs, the device is the CPU"
    );
    assert!(error.to_string().starts_with(&expected), "{error}");
}

#[test]
fn a_contract_makes_a_wrapper_safe_and_is_checked() {
    let device = Device::cpu().unwrap();
    let kernels = Kernels::load(&device).unwrap();
    let stream = device.stream();
    let x = device.upload(&[1.0f32; 300]).unwrap();
    let mut y = device.zeros::<f32>(300).unwrap();
    let launch = Launch::linear(300).shared_bytes(1020);
    kernels.saxpy(&stream, launch, 2.0, &x, &mut y, 300).unwrap();
    assert_eq!(y.download().unwrap(), [2.0; 300]);
    kernels.saxpy(&stream, Launch::linear(0), 2.0, &x, &mut y, 0).unwrap();
    let mut refused = |launch: Launch<3>, n, rule: &str, values: &str| {
        let error = kernels.saxpy(&stream, launch, 2.0, &x, &mut y, n).unwrap_err();
        let expected = format!("kernel `saxpy`: its contract `{rule}` does not hold: {values}");
        assert_eq!(error.to_string(), expected);
    };
    refused(Launch::linear(301).into(), 301, "x.len >= n", "`x.len` is 300, `n` is 301");
    let rule = "n >= 0 && block.x <= 256";
    refused(Launch::linear(300).into(), -1, rule, "`n` is -1, `block.x` is 256");
    refused(Launch::grid([1; 3], [257, 1, 1]), 3, rule, "`n` is 3, `block.x` is 257");
    // A name that the rule has twice is told once.
    let rule = "grid.x * block.x >= n || n > 1_000_000";
    let values = "`grid.x` is 1, `block.x` is 256, `n` is 257";
    refused(Launch::linear(256).into(), 257, rule, values);
    let rule = "block.y == 1 && block.z == 1";
    refused(Launch::grid([20; 3], [256, 2, 1]), 3, rule, "`block.y` is 2, `block.z` is 1");
    let rule = "shared == 4 * (block.x - 1) || shared % 2 == -0";
    let values = "`shared` is 1021, `block.x` is 256";
    refused(Launch::linear(256).shared_bytes(1021).into(), 3, rule, values);
    let short = device.zeros::<f32>(2).unwrap();
    let error = kernels.saxpy(&stream, launch, 2.0, &short, &mut y, 3).unwrap_err();
    assert!(matches!(error, Error::Contract { rule: "x.len >= n", .. }), "{error}");
    assert_eq!(y.download().unwrap(), [2.0; 300]);
}
