//! Compilation at run time, where the program asks for it: CUDA C++ by NVRTC, PTX by the driver, and, with the feature
//! `jit-llvm`, kernels in Rust by LLVM.
//!
//! Kernels that a build compiles need nothing of this. It is for what is not known before: a block size or a constant
//! that the user chooses, an instance of a template, text that the program writes itself. Follows nvFuser's `RtcKernel`
//! and `KernelDb` ([Fuser #3468][fuser]): what was compiled is a value apart from its launches, made once by whoever
//! asks first, and kept on disk under a key of all that went into it.
//!
//! ```no_run
//! use kernelmill::{Device, Launch, jit};
//!
//! let device = Device::cuda(0)?;
//! let source = jit::Source::cuda(
//!     "scale.cu",
//!     r#"extern "C" __global__ void scale(float a, float *x, unsigned n) {
//!         unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
//!         if (i < n) x[i] = FACTOR * a * x[i];
//!     }"#,
//! );
//! let database = jit::Database::of_user()?;
//! let program = jit::Compiler::new().define("FACTOR", "2.0f").database(&database).compile(&device, &source)?;
//! let scale = program.kernel("scale")?;
//! let mut x = device.upload(&[1.0_f32; 1000])?;
//! let arguments = (jit::value(3.0_f32), jit::write(&mut x), jit::value(1000_u32));
//! // SAFETY: these are the parameters of `scale`, which writes `n` elements at most.
//! unsafe { scale.launch(&device.stream(), Launch::linear(1000), arguments)? };
//! assert_eq!(x.download()?, [6.0; 1000]);
//! # Ok::<(), kernelmill::Error>(())
//! ```
//!
//! [fuser]: https://github.com/NVIDIA/Fuser/pull/3468

mod compiler;
mod database;
mod dumps;
mod kernel;
mod overrides;
mod program;
#[cfg(feature = "jit-llvm")]
mod rust;
mod source;

pub use compiler::{Compiler, Output};
pub use database::Database;
pub use kernel::{Arguments, Kernel, read, value, write};
pub use program::{Origin, Program, programs_in_memory};
#[cfg(feature = "jit-llvm")]
pub use rust::{ConstantValue, RustCompiler};
pub use source::Source;

/// The examples of the book's page.
#[cfg(doctest)]
#[doc = include_str!("../../docs/src/guide/run-time-compilation.md")]
pub struct Guide;
