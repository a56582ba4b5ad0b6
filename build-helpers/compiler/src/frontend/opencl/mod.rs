//! The front end for OpenCL C: clang compiles a `.cl` file once, for NVIDIA's virtual machine, to bitcode
//! that is not optimised. kernelmill's headers define the [built-in functions][c] over the operations
//! that kernels in Rust use; clang only declares the others, and their use is reported with its line.
//!
//! The result is what the front end for CUDA C++ gives, with two differences. Pointers name their
//! [address space][c], which [`flatten`] removes. A `__local` parameter is a part of dynamic shared
//! memory: the kernel takes its number of elements ([`local`]).
//!
//! [c]: https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_C.html

mod flatten;
mod local;
mod lower;

pub(crate) use lower::lower;
