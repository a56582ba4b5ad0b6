//! Code objects that differ in a number, which each adds to the first element of a buffer. They are what the cache of modules
//! takes for different kernels.

use kernelmill::{__codegen as cg, Buffer, Device, Launch, Result, artifact::FORMAT_VERSION};

use crate::{Kernels, register};

/// The kernel whose code objects are copied, and whose signature the copies have.
const KERNEL: &str = "saxpy";

/// A byte of an ELF file's header that says nothing: that of a code object has its number.
pub const PADDING: usize = 15;

/// A code object with a kernel that adds its number.
#[derive(Clone, Copy, Debug)]
pub struct Copy(&'static cg::KernelSet);

/// The function that the fake HIP run time runs for a code object: it adds a multiple of the number.
unsafe extern "C" fn add<const NUMBER: u8>(arguments: *const *const u8, _: *mut cg::abi::Block) {
    // SAFETY: the arguments are those of `saxpy`, and `y` has an element.
    unsafe {
        let y = (*arguments.add(3)).cast::<usize>().read();
        let times = (*arguments).cast::<f32>().read();
        *std::ptr::with_exposed_provenance_mut::<f32>(y) += times * f32::from(NUMBER);
    }
}

const fn on_cpu<const NUMBER: u8>() -> cg::CpuKernel {
    cg::CpuKernel {
        version: FORMAT_VERSION,
        strategy: cg::abi::STRATEGY_LOOP,
        static_shared_bytes: 0,
        frame_bytes: 0,
        frame_align: 1,
        blocks_along_y: 0,
        joins_blocks: 0,
        reserved: 0,
        run: [Some(add::<NUMBER>), None, None],
        start: None,
        resume: None,
    }
}

macro_rules! numbered {
    ($($number:literal)*) => {
        [$(on_cpu::<$number>()),*]
    };
}

/// By number, from 1.
static ON_CPU: [cg::CpuKernel; 70] = numbered!(
    1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35
    36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 69 70
);

/// The code objects that add the numbers from 1 on, which the fake HIP run time knows then.
///
/// # Panics
///
/// As [`register`], and for more than 70.
#[must_use]
pub fn copies(count: usize) -> Vec<Copy> {
    let copies: Vec<_> = (1..=count).map(Copy::new).collect();
    copies.iter().for_each(|copy| register(copy.0.artifacts, copy.0.signatures));
    copies
}

impl Copy {
    fn new(number: usize) -> Self {
        let is_kernel = |it: &&cg::EmbeddedKernel| it.entry == KERNEL;
        let of_kernel = |it: &&cg::EmbeddedArtifact| it.kernels.iter().any(|it| is_kernel(&it));
        let mut artifacts = Vec::new();
        for original in Kernels::embedded().iter().filter(of_kernel) {
            let kernel = original.kernels.iter().find(is_kernel).expect("it was found");
            let (bytes, kernels): (Vec<u8>, _) = match original.kind {
                cg::ArtifactKind::CodeObject => {
                    let mut bytes = original.bytes.to_vec();
                    bytes[PADDING] = number as u8;
                    (bytes, std::slice::from_ref(kernel))
                }
                _ => {
                    // SAFETY: nobody writes the static.
                    let entry = unsafe { cg::CpuEntry::new(&raw const ON_CPU[number - 1]) };
                    let none = cg::Resources::UNKNOWN;
                    let kernel = cg::EmbeddedKernel {
                        cpu: Some(entry),
                        ..cg::EmbeddedKernel::loaded(kernel.signature, KERNEL, 0, false, none)
                    };
                    (Vec::new(), std::slice::from_ref(Box::leak(Box::new(kernel))))
                }
            };
            artifacts.push(cg::EmbeddedArtifact {
                fingerprint: format!("copy {number} for {}", original.target).leak(),
                bytes: bytes.leak(),
                kernels,
                ..*original
            });
        }
        Self(Box::leak(Box::new(cg::KernelSet {
            format_version: FORMAT_VERSION,
            package: "hip-backend",
            signatures: Kernels::signatures(),
            functions: &[],
            variables: &[],
            tuned: &[],
            artifacts: artifacts.leak(),
        })))
    }

    /// Loads the code object and adds its number to the first element of a buffer.
    ///
    /// # Errors
    ///
    /// What loading and launching report.
    pub fn add(self, device: &Device, x: &Buffer<f32>, sum: &mut Buffer<f32>) -> Result<()> {
        let kernels = cg::Loaded::new(device, self.0)?;
        let signature = self.0.artifacts[0].kernels[0].signature;
        let arguments = (cg::Value(1.0_f32), cg::read_slice(x), cg::write_slice(sum));
        let launch = Launch::grid([1], [1]);
        // SAFETY: these are the arguments of the kernel.
        unsafe { cg::launch_with(&kernels, signature, &device.stream(), launch, arguments) }
    }
}
