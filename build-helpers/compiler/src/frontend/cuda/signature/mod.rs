//! Signatures of kernels from the debug information in their compiled code.
//!
//! Debug information says what a kernel's parameters are in C++, whatever macros, templates and
//! headers they come from; the compiled code says which functions are kernels, how many bytes a
//! parameter takes and what blocks a kernel is made for. nvcc and clang differ in what they write:
//!
//! - nvcc writes DWARF 2, with the names of types and without their namespaces, and says no
//!   alignment. It names every field, and neither constructors nor what an `enum` is made of.
//! - clang writes namespaces, alignments, methods and underlying types.
//!
//! What is read here is the same from both.
//!
//! | in C++ | on the host |
//! | --- | --- |
//! | `bool`, integers, `float`, `double` | the Rust scalar of that size |
//! | `size_t`, `ptrdiff_t` | `usize`, `isize`, where the function names them so |
//! | `half`, `__nv_bfloat16` | `half::f16`, `half::bf16` |
//! | `const T*`, `T*` | elements that are read, elements that are written |
//! | `void*` | elements that are bytes |
//! | a pointer behind a pointer or in a struct | `u64`, a device address |
//! | `kernelmill::DeviceFn<float(float)>` | `DeviceFn<fn(f32) -> f32>` |
//! | a struct of such values, `float4` and its kin | a `#[repr(C)]` struct with the same fields |
//! | an `enum` | a struct around its integer, with a constant for each value |
//!
//! Variables in constant and global memory are read in the same way, for the host to set.
//!
//! References, unions, bit fields, classes with virtual functions, by value those with copy constructors or destructors, and
//! structs that are only declared are unsupported; the other kernels of the file are not affected.
//!
//! Without the feature `cuda-cpp` nothing is read, and [`SignatureError::NoReader`] says so.

#[cfg(feature = "cuda-cpp")]
mod classes;
#[cfg(feature = "cuda-cpp")]
mod debug;
#[cfg(feature = "cuda-cpp")]
mod enums;
#[cfg(feature = "cuda-cpp")]
mod found;
#[cfg(feature = "cuda-cpp")]
mod layout;
mod named;
mod names;
#[cfg(feature = "cuda-cpp")]
mod ptx;
#[cfg(feature = "cuda-cpp")]
mod read;
#[cfg(not(feature = "cuda-cpp"))]
#[path = "not_read.rs"]
mod read;
#[cfg(feature = "cuda-cpp")]
mod reader;
mod resolve;
mod slots;
mod templates;
#[cfg(feature = "cuda-cpp")]
mod types;
mod variables;
#[cfg_attr(not(feature = "cuda-cpp"), expect(dead_code, reason = "nothing is read"))]
mod written;

pub use crate::diagnostic::SignatureError;
pub(crate) use named::wrapper_name;
pub use named::{full_name, is_named};
pub(crate) use read::read_entries;
pub use read::{read, read_functions, read_variables, read_with_classes};
pub use resolve::{Clash, is_same_kernel, resolve_names};
pub use templates::{generic_kernel, is_instance_of, template_name};
pub(crate) use variables::{is_of_template as is_variable_of_template, symbol as variable_symbol};
