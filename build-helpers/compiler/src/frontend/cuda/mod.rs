//! Kernels in CUDA C++, as they are.
//!
//! Two roads lead from a `.cu` file to a device. NVIDIA's own compiler, nvcc, makes PTX and cubins
//! by itself; clang makes bitcode with the operations of `kernelmill_device` in it, which takes the
//! same road as a kernel in Rust, to every target. In both cases the kernels' signatures are read
//! from debug information in compiled code, never from the text.

mod binary;
pub mod clang;
mod dependencies;
mod host;
mod message;
mod nvcc;
pub mod signature;
mod source;
mod stored;

pub use crate::diagnostic::{Message, MessageSeverity};
pub use binary::is_same_symbol;
pub use host::HostOptions;
pub use nvcc::{Nvcc, Reading, Trace};
pub use source::{CudaKernel, CudaSource};
pub(crate) use stored::{device_function, read_device_function};
