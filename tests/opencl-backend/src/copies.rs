//! Programs that differ in a number, which each adds to the elements of a buffer. They are what the cache of modules takes
//! for different kernels.

use kernelmill::{__codegen as cg, Buffer, Device, Launch, Result};

use crate::Kernels;

/// The name of the kernel in each of them. It is a kernel of this package, whose signature they have.
const KERNEL: &str = "add";

/// A program with the kernel that adds its number.
#[derive(Clone, Copy, Debug)]
pub struct Copy(&'static cg::KernelSet);

impl Copy {
    /// The program that adds this number.
    ///
    /// # Panics
    ///
    /// Where this package has no such kernel in OpenCL C.
    #[must_use]
    pub fn new(number: usize) -> Self {
        let text = format!(
            "kernel void {KERNEL}(global uint *values, uint times) {{\n\
             \x20 values[get_global_id(0)] += times * {number}u;\n}}\n"
        );
        let of_kernel = |it: &&cg::EmbeddedArtifact| {
            it.target == "opencl-c" && it.kernels.iter().any(|it| it.entry == KERNEL)
        };
        let original = Kernels::embedded().iter().find(of_kernel).expect("it is built for OpenCL");
        let artifact = cg::EmbeddedArtifact {
            fingerprint: format!("copy {number}").leak(),
            bytes: text.leak().as_bytes(),
            kernels: original
                .kernels
                .iter()
                .find(|it| it.entry == KERNEL)
                .map_or(&[], |kernel| std::slice::from_ref(kernel)),
            ..*original
        };
        Self(Box::leak(Box::new(cg::KernelSet {
            format_version: kernelmill::artifact::FORMAT_VERSION,
            package: "opencl-backend",
            signatures: Kernels::signatures(),
            functions: &[],
            variables: &[],
            tuned: &[],
            artifacts: Box::leak(Box::new([artifact])),
        })))
    }

    /// Loads the program and adds its number to the one element of a buffer.
    ///
    /// # Errors
    ///
    /// What loading and launching report.
    pub fn add(self, device: &Device, sum: &mut Buffer<u32>) -> Result<()> {
        let kernels = cg::Loaded::new(device, self.0)?;
        let signature = self.0.artifacts[0].kernels[0].signature;
        let arguments = (cg::write_pointer(sum), cg::Value(1_u32));
        let launch = Launch::grid([1], [1]);
        // SAFETY: these are the arguments of the kernel, and there is an element for its one work-item.
        unsafe { cg::launch_with(&kernels, signature, &device.stream(), launch, arguments) }
    }
}
