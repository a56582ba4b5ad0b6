//! The front end for LLVM's intermediate representation: a `.ll` or `.bc` file that another compiler wrote.
//!
//! A module may be made for NVIDIA (`nvptx64`), AMD (`amdgcn`), OpenCL (`spir64`, `spirv64`), a host, or nothing. `text`
//! brings it to what clang gives for CUDA C++: one address space, and the calling convention `ptx_kernel` for
//! kernels, which `entries` finds. `operations` replaces what each vendor has for indices and barriers by the
//! operations that kernels in Rust use, so that the result is for every target. What has no counterpart keeps
//! a kernel from the other vendors' targets.
//!
//! The types of parameters are declared in the settings, or read from debug information. `parameters` compares a
//! declaration with the module.
//!
//! [Language reference](https://llvm.org/docs/LangRef.html).

mod checks;
mod entries;
mod lower;
mod operations;
mod origin;
mod parameters;
mod retained;
mod source;
mod text;

pub(crate) use lower::lower;
pub use source::{DeclaredKernel, IrSource};
