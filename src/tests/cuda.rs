//! The CUDA back end, on whatever driver is installed: a GPU's, or the fake driver.

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaStream};

use super::generated::{Kernels as AllKernels, Params};
use crate::{
    __codegen as cg, Backend, Buffer, CudarcSlice, Device, Error, Launch, LaunchStream, ReadSlice,
    Result, WriteSlice, module_cache,
};

/// The kernel as PTX, which the bindings embed too.
const SAXPY: &[u8] =
    include_bytes!("../../build-helpers/build-script/src/outputs/bindings/snapshots/saxpy.ptx");

/// `saxpy` for NVIDIA GPUs alone.
static SET: cg::KernelSet = cg::KernelSet {
    format_version: kernelmill_artifact::FORMAT_VERSION,
    package: "demo",
    signatures: &[cg::Signature::borrowed("saxpy", &[])],
    functions: &[],
    variables: &[],
    tuned: &[],
    artifacts: &[saxpy("05", SAXPY)],
};

/// The same with text that is no PTX.
static BROKEN: cg::KernelSet = cg::KernelSet {
    format_version: kernelmill_artifact::FORMAT_VERSION,
    package: "demo",
    signatures: &[cg::Signature::borrowed("saxpy", &[])],
    functions: &[],
    variables: &[],
    tuned: &[],
    artifacts: &[saxpy("06", b"no PTX at all\0")],
};

const fn saxpy(fingerprint: &'static str, bytes: &'static [u8]) -> cg::EmbeddedArtifact {
    cg::EmbeddedArtifact {
        fingerprint,
        target: "compute_75",
        kind: cg::ArtifactKind::Ptx,
        source: "kernels/saxpy.rs",
        bytes,
        kernels: &[cg::EmbeddedKernel {
            signature: 0,
            entry: "saxpy",
            static_shared_bytes: 0,
            panics: true,
            cooperative: false,
            resources: cg::Resources::UNKNOWN,
            variant: None,
            cpu: None,
        }],
        locations: &[cg::SourceLocation { file: "kernels/saxpy.rs", line: 6, column: 5 }],
        backtraces: &[],
        messages: &[],
        relocations: &[],
        variables: &[],
    }
}

struct Kernels(cg::Loaded);

impl Kernels {
    fn load(device: &Device) -> Self {
        Self(cg::Loaded::new(device, &SET).unwrap())
    }

    fn saxpy(
        &self,
        stream: &impl LaunchStream,
        launch: Launch<1>,
        a: f32,
        x: impl ReadSlice<f32>,
        y: impl WriteSlice<f32>,
    ) -> Result<()> {
        let stream = cg::stream(stream);
        let (x, y) = (cg::read(x, stream)?, cg::write(y, stream)?);
        let arguments = [cg::Argument::value(&a), cg::Argument::slice(&x), cg::Argument::slice(&y)];
        // SAFETY: these are the arguments of the kernel in `saxpy.ptx`.
        unsafe { cg::launch(&self.0, 0, stream, launch, &arguments) }
    }
}

