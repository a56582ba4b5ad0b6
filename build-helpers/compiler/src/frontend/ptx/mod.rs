//! Kernels in PTX, written by hand or by another compiler. The text stays as it is: for PTX targets it is embedded, and
//! for cubins ptxas assembles it. What a kernel takes is declared in the settings, or known from its `.param`s
//! ([PTX ISA, "Kernel and Function Directives"][isa]).
//!
//! [isa]: https://docs.nvidia.com/cuda/parallel-thread-execution/#kernel-and-function-directives

mod assemble;
mod header;
mod kernels;
mod parameters;
mod source;

pub use header::Header;
pub use kernels::kernels;
pub use source::PtxSource;

pub(crate) use assemble::compile;
