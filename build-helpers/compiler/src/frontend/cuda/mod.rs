//! Kernels in CUDA C++, as they are.
//!
//! Two compilers take a `.cu` file. NVIDIA's own, nvcc, makes PTX and cubins by itself. clang makes
//! bitcode that calls the operations of `kernelmill_device`, which the pipeline compiles like that of a
//! kernel in Rust, for every target. In both cases the kernels' signatures are read from debug
//! information in compiled code, never from the text.

mod binary;
pub mod clang;
pub(crate) mod dependencies;
mod host;
pub(crate) mod instances;
pub(crate) mod message;
mod nvcc;
mod nvcc_arguments;
mod nvcc_overrides;
mod nvcc_version;
pub(crate) mod ptx_grid;
pub(crate) mod ptx_shared;
pub mod signature;
mod source;
mod stored;

pub use crate::diagnostic::{Message, MessageSeverity};
pub use binary::is_same_symbol;
pub use host::HostOptions;
pub use nvcc::{Nvcc, Reading, Trace};
pub use nvcc_overrides::{KernelOverrideCode, KernelOverrideFile};
pub use source::{CudaKernel, CudaSource, TemplateInstance, UnsupportedParameter};
pub(crate) use stored::{device_function, read_device_function};