/// The first GPU; `None`, said aloud, where there is none.
fn gpu(test: &str) -> Option<Device> {
    match Device::cuda(0) {
        Ok(device) => Some(device),
        Err(Error::NoDevice { reason, .. }) => {
            println!("{test}: skipped, {reason}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_device_that_is_not_there_is_an_error_and_never_a_panic() {
    let error = Device::cuda(1000).unwrap_err();
    assert!(matches!(error, Error::NoDevice { backend: Backend::Cuda, .. }), "{error}");
    let best = Device::best().unwrap();
    let all = Device::all();
    assert_eq!(all[0], best);
    // Behind the processor come those that are devices of OpenCL or wgpu too.
    let mut behind = all.iter().skip_while(|device| **device != Device::cpu().unwrap()).skip(1);
    assert!(all.contains(&Device::cpu().unwrap()), "{all:?}");
    let again = [Backend::OpenCl, Backend::Wgpu];
    assert!(behind.all(|device| again.contains(&device.backend())), "{all:?}");
}

/// Everything about panics in one test: a download reports those of all streams.
#[test]
fn launches_slices_and_panics() {
    let Some(device) = gpu("launches_slices_and_panics") else { return };
    println!("{device:?}: {device}, {:?}", device.limits());
    assert_eq!(device, Device::cuda(0).unwrap());
    let kernels = Kernels::load(&device);
    let x: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    let x = device.upload(&x).unwrap();
    let mut y = device.upload(&[1.0f32; 1000]).unwrap();
    for stream in [device.stream(), device.new_stream().unwrap()] {
        kernels.saxpy(&stream, Launch::linear(1000), 2.0, &x, &mut y).unwrap();
        stream.synchronize().unwrap();
    }
    kernels.saxpy(&device.stream(), Launch::linear(0), 2.0, &x, &mut y).unwrap();
    assert_eq!(y.download().unwrap()[999], 1.0 + 4.0 * 999.0);
    let mut part = y.slice_mut(10..12);
    part.copy_from(&[0.0, 0.0]).unwrap();
    kernels.saxpy(&device.stream(), Launch::linear(2), 1.0, &x.slice(998..), &mut part).unwrap();
    assert_eq!(y.slice(10..12).download().unwrap(), [998.0, 999.0]);
    panics(&device, &kernels, &x, &mut y);
    with_cudarc(&device);
    panic_of_an_unloaded_module(&device, kernels, &x, &mut y);
}

fn panic_of_an_unloaded_module(
    device: &Device,
    kernels: Kernels,
    x: &Buffer<f32>,
    y: &mut Buffer<f32>,
) {
    let (stream, other) = (device.new_stream().unwrap(), device.new_stream().unwrap());
    for on in [&stream, &other] {
        kernels.saxpy(on, Launch::grid([1], [8]), 1.0, &x.slice(..7), &mut *y).unwrap();
    }
    drop(kernels);
    module_cache().release_unused();
    for on in [&stream, &other] {
        let panic = on.synchronize().unwrap_err().to_string();
        assert!(panic.contains("the len is 7 but the index is 7"), "{panic}");
        on.synchronize().unwrap();
    }
    device.synchronize().unwrap();
}

fn panics(device: &Device, kernels: &Kernels, x: &Buffer<f32>, y: &mut Buffer<f32>) {
    let text = "kernel panicked at kernels/saxpy.rs:6:5 (block 0,0,0 thread 7,0,0): index out of \
                bounds: the len is 7 but the index is 7";
    let stream = device.new_stream().unwrap();
    let launch = Launch::grid([1], [8]);
    for _ in 0..2 {
        kernels.saxpy(&stream, launch, 1.0, &x.slice(..7), &mut *y).unwrap();
        assert_eq!(stream.synchronize().unwrap_err().to_string(), text);
        stream.synchronize().unwrap();
    }
    kernels.saxpy(&device.stream(), launch, 1.0, &x.slice(..7), &mut *y).unwrap();
    assert_eq!(y.download().unwrap_err().to_string(), text);
    assert_eq!(y.download().unwrap().len(), 1000);
    kernels.saxpy(&stream, launch, 1.0, &x.slice(..7), y).unwrap();
    assert_eq!(device.synchronize().unwrap_err().to_string(), text);
    device.synchronize().unwrap();
}

fn with_cudarc(device: &Device) {
    let context = CudaContext::new(0).unwrap();
    let stream = context.default_stream();
    // A device of the program's own context, and one of the same primary context.
    for device in [Device::from_cuda_context(&context).unwrap(), device.clone()] {
        let kernels = Kernels::load(&device);
        let x = stream.clone_htod(&[1.0f32, 2.0, 3.0]).unwrap();
        let mut y = stream.clone_htod(&[10.0f32, 20.0, 30.0]).unwrap();
        // SAFETY: no stream is captured, and all is on the default stream.
        let adopted = unsafe { device.adopt_stream(Arc::<CudaStream>::clone(&stream)).unwrap() };
        // SAFETY: as above; the elements are initialised.
        let (from, to) = unsafe { (CudarcSlice::new(&x), CudarcSlice::new(&mut y)) };
        kernels.saxpy(&adopted, Launch::linear(3), 1.0, from, to).unwrap();
        let (views, mut tail) = (x.slice(..2), y.slice_mut(1..));
        for (on, factor) in [(&adopted, 1.0), (&device.stream(), 0.0)] {
            // SAFETY: as above.
            let (from, to) = unsafe { (CudarcSlice::new(&views), CudarcSlice::new(&mut tail)) };
            kernels.saxpy(on, Launch::linear(2), factor, from, to).unwrap();
        }
        assert_eq!(stream.clone_dtoh(&y).unwrap(), [11.0, 23.0, 35.0]);
        let mut mixed = device.zeros::<f32>(3).unwrap();
        // SAFETY: as above.
        let from = unsafe { CudarcSlice::new(&x) };
        kernels.saxpy(&adopted, Launch::linear(3), 1.0, from, &mut mixed).unwrap();
        assert_eq!(mixed.download().unwrap(), [1.0, 2.0, 3.0]);
        let none = x.slice(..0);
        // SAFETY: as above.
        let (from, to) = unsafe { (CudarcSlice::new(&none), CudarcSlice::new(&mut y)) };
        kernels.saxpy(&adopted, Launch::linear(3), 1.0, from, to).unwrap();
        let panic = adopted.synchronize().unwrap_err();
        // Which of the threads is first is up to the device.
        assert!(panic.to_string().contains("the len is 0 but the index is "), "{panic}");
    }
    kernels_and_stream_of_two_contexts(device, &context);
    let cpu = Device::cpu().unwrap();
    let kernels = Kernels::load(device);
    let (x, mut y) = (cpu.zeros::<f32>(1).unwrap(), cpu.zeros::<f32>(1).unwrap());
    // SAFETY: nobody captures the stream.
    let stream = unsafe { device.adopt_stream(stream).unwrap() };
    let error = kernels.saxpy(&stream, Launch::linear(1), 1.0, &x, &mut y).unwrap_err();
    assert!(matches!(error, Error::WrongDevice { .. }), "{error}");
}

/// Both are of one context of the driver: the panic is reported where the stream is waited for.
fn kernels_and_stream_of_two_contexts(device: &Device, context: &Arc<CudaContext>) {
    let other = Device::from_cuda_context(context).unwrap();
    assert_ne!(*device, other);
    let stream = other.new_stream().unwrap();
    let kernels = Kernels::load(device);
    let (x, mut y) = (device.zeros::<f32>(8).unwrap(), other.zeros::<f32>(8).unwrap());
    kernels.saxpy(&stream, Launch::grid([1], [8]), 1.0, &x.slice(..7), &mut y).unwrap();
    let panic = stream.synchronize().unwrap_err().to_string();
    assert!(panic.contains("the len is 7 but the index is 7"), "{panic}");
    other.synchronize().unwrap();
    device.synchronize().unwrap();
}

#[test]
fn what_cannot_be_loaded_is_named() {
    let Some(device) = gpu("what_cannot_be_loaded_is_named") else { return };
    let error = cg::Loaded::new(&device, &BROKEN).unwrap_err().to_string();
    assert!(
        error.starts_with("cuModuleLoadDataEx failed for kernels/saxpy.rs for comp"),
        "{error}"
    );
    // A source for the CPU alone keeps nobody from the kernels of others.
    let kernels = AllKernels::load(&device).unwrap();
    let mut out = device.zeros::<u64>(1).unwrap();
    let launch = Launch::grid([1, 1], [1, 1]);
    let error = kernels.fill(&device.stream(), launch, Params::default(), &mut out).unwrap_err();
    let error = error.to_string();
    assert!(error.contains("fill") && error.contains("cpu"), "{error}");
}

#[test]
fn limits_are_those_of_the_device() {
    let Some(device) = gpu("limits_are_those_of_the_device") else { return };
    let kernels = Kernels::load(&device);
    let x = device.zeros::<f32>(1).unwrap();
    let mut y = device.zeros::<f32>(1).unwrap();
    let large = Launch::linear(1).shared_bytes(device.limits().shared_bytes as usize + 1);
    let error = kernels.saxpy(&device.stream(), large, 1.0, &x, &mut y).unwrap_err();
    assert!(matches!(error, Error::Limit { quantity: "bytes of shared memory", .. }), "{error}");
    let most = Launch::linear(1).shared_bytes(device.limits().shared_bytes as usize);
    kernels.saxpy(&device.stream(), most, 1.0, &x, &mut y).unwrap();
    let empty = device.upload::<f32>(&[]).unwrap();
    assert_eq!(empty.download().unwrap(), []);
}
