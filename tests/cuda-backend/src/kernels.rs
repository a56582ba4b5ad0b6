//! A kernel that computes `y[i] += a * x[i]`, and panics where `x` is too short.

use kernelmill::{__codegen as cg, Device, Launch, LaunchStream, ReadSlice, Result, WriteSlice};

static SET: cg::KernelSet = cg::KernelSet {
    format_version: 2,
    package: "cuda-backend",
    signatures: &[cg::Signature::borrowed("saxpy", &[])],
    functions: &[],
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
            cpu: None,
        }],
        locations: &[cg::SourceLocation { file: "kernels/saxpy.rs", line: 6, column: 5 }],
        backtraces: &[],
        messages: &[],
    }],
};

/// The kernel, loaded on a device.
#[derive(Debug)]
pub struct Kernels(cg::Loaded);

impl Kernels {
    /// Loads the kernel.
    ///
    /// # Errors
    ///
    /// What the driver reports.
    pub fn load(device: &Device) -> Result<Self> {
        cg::Loaded::new(device, &SET).map(Self)
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
