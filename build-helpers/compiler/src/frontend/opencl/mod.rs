//! The front end for OpenCL C: clang compiles a `.cl` file once, for NVIDIA's virtual machine, to bitcode
//! that is not optimised. kernelmill's headers define the [built-in functions][c] over the operations
//! that kernels in Rust use. clang only declares the other ones, and their use is reported with its line.
//!
//! The result is what the front end for CUDA C++ gives, with two differences. Pointers name their
//! [address space][c], which `flatten` removes. `shims` lists the parameters that cross in another
//! form than clang takes them in.
//!
//! [c]: https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_C.html

mod arguments;
mod flatten;
mod lower;
mod program;
mod selects;
pub(crate) mod shims;
mod spirv;
mod text;

pub(crate) use lower::{lower, required_block};
pub use program::{ProgramCompiler, spirv_artifact};
pub(crate) use spirv::repair;
