//! Launches of an empty kernel on a CUDA device, which may be the fake driver: by wrapper, prepared, and by
//! `cuLaunchKernel` alone, each with a number and two slices.

use std::{ffi::c_void, hint::black_box};

use cudarc::driver::{
    CudaContext,
    result::{launch_kernel, module},
};
use kernelmill::{__codegen as cg, Buffer, Device, Launch, Result, Stream};

use super::measure;

const PTX: &str = ".version 6.3\n.target sm_75\n.address_size 64\n\
    .visible .entry empty(.param .f32 a, .param .u64 x, .param .u64 n, .param .u64 y, .param .u64 m)\n\
    {\n\tret;\n}\n\
    .visible .entry panics(.param .f32 a, .param .u64 x, .param .u64 n, .param .u64 y, .param .u64 m, .param .u64 record)\n\
    {\n\tret;\n}\n\0";

/// The index of the kernel that cannot panic, and of that which has a record for panics.
const KERNELS: [usize; 2] = [0, 1];

static SET: cg::KernelSet = cg::KernelSet {
    format_version: kernelmill_artifact::FORMAT_VERSION,
    package: "launch",
    signatures: &[cg::Signature::borrowed("empty", &[]), cg::Signature::borrowed("panics", &[])],
    functions: &[],
    variables: &[],
    tuned: &[],
    artifacts: &[cg::EmbeddedArtifact {
        fingerprint: "bench on a driver",
        target: "compute_75",
        kind: cg::ArtifactKind::Ptx,
        source: "launch.rs",
        bytes: PTX.as_bytes(),
        kernels: &[
            cg::EmbeddedKernel::loaded(KERNELS[0], "empty", 0, false, cg::Resources::UNKNOWN),
            cg::EmbeddedKernel::loaded(KERNELS[1], "panics", 0, true, cg::Resources::UNKNOWN),
        ],
        locations: &[],
        backtraces: &[],
        messages: &[],
        relocations: &[],
        variables: &[],
    }],
};

const LAUNCHES: u32 = 20_000;

/// What is measured: its name where launches are counted, and in the table.
const ROWS: [(&str, &str); 5] = [
    ("wrapper", "an empty kernel by wrapper"),
    ("prepared", "the same, prepared"),
    ("wrapper-panics", "one that could panic, by wrapper"),
    ("prepared-panics", "the same, prepared"),
    ("bare", "the first, cuLaunchKernel alone"),
];

/// The time of each; nothing where there is no device.
pub(super) fn measure_driver() -> Result<()> {
    let Ok(device) = Device::cuda(0) else { return Ok(()) };
    println!("{device}");
    for (name, what) in ROWS {
        with(&device, name, |launch| {
            let (time, allocations) = measure(LAUNCHES, launch);
            println!("  {what:44} {time:9.1} ns, {allocations:.3} allocations a launch");
        })?;
        device.synchronize()?;
    }
    Ok(())
}

/// Makes so many launches, for tools that count instructions: the difference between two numbers of launches is theirs.
pub(super) fn count(name: &str, launches: u32) -> Result<()> {
    let device = Device::cuda(0)?;
    with(&device, name, |launch| (0..launches).for_each(|_| launch()))?;
    device.synchronize()
}

/// Gives `work` what makes one launch.
fn with(device: &Device, name: &str, work: impl FnOnce(&mut dyn FnMut())) -> Result<()> {
    let launches = Launches {
        loaded: cg::Loaded::new(device, &SET)?,
        stream: device.stream(),
        x: device.zeros(10)?,
    };
    let mut y = device.zeros(10)?;
    match name {
        "wrapper" => work(&mut || launches.wrapper(KERNELS[0], &mut y)),
        "wrapper-panics" => work(&mut || launches.wrapper(KERNELS[1], &mut y)),
        "prepared" => launches.prepared(KERNELS[0], &mut y, work)?,
        "prepared-panics" => launches.prepared(KERNELS[1], &mut y, work)?,
        "bare" => bare(work),
        _ => panic!("{name} is none of {ROWS:?}"),
    }
    Ok(())
}

struct Launches {
    loaded: cg::Loaded,
    stream: Stream,
    x: Buffer<f32>,
}

/// One block.
fn shape() -> Launch<1> {
    black_box(Launch::grid([1], [32]))
}

impl Launches {
    /// As a generated wrapper.
    fn wrapper(&self, kernel: usize, y: &mut Buffer<f32>) {
        let arguments = (cg::Value(1.0f32), cg::read_slice(&self.x), cg::write_slice(y));
        // SAFETY: the kernel takes no notice of its arguments.
        unsafe { cg::launch_with(&self.loaded, kernel, &self.stream, shape(), arguments) }
            .expect("it runs");
    }

    fn prepared(
        &self,
        kernel: usize,
        y: &mut Buffer<f32>,
        work: impl FnOnce(&mut dyn FnMut()),
    ) -> Result<()> {
        // SAFETY: as above, and the buffers are borrowed for the launch.
        let mut prepared = unsafe {
            cg::prepare(self.loaded.device(), |stream| {
                let arguments = (cg::Value(1.0f32), cg::read_slice(&self.x), cg::write_slice(y));
                cg::launch_with(&self.loaded, kernel, stream, shape(), arguments)
            })?
        };
        work(&mut || prepared.launch(&self.stream).expect("it runs"));
        Ok(())
    }
}

/// `cuLaunchKernel`.
fn bare(work: impl FnOnce(&mut dyn FnMut())) {
    let context = CudaContext::new(0).expect("the device is there");
    let stream = context.default_stream();
    // SAFETY: text that ends with a zero, in the context that was made current; the module is never unloaded.
    let function = unsafe {
        let loaded = module::load_data(PTX.as_ptr().cast()).expect("the driver reads it");
        module::get_function(loaded, c"empty".to_owned()).expect("it is there")
    };
    let (a, words) = (1.0f32, [0_u64; 4]);
    let mut arguments: [*mut c_void; 5] = std::array::from_fn(|at| match at {
        0 => (&raw const a).cast_mut().cast(),
        at => (&raw const words[at - 1]).cast_mut().cast(),
    });
    work(&mut || {
        // SAFETY: the function takes these arguments, and takes no notice of them.
        let launched = unsafe {
            let (grid, block) = ((1, 1, 1), (32, 1, 1));
            launch_kernel(function, grid, block, 0, stream.cu_stream(), &mut arguments)
        };
        launched.expect("it runs");
    });
}
