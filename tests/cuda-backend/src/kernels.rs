//! A kernel that computes `y[i] += a * x[i]`, and panics where `x` is too short.

use kernelmill::{
    __codegen as cg, CompiledKernel, Device, Launch, LaunchStream, PreparedLaunch, ReadSlice,
    Result, WriteSlice,
};
use kernelmill_artifact::FORMAT_VERSION;

static SET: cg::KernelSet = cg::KernelSet {
    format_version: FORMAT_VERSION,
    package: "cuda-backend",
    signatures: &[cg::Signature::borrowed("saxpy", &[])],
    functions: &[],
    variables: &[],
    tuned: &[],
    artifacts: &[cg::EmbeddedArtifact {
        fingerprint: "cuda-backend",
        target: "compute_75",
        kind: cg::ArtifactKind::Ptx,
        source: "kernels/saxpy.rs",
        bytes: include_bytes!(
            "../../../build-helpers/build-script/src/outputs/bindings/snapshots/saxpy.ptx"
        ),
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
    }],
};

/// The kernel, loaded on a device.
#[derive(Debug)]
pub struct Kernels(cg::Loaded);

/// The same kernel in a binary of its own, for the CUDA devices and the processor.
#[must_use]
pub fn copy(number: usize) -> &'static cg::KernelSet {
    copy_with(number, "")
}

/// The kernel in one binary, for this target.
#[must_use]
pub fn copy_for(target: &'static str) -> &'static cg::KernelSet {
    let kernels = SET.artifacts[0].kernels;
    let artifact =
        cg::EmbeddedArtifact { fingerprint: target, target, kernels, ..SET.artifacts[0] };
    Box::leak(Box::new(cg::KernelSet { artifacts: Box::leak(Box::new([artifact])), ..SET }))
}

/// As [`copy`], with something more behind its PTX.
#[must_use]
pub fn copy_with(number: usize, more: &str) -> &'static cg::KernelSet {
    let kernels = |cpu| -> &'static [cg::EmbeddedKernel] {
        Box::leak(Box::new([cg::EmbeddedKernel {
            cpu,
            ..cg::EmbeddedKernel::loaded(0, "saxpy", 0, cpu.is_none(), cg::Resources::UNKNOWN)
        }]))
    };
    // SAFETY: nobody writes the constant.
    let on_cpu = unsafe { cg::CpuEntry::new(&raw const ON_CPU) };
    let artifact = |target, kind, bytes, cpu| cg::EmbeddedArtifact {
        fingerprint: format!("copy {number} for {target}").leak(),
        target,
        kind,
        bytes,
        kernels: kernels(cpu),
        ..SET.artifacts[0]
    };
    let text: &'static [u8] = [SET.artifacts[0].bytes, more.as_bytes()].concat().leak();
    let ptx = artifact("compute_75", cg::ArtifactKind::Ptx, text, None);
    let cpu = artifact("cpu", cg::ArtifactKind::Object, &[], Some(on_cpu));
    Box::leak(Box::new(cg::KernelSet { artifacts: Box::leak(Box::new([ptx, cpu])), ..SET }))
}

static ON_CPU: cg::CpuKernel = cg::CpuKernel {
    version: FORMAT_VERSION,
    strategy: cg::abi::STRATEGY_LOOP,
    static_shared_bytes: 0,
    frame_bytes: 0,
    frame_align: 1,
    blocks_along_y: 0,
    joins_blocks: 0,
    reserved: 0,
    run: [Some(first_element), None, None],
    start: None,
    resume: None,
};

/// `y[0] += a * x[0]`, in each block.
unsafe extern "C" fn first_element(arguments: *const *const u8, _block: *mut cg::abi::Block) {
    // SAFETY: the arguments are those of `saxpy`, and the buffers have elements.
    unsafe {
        let address = |index: usize| {
            std::ptr::with_exposed_provenance_mut::<f32>(
                (*arguments.add(index)).cast::<usize>().read(),
            )
        };
        *address(3) += (*arguments).cast::<f32>().read() * *address(1);
    }
}

impl Kernels {
    /// Loads a copy of the kernel.
    ///
    /// # Errors
    ///
    /// What the driver reports.
    pub fn load_copy(device: &Device, copy: &'static cg::KernelSet) -> Result<Self> {
        cg::Loaded::new(device, copy).map(Self)
    }

    /// Loads the kernel.
    ///
    /// # Errors
    ///
    /// What the driver reports.
    pub fn load(device: &Device) -> Result<Self> {
        cg::Loaded::new(device, &SET).map(Self)
    }

    /// The kernel apart from its launches.
    ///
    /// # Errors
    ///
    /// None: it is compiled for these devices.
    pub fn compiled(&self) -> Result<CompiledKernel> {
        self.0.compiled(0)
    }

    /// Prepares a launch of [`Kernels::saxpy`].
    ///
    /// # Errors
    ///
    /// As [`Kernels::saxpy`].
    pub fn prepare<'a>(
        &self,
        launch: Launch<1>,
        a: f32,
        x: impl ReadSlice<f32> + 'a,
        y: impl WriteSlice<f32> + 'a,
    ) -> Result<PreparedLaunch<'a>> {
        // SAFETY: what the launch uses is borrowed for `'a`.
        unsafe { cg::prepare(self.0.device(), |stream| self.saxpy(stream, launch, a, x, y)) }
    }

    /// Adds `a * x` to `y`, an element in each thread; panics where `x` is shorter than `y`.
    ///
    /// # Errors
    ///
    /// What a launch reports.
    pub fn saxpy(
        &self,
        stream: &impl LaunchStream,
        launch: Launch<1>,
        a: f32,
        x: impl ReadSlice<f32>,
        y: impl WriteSlice<f32>,
    ) -> Result<()> {
        let arguments = (cg::Value(a), cg::read_slice(x), cg::write_slice(y));
        // SAFETY: these are the arguments of the kernel in `saxpy.ptx`.
        unsafe { cg::launch_with(&self.0, 0, stream, launch, arguments) }
    }
}
