//! clang's front end for CUDA C++ and HIP: a `.cu` file is compiled once, for NVIDIA's virtual machine, to bitcode
//! that is not optimised, against kernelmill's headers instead of the CUDA toolkit's. What a kernel asks
//! of the device is in these headers a call of the same operations that kernels in Rust use, so
//! that the pipeline takes what `module::adapt` gives for every target.

mod annotation;
mod arguments;
mod function;
pub(crate) mod headers;
pub(crate) mod lower;
mod lowered;
mod macros;
pub(crate) mod module;
pub(crate) mod unsupported;

pub use lower::Clang;
pub(crate) use lower::lower;
pub use lowered::{CudaLowered, Scope, UnsupportedFeature};
pub use module::FULL_DEBUG;
